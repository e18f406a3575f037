// One member's motion: smooth steps, events, and the active set that changes at events.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/base/settings.h"
#include "src/laws/friction_modes.h"
#include "src/laws/least_constraint.h"
#include "src/laws/mode_problem.h"
#include "src/laws/shock.h"
#include "src/reference/accumulation.h"
#include "src/reference/first_event.h"
#include "src/reference/member_state.h"
#include "src/reference/motion_formulas.h"
#include "src/reference/recorder.h"
#include "src/reference/reference.h"
#include "src/reference/runge_kutta.h"
#include "src/reference/schedule.h"
#include "src/reference/smooth_motion.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

// Conditions whose modes an event changes.
struct ModeChange {
  std::vector<std::size_t> leaves = {};  // have reached their cone or bound
  std::vector<std::size_t> rests = {};   // have come to rest
  std::vector<std::size_t> slides = {};  // go on sliding, although their slip is within rounding of zero
  bool continued = false;                // a motion taken up in the middle
};

class Motion {
 public:
  Motion(const Equations& equations, const IntegratorSettings& settings, const Plan& plan);
  Motion(const Motion&) = delete;  // its parts refer to each other
  Motion& operator=(const Motion&) = delete;

  Trajectory run(const State& start);
  Trajectory resume(const State& state, const std::vector<double>& closed);

 private:
  // No condition was released.
  static constexpr std::size_t no_condition = std::numeric_limits<std::size_t>::max();

  // motion.cpp: from the start to the end
  bool begin(const State& start);
  bool set_initial_state(const State& start);
  void check_coefficients(const State& start);
  bool open_record();
  Trajectory integrate(bool begun);
  std::optional<SmoothStep> next_step();
  bool move_by_a_step();
  void advance(const SmoothStep& step, double theta, const Eigen::VectorXd& end);
  bool is_at_rest_for_good() const;
  void rest_until_scheduled_time();
  bool count_step();
  void update_certainties(const Sample& now);
  void measure_sizes(const Step& step, double theta, const Eigen::VectorXd& end);
  void project_drift();
  bool going() const { return recorder_.ok() && !finished_; }
  bool at_end() const { return !(member_.t < plan_.end - member_.rounding_of_time()); }
  void fail(Status status, std::string cause) { recorder_.fail(status, std::move(cause)); }

  // motion_resume.cpp: start from the middle of a motion
  bool rejoin(const State& state, const std::vector<double>& closed);
  ModeChange take_up_modes(const State& state, const std::vector<double>& closed);
  void recall_watch_signs();
  void skip_scheduled_events();
  void bring_onto(const std::vector<char>& touching, const std::vector<std::size_t>& yielding);

  // motion_events.cpp: dispatch of located and scheduled events
  struct DueEvents {
    Eigen::VectorXd alpha;  // velocities that the impulses would give the free system
    std::vector<std::size_t> imposed, lifted;
    bool impulse = false;
  };
  void dispatch_event(const LocatedEvent& located);
  void reach(std::size_t i);
  void release(std::size_t i);
  void cross_watches(const LocatedEvent& located);
  void dispatch_transition(std::size_t k);
  double next_scheduled_time() const;
  void apply_scheduled_events();
  DueEvents take_due_events();
  void impose(std::size_t i, const State& now);
  Eigen::VectorXd velocity_gain(std::size_t impulse, const State& now) const;
  void apply_start_shock(const Eigen::VectorXd& alpha);
  void update_watch_signs();

  // motion_shock.cpp: velocities that jump
  void apply_shock(const Eigen::VectorXd& alpha, const std::vector<std::size_t>& reached, EventKind kind,
                   std::vector<std::size_t> named);
  Shock solve_shock(const State& before, const Eigen::VectorXd& alpha, const std::vector<char>& touching);
  std::vector<std::size_t> bounded_in_shock(const std::vector<char>& touching) const;
  void take_velocities(const Shock& shock, const State& before);
  void audit_shock(const Shock& shock, const State& before, EventKind kind);
  ShockParticipants participants(const std::vector<char>& touching) const;
  void add_jump(Event& event, const Shock& shock, const Eigen::VectorXd& before) const;
  void pass_density(const Shock& shock, const std::vector<std::size_t>& reached, EventKind kind,
                    bool at_start);
  bool keeps_volume(const Shock& shock, EventKind kind) const;
  void lose_density();

  // motion_accumulation.cpp: infinitely many shocks in a finite time
  void finish_accumulation(const std::vector<char>& arriving,
                           const std::optional<AccumulationWatch::Sequence>& earlier);
  bool are_at_rest(const std::vector<std::size_t>& conditions) const;
  void complete_hops(const std::vector<std::size_t>& hops, const Eigen::VectorXd& accelerations);
  void complete_accumulation(const std::vector<std::size_t>& contacts, double limit,
                             std::vector<RestPhase> phases);
  void describe_remainder();
  struct PhaseDifference {
    Eigen::VectorXd rates;        // times the duration
    Eigen::VectorXd transferred;  // by condition; 0 where it is rounding
  };
  std::optional<PhaseDifference> compare_phases(const std::vector<RestPhase>& phases, double duration) const;
  void leave_hops_without_friction(const PhaseDifference& found, Eigen::VectorXd& multipliers);
  void list_impulses_of_hops(const Eigen::VectorXd& multipliers, const Eigen::VectorXd& transferred,
                             double energy_lost);
  void interrupt_accumulation();
  void resume_accumulation();
  double dissipated_between_shocks(const Eigen::VectorXd& rates) const;
  void add_to_integrals(const Eigen::VectorXd& rates, double share);
  void list_friction_of_hops(const State& now, Eigen::VectorXd& impulses) const;
  Shock accumulation_limit(const std::vector<std::size_t>& contacts, const State& before) const;
  struct Hop {
    double landing = 0;  // when the hop that begins now ends
    double limit = 0;    // when all hops of this contact end
  };
  Hop hop_of(std::size_t contact, const Eigen::VectorXd& accelerations) const;
  double limit_of_sequence() const;

