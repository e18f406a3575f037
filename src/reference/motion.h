// The moving member: its state, which conditions are in force, closed or open, and what happens next.
#pragma once

#include <limits>
#include <optional>

#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/base/settings.h"
#include "src/expression/evaluate.h"
#include "src/laws/least_constraint.h"
#include "src/laws/shock.h"
#include "src/reference/accumulation.h"
#include "src/reference/first_root.h"
#include "src/reference/measures.h"
#include "src/reference/reference.h"
#include "src/reference/runge_kutta.h"
#include "src/reference/trajectory.h"
#include "src/system/divergence.h"
#include "src/system/equations.h"

namespace zwang {

// A condition's standing in the motion (mechanics section 2).
enum class Standing {
  absent,    // not imposed yet, or lifted
  equation,  // in force
  open,      // restricts nothing now
  closed,    // holds as an equation; `idle` while its multiplier is zero
};

struct ConditionState {
  Standing standing = Standing::absent;
  bool armed = false;  // of an open one: has been seen clearly below zero since it opened
  double since = 0;    // of an open one not armed yet: when it opened,
  double noise = 0;    // the rounding of its f'' then, which makes f uncertain by noise t^2 / 2,
  double above = 0;    // and how far above zero it was: the way back onto other conditions moves it a little
  bool idle = false;   // of a closed one: neither presses nor leaves
  double multiplier_zero = 0;  // of a closed one: what counts as zero for its multiplier
};

// Something that may happen within a step: a curve that rises through zero.
struct EventFunction {
  enum class Kind { reached, release, press, watch, stop, kink } kind;
  std::size_t index = 0;
  double sign = 1;              // of the raw function
  double level = 0;             // crossing sign * raw > level
  double zero = 0;              // how exactly the crossing is located
  double since = 0, noise = 0;  // the level grows by noise (t - since)^2 / 2
};

struct LocatedEvent {
  EventFunction event_function;
  double theta = 1;
  Eigen::VectorXd y;
  std::vector<std::size_t> also{};  // of a watched function: others that cross at the same instant
};

// Named by the study's clock: conditions imposed and lifted, impulses.
struct ScheduledEvent {
  enum class Kind { impulse, imposed, lifted } kind;
  double t = 0;
  std::size_t index = 0;
};

class Motion {
 public:
  Motion(const Equations& equations, const IntegratorSettings& settings, const Plan& plan);

  Trajectory run(const State& start);
  Trajectory resume(const State& state, const std::vector<double>& closed);

 private:
  // No condition was released.
  static constexpr std::size_t no_condition = std::numeric_limits<std::size_t>::max();

  // motion.cpp: the life of a member
  bool begin(const State& start);
  bool set_initial_state(const State& start);
  bool open_record();
  Trajectory integrate(bool begun);
  bool going() const { return trajectory_.status == Status::ok && !finished_; }
  void advance(const Step& step, double theta, const Eigen::VectorXd& end);
  void emit_outputs_until(const Step& step, double until);
  void emit_output_now();
  void finish();
  void fail(Status status, std::string cause);
  Sample sample(const State& state) const;
  State state_of(double t, const Eigen::VectorXd& y) const;
  State state() const { return state_of(t_, y_); }
  void set_velocities(const Eigen::VectorXd& v) { y_.segment(n(), n()) = v; }
  Eigen::Index n() const { return static_cast<Eigen::Index>(equations_.size()); }
  std::vector<double> closed_flags() const;
  void audit_energy();
  void record(Event event);
  void record_now(Event event);
  void project_drift();
  double rounding_of_time() const;
  void measure_sizes(const Step& step, double theta, const Eigen::VectorXd& end);

  // motion_resume.cpp: joining in the middle
  bool rejoin(const State& state, const std::vector<double>& closed);
  void recall_watch_signs();
  void skip_scheduled_events();
  void bring_onto(const std::vector<char>& touching);

