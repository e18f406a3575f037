// Joining a motion in its middle: what an uninterrupted run would know there is rebuilt from the state and from which
// conditions are closed.
#include "src/expression/scaled.h"
#include "src/laws/project.h"
#include "src/reference/motion.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"

namespace zwang {

Trajectory Motion::resume(const State& state, const std::vector<double>& closed) {
  return integrate(rejoin(state, closed));
}

bool Motion::rejoin(const State& state, const std::vector<double>& closed) {
  if (!set_initial_state(state)) return false;
  skip_scheduled_events();

  // Closed is what the caller says, not what is near zero: a condition opened a moment ago has f = 0 too.
  std::vector<char> touching(conditions_.size(), 0);
  for (std::size_t i = 0; i < conditions_.size(); ++i)
    touching[i] = conditions_[i].standing == Standing::open && closed[i] > 0.5;
  bring_onto(touching);
  energy_start_ = equations_.energy(this->state());
  recall_watch_signs();

  // Who presses is decided anew, as after an event.
  return update_active_set(touching, no_condition) && open_record();
}

// Watched functions that are zero now have the side they came from; the others show theirs.
void Motion::recall_watch_signs() {
  const State now = state();
  for (std::size_t k = 0; k < plan_.sides.size(); ++k) {
    const Scaled value = equations_.evaluate_scaled(watches_[k], now, sizes_);
    if (std::abs(value.value) <= settings_.contact_tolerance * value.scale) watch_signs_[k] = plan_.sides[k];
  }
}

// What the clock named up to now has happened: only its lasting effects are taken over. Output times before now are past.
void Motion::skip_scheduled_events() {
  const double now = t_ + rounding_of_time();
  for (; next_scheduled_ < scheduled_.size() && scheduled_[next_scheduled_].t <= now; ++next_scheduled_) {
    const ScheduledEvent& done = scheduled_[next_scheduled_];
    if (done.kind == ScheduledEvent::Kind::lifted) conditions_[done.index] = {};
    if (done.kind == ScheduledEvent::Kind::imposed)
      conditions_[done.index].standing =
          equations_.system().constraints[done.index].equation ? Standing::equation : Standing::open;
  }
  while (next_output_ < plan_.outputs.size() && plan_.outputs[next_output_] < t_ - rounding_of_time())
    ++next_output_;
}

// Positions onto what holds and not beyond what is open; then velocities onto what holds. A position a rounding beyond
// an open condition would look like a contact already missed; its velocity is left alone, since it may be leaving.
void Motion::bring_onto(const std::vector<char>& touching) {
  State now = state();
  const State given = now;
  std::vector<std::size_t> held, not_beyond;
  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    const bool holds = conditions_[i].standing == Standing::equation || touching[i];
    const bool beyond = conditions_[i].standing == Standing::open &&
                        equations_.system().constraints[i].holonomic && equations_.value(i, now) > 0;
    if (holds) held.push_back(i);
    if (holds || beyond) not_beyond.push_back(i);
  }
  project(equations_, now, sizes_, not_beyond);
  now.v = given.v;
  const Residuals left = project(equations_, now, sizes_, held);
  y_.head(n()) = now.q;
  set_velocities(now.v);
  trajectory_.position_moved = (now.q - given.q).norm();
  trajectory_.velocity_moved = (now.v - given.v).norm();
  trajectory_.audit.position_violation = left.position;
  trajectory_.audit.velocity_violation = left.velocity;
}

}  // namespace zwang