  // motion_active_set.cpp: which conditions are closed
  struct GaussProblem {
    State state;
    std::vector<std::size_t> rows;  // equations, and touching conditions with f' = 0
    std::vector<Zero> zeros;        // by condition
  };
  bool update_active_set(std::vector<char> touching, std::size_t released, const ModeChange& change = {});
  GaussProblem gauss_problem(const std::vector<char>& touching, std::size_t released) const;
  std::optional<LeastConstraint> solve_gauss_problem(GaussProblem& problem, const ModeChange& change);
  std::optional<LeastConstraint> solve_plain_gauss_problem(const GaussProblem& problem);
  void apply_qp_solution(const GaussProblem& problem, const LeastConstraint& gauss,
                         const std::vector<char>& touching);
  std::vector<char> pressing(const GaussProblem& problem, const LeastConstraint& gauss) const;
  bool keep_open(const std::vector<char>& open, const std::vector<char>& bear,
                 std::vector<char>& touching) const;
  void note_dependence(const State& now);
  bool must_stay(std::size_t released, double multiplier_zero, const State& now,
                 const LeastConstraint& gauss);
  std::vector<std::size_t> unresolved_hops(const GaussProblem& problem, const LeastConstraint& gauss,
                                           const std::vector<char>& touching, std::size_t released) const;
  std::vector<char> touching_now() const;

  // motion_modes.cpp: contacts that stick or slip, bounded rows that hold or yield
  struct ModesInForce {
    std::vector<ModeKind> frictions;  // by System::frictions; open: the contact is open
    Eigen::VectorXd modes;
    std::vector<char> held;  // by System::bounds
  };
  bool bounds_forces() const;
  void let_moving_bounds_yield(const ModeChange& change);
  std::optional<LeastConstraint> solve_modes_in_force(GaussProblem& problem, const ModeChange& change);
  bool within_bounds(const LeastConstraint& gauss) const;
  void note_hopping(const Event& accumulation);
  bool ends_hops_overloaded();
  bool break_overloaded(const FrictionConstraint& found);
  void break_condition(std::size_t bound);
  void break_link(std::size_t link_limit);
  void break_separated_links();
  bool break_overloaded_links(const Eigen::VectorXd& multipliers);
  void remove_broken(GaussProblem& problem) const;
  void set_modes(const GaussProblem& problem);
  void hold_bound(std::size_t bound, const State& now);
  void activate_sticking_rows();
  void renew_slip_directions();
  void change_mode(const Transition& transition);
  std::vector<std::size_t> reaching_cone(std::size_t friction) const;
  ModesInForce modes_in_force() const;
  void record_mode_changes(const ModesInForce& before, const std::vector<std::size_t>& reversed = {});
  void fail_painleve(std::size_t friction);

  // motion_slips.cpp: slips within rounding of zero
  struct RatesOfChange {
    State state;
    Eigen::VectorXd a, largest;  // the accelerations, and the sizes of their terms
  };
  double size_of_slip_rate(const Friction& friction, const State& state, const Eigen::VectorXd& a) const;
  RatesOfChange rates_of_change() const;
  bool shrinks(const std::vector<std::size_t>& rows, const Eigen::VectorXd& direction,
               const RatesOfChange& now) const;
  std::vector<std::size_t> growing_slips() const;
  std::optional<std::size_t> ending_motion() const;
  bool slip_is_unresolved(std::size_t friction, double times = 1) const;
  bool comes_to_rest(std::size_t friction);
  std::vector<std::size_t> frictions_at_rest(std::size_t friction) const;
  void remove_slips(const std::vector<std::size_t>& frictions);
  bool rest_unresolved_slip();

  const Equations& equations_;
  IntegratorSettings settings_;
  Plan plan_;
  MotionFormulas formulas_;
  MemberState member_;
  SmoothMotion smooth_;
  Recorder recorder_;
  Schedule schedule_;
  AccumulationWatch accumulation_;
  bool autonomous_;  // a system with friction or bounds in which nothing depends on the time
  // What is known of the shocks that a pending accumulation stands for, until its closed set is known too.
  struct Remainder {
    double time = 0;  // from the last listed shock to the limit
    std::vector<RestPhase> phases;
    Eigen::VectorXd multipliers;  // l of the projection onto the limit, by condition; 0 where it is rounding
  };
  std::optional<Remainder> remainder_;
  // How much of it belongs to the time ahead, in systems with friction or bounds: where the motion takes another course
  // before the limit, that part is taken back.
  struct RemainderAhead {
    double from = 0, limit = 0;
    Remainder rest;
    PhaseDifference difference;         // of that time
    std::vector<std::size_t> contacts;  // that are closed until the limit
    bool interrupted = false;           // by the event at hand
    bool divided = false;               // and listed without what belongs to the time ahead
  };
  std::optional<RemainderAhead> ahead_;
  double completed_at_ = -1;  // time at which an accumulation was completed last
  bool finished_ = false;
  std::optional<FrictionConstraint> found_modes_;  // of the last solution with friction or bounds
  std::vector<std::size_t> broken_now_;  // conditions that have broken since the last record of modes
};

}  // namespace zwang