  // motion_step.cpp: smooth motion
  bool right_side(double t, const Eigen::VectorXd& y, Eigen::VectorXd& rate);
  std::optional<Step> next_step();
  double argument_speed(const State& state) const;
  double step_bound(double h);
  bool arguments_moved_too_far(const Step& step) const;
  double initial_step(const Eigen::VectorXd& rate) const;
  double error_size(const Step& step) const;
  double next_scheduled_time() const;
  std::vector<EventFunction> event_functions(const Step& step);
  double event_value(const EventFunction& event_function, const State& state,
                     const Eigen::VectorXd* multipliers) const;
  std::optional<LocatedEvent> first_event(const Step& step);
  std::optional<LocatedEvent> find_earlier(const Step& step, const EventFunction& event_function,
                                           double theta);
  std::optional<LocatedEvent> locate_event(const Step& step, const EventFunction& event_function,
                                           const Bracket& bracket, double theta);
  std::optional<LocatedEvent> bracket_on_flow(
      const Step& step, const EventFunction& event_function, const Bracket& bracket,
      const std::function<double(double, Eigen::VectorXd&)>& value_at);
  Eigen::VectorXd flow(const Step& step, double theta, bool& ok);

  // motion_sides.cpp: jumps and kinks of integrands
  void choose_branches();
  double way_across(const Program& program, const Step& step, double zero) const;

  // motion_events.cpp: what happens at an instant
  void dispatch_event(const LocatedEvent& located);
  void apply_scheduled_events();
  void apply_shock(const Eigen::VectorXd& alpha, const std::vector<std::size_t>& reached, EventKind kind,
                   std::vector<std::size_t> named);
  void complete_accumulation(std::vector<std::size_t> contacts, double limit);
  double limit_of_hops(std::size_t contact, const Eigen::VectorXd& accelerations) const;
  void finish_accumulation(const std::vector<char>& arriving,
                           const std::optional<AccumulationWatch::Sequence>& earlier);
  bool update_active_set(std::vector<char> touching, std::size_t released);
  void update_watch_signs();
  std::vector<char> touching_now() const;
  ShockParticipants participants(const std::vector<char>& touching) const;
  void add_jump(Event& event, const Shock& shock, const Eigen::VectorXd& before) const;
  void flush_accumulation();
  bool keeps_volume(const Shock& shock, EventKind kind) const;
  void lose_density();
  bool in_force(std::size_t i) const { return conditions_[i].standing != Standing::absent; }

  // What counts as zero for f (or g) and for f' of a condition at a state.
  struct Zero {
    double value, rate;
  };
  Zero zero_of(std::size_t i, const State& state) const;

  const Equations& equations_;
  IntegratorSettings settings_;
  Plan plan_;
  Measures measures_;
  Program observables_, integrands_, stop_, turns_;
  std::vector<Program> watches_, kinks_, branch_values_;
  std::vector<double> branches_;              // of integrands, within a step
  std::vector<Program> reaches_;              // reaction per unit of multiplier, by condition
  std::vector<double> restitution_;           // by condition
  std::optional<FlowDivergence> divergence_;  // where the density along the flow is asked for
  std::vector<ScheduledEvent> scheduled_;
  std::size_t next_scheduled_ = 0;

  double t_ = 0, h_ = 0;
  double begun_ = 0;   // where the record starts
  Eigen::VectorXd y_;  // q, v, z, integrals, work
  Eigen::VectorXd rate_;
  Sizes sizes_;
  std::vector<ConditionState> conditions_;
  std::vector<std::size_t> active_;  // equations in force and closed conditions: rows that hold as equations
  std::vector<int> watch_signs_;     // of watched functions: -1, 0 (not known yet), +1
  AccumulationWatch accumulation_;
  std::optional<Event> pending_;  // an accumulation whose limit lies a little ahead
  std::size_t next_output_ = 0;
  bool finished_ = false;
  Status trouble_ = Status::ok;  // of the last trial evaluation
  double energy_start_ = 0, energy_lost_ = 0;
  Trajectory trajectory_;
};

}  // namespace zwang
