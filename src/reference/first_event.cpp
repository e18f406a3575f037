// Search for the first event of a step on the interpolant and on the true flow.
#include "src/reference/first_event.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "src/expression/evaluate.h"
#include "src/laws/least_constraint.h"
#include "src/reference/first_root.h"
#include "src/system/equations.h"

namespace zwang {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double same_root = 1e-6;  // distance of two estimates of one root, in fractions of the step
constexpr int location_limit = 20;

// An event function with a rise through zero on the interpolant.
struct Candidate {
  EventFunction event_function;
  Bracket bracket;
  double theta;  // root on the interpolant
};

struct Candidates {
  std::vector<Candidate> rising;          // by theta
  std::vector<EventFunction> undetected;  // no rise between the samples
};

class EventSearch {
 public:
  EventSearch(const MemberState& member, const MotionFormulas& formulas, const SmoothMotion& smooth,
              const SmoothStep& step)
      : member_(member), formulas_(formulas), smooth_(smooth), step_(step) {}

  std::optional<LocatedEvent> first_event() const;

 private:
  Candidates sample(const std::vector<EventFunction>& list) const;
  void add_simultaneous(const std::vector<Candidate>& candidates, LocatedEvent& first) const;
  void find_departure(LocatedEvent& found) const;
  std::optional<LocatedEvent> find_earlier(const EventFunction& event_function, double theta) const;
  std::optional<LocatedEvent> locate_event(const EventFunction& event_function, const Bracket& bracket,
                                           double theta) const;
  std::optional<LocatedEvent> bracket_on_flow(const EventFunction& event_function,
                                              const Bracket& bracket) const;

  // The function on the interpolant.
  Curve curve_of(const EventFunction& event_function) const {
    return [this, &event_function](double theta) {
      return event_value(member_, formulas_, event_function, smooth_.state_at(step_, theta), nullptr);
    };
  }
  // The function on the true flow, and the state there; NaN where the flow is not defined.
  double value_on_flow(const EventFunction& event_function, double theta, Eigen::VectorXd& y) const {
    PartialStep part = smooth_.flow(step_, theta);
    y = std::move(part.y);
    if (part.status != Status::ok) return std::nan("");
    return event_value(member_, formulas_, event_function, member_.state_of(step_.t + theta * step_.h, y),
                       nullptr);
  }

  const MemberState& member_;
  const MotionFormulas& formulas_;
  const SmoothMotion& smooth_;
  const SmoothStep& step_;
};

// Samples the interpolant once for all event functions; multipliers only where some condition is closed or a
// kink depends on them.
Candidates EventSearch::sample(const std::vector<EventFunction>& list) const {
  std::vector<State> states;
  std::vector<Eigen::VectorXd> multipliers;
  const bool forces = member_.reactions_bend ||
                      std::any_of(member_.conditions.begin(), member_.conditions.end(),
                                  [](const ConditionState& c) { return c.standing == Standing::closed; });
  for (const double theta : sample_fractions()) {
    states.push_back(smooth_.state_at(step_, theta));
    if (forces)
      multipliers.push_back(
          constrained_acceleration(member_.equations, states.back(), member_.active).multipliers);
  }
  Candidates found;
  for (const EventFunction& event_function : list) {
    std::vector<double> samples;
    for (std::size_t k = 0; k < states.size(); ++k)
      samples.push_back(
          event_value(member_, formulas_, event_function, states[k], forces ? &multipliers[k] : nullptr));
    const Curve curve = curve_of(event_function);
    if (const std::optional<Bracket> bracket = first_rise(samples, curve))
      found.rising.push_back({event_function, *bracket, root(*bracket, curve)});
    else
      found.undetected.push_back(event_function);
  }
  std::stable_sort(found.rising.begin(), found.rising.end(),
                   [](const Candidate& a, const Candidate& b) { return a.theta < b.theta; });
  return found;
}

std::optional<LocatedEvent> EventSearch::first_event() const {
  const std::vector<EventFunction> list = event_functions(member_, formulas_, smooth_, step_);
  if (list.empty()) return std::nullopt;
  const Candidates candidates = sample(list);

  // Earliest first; a candidate without a root on the true flow is dropped. One that turns out to be later
  // than estimated must not hide another before it: the motion would pass through an open condition.
  std::optional<LocatedEvent> first;
  for (const Candidate& candidate : candidates.rising) {
    if (first && !(candidate.theta < first->theta)) break;
    std::optional<LocatedEvent> found =
        locate_event(candidate.event_function, candidate.bracket, candidate.theta);
    if (found && found->status != Status::ok) return found;
    if (found && (!first || found->theta < first->theta)) first = std::move(found);
  }
  for (const EventFunction& event_function : candidates.undetected) {
    if (!first) break;
    std::optional<LocatedEvent> before = find_earlier(event_function, first->theta);
    if (before && before->status != Status::ok) return before;
    if (before && before->theta < first->theta) first = std::move(before);
  }
  if (first && first->status == Status::ok && first->event_function.kind == EventFunction::Kind::watch) {
    find_departure(*first);
    add_simultaneous(candidates.rising, *first);
  }
  return first;
}

// A watched function that rests at zero and leaves it within the step is found where it is clearly beyond zero for the
// whole step. What counts as zero up to that place is less: the search is repeated with that, else a velocity that
// leaves rest as the square of the time is found late by the root of its rounding.
void EventSearch::find_departure(LocatedEvent& found) const {
  const State start = member_.state_of(step_.t, step_.start);
  for (int pass = 0; pass < location_limit && found.event_function.level > 0; ++pass) {
    EventFunction nearer = found.event_function;
    const Program& program = formulas_.watches[nearer.index];
    nearer.level = nearer.zero = member_.settings.contact_tolerance *
                                 member_.scaled_watch(program, start, found.theta * step_.h).scale;
    if (!(nearer.level > 0 && nearer.level < 0.5 * found.event_function.level)) return;
    const Bracket bracket{0, found.theta};
    const std::optional<LocatedEvent> before = locate_event(nearer, bracket, root(bracket, curve_of(nearer)));
    if (!before || before->status != Status::ok || !(before->theta < found.theta)) return;
    found = *before;
  }
}

// Watched functions may cross together. Left to the next step they would start it at zero, as if they rested
// there.
void EventSearch::add_simultaneous(const std::vector<Candidate>& candidates, LocatedEvent& first) const {
  const State at_event = member_.state_of(step_.t + first.theta * step_.h, first.y);
  for (const Candidate& candidate : candidates) {
    const EventFunction& other = candidate.event_function;
    const bool another =
        other.kind == EventFunction::Kind::watch && other.index != first.event_function.index;
    if (another && other.level == 0 && std::abs(candidate.theta - first.theta) < same_root &&
        std::abs(event_value(member_, formulas_, other, at_event, nullptr)) <= other.zero)
      first.also.push_back(other.index);
  }
}

// A curve that rises and falls again between two samples, as at a jump of its slope, is not detected by
// sampling. An event found at `theta` may lie in between, a jump above all; a curve above zero there has
// crossed before.
std::optional<LocatedEvent> EventSearch::find_earlier(const EventFunction& event_function,
                                                      double theta) const {
  const Curve curve = curve_of(event_function);
  if (!(curve(theta) > event_function.zero) || !(curve(0) <= 0)) return std::nullopt;
  Bracket bracket{0, theta};
  for (const double fraction : sample_fractions())
    if (fraction < theta && curve(fraction) <= 0) bracket.below = fraction;
  return locate_event(event_function, bracket, root(bracket, curve));
}

// From the interpolant's root to the true flow's (requirement 1): Newton with the interpolant's slope, then
// secants. Two to four evaluations where the interpolant is accurate; where it is not, a bracket on the true
// flow itself.
std::optional<LocatedEvent> EventSearch::locate_event(const EventFunction& event_function,
                                                      const Bracket& bracket, double theta) const {
  LocatedEvent found{.event_function = event_function, .theta = theta, .y = {}};
  const auto value_at = [&](double x, Eigen::VectorXd& y) { return value_on_flow(event_function, x, y); };
  const Curve curve = curve_of(event_function);
  const double width = bracket.above - bracket.below;
  const double reach = std::min(1e-4, 0.5 * width + 1e-12);
  const double left = std::max(theta - reach, 0.0), right = std::min(theta + reach, 1.0);
  double slope = right > left ? (curve(right) - curve(left)) / (right - left) : 0;
  double value = value_at(theta, found.y);
  for (int i = 0; i < location_limit; ++i) {
    if (!(std::abs(value) > 1e-4 * event_function.zero) || !(slope > 0)) break;  // down to rounding
    const double next = std::clamp(found.theta - value / slope, 0.0, 1.0);
    if (std::abs(next - found.theta) <= epsilon * next) break;
    Eigen::VectorXd y;
    const double next_value = value_at(next, y);
    const double secant = (next_value - value) / (next - found.theta);
    if (secant > 0.1 * slope && secant < 10 * slope) slope = secant;
    if (!(std::abs(next_value) < std::abs(value))) break;  // rounding reached, or no root nearby
    found.theta = next;
    found.y = y;
    value = next_value;
  }
  const double resolution = slope * 8 * epsilon * std::max(1.0, std::abs(step_.t) / step_.h);
  const bool close = std::abs(found.theta - theta) <= 0.1 * width + 1e-6;
  if (close && std::abs(value) <= std::max(event_function.zero, resolution)) {
    // Near the step's start the interpolant is noise: the true flow must have crossed by the bracket's end.
    Eigen::VectorXd beyond;
    const double end = std::max(bracket.above, found.theta);
    if (end == found.theta || value_at(end, beyond) > 0) return found;
  }
  return bracket_on_flow(event_function, bracket);
}

// The interpolant was too inaccurate: its bracket is widened until the true flow changes sign in it, then
// bisected.
std::optional<LocatedEvent> EventSearch::bracket_on_flow(const EventFunction& event_function,
                                                         const Bracket& bracket) const {
  LocatedEvent found{.event_function = event_function, .theta = bracket.above, .y = {}};
  const auto value_at = [&](double x, Eigen::VectorXd& y) { return value_on_flow(event_function, x, y); };
  Eigen::VectorXd y;
  double a = bracket.below;
  for (double stride = bracket.above - bracket.below; a > 0 && value_at(a, y) > 0; stride *= 2)
    a = std::max(0.0, a - stride);
  double& b = found.theta;
  double value = value_at(b, found.y);
  if (value <= 0 && b < 1) {
    b = 1;
    value = value_at(b, found.y);
  }
  if (value <= 0) return std::nullopt;  // the interpolant crossed, the motion does not
  if (std::isnan(value)) {
    found.status = Status::event_lost;
    return found;
  }
  for (int i = 0; i < 100 && b - a > 2 * epsilon * b; ++i) {
    const double middle = (a + b) / 2;
    const double middle_value = value_at(middle, y);
    if (middle_value > 0) {
      b = middle;
      found.y = y;
      if (middle_value <= 1e-4 * event_function.zero) break;
    } else {
      a = middle;
    }
  }
  return found;
}

}  // namespace

std::optional<LocatedEvent> first_event(const MemberState& member, const MotionFormulas& formulas,
                                        const SmoothMotion& smooth, const SmoothStep& step) {
  return EventSearch(member, formulas, smooth, step).first_event();
}

}  // namespace zwang
