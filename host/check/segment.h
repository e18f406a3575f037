// One segment of a member's motion, from one restart of the reference to the next: status, events and states
// are compared.
#pragma once

#include <optional>

#include "host/check/backend_motion.h"
#include "host/check/events.h"
#include "host/check/findings.h"
#include "host/check/reference_pair.h"
#include "host/check/work_budget.h"
#include "host/study/study.h"
#include "kernels/base/status.h"
#include "src/reference/reference.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"

namespace zwang {

// A state from which the reference restarts: the start, or an output time without a nearby event, where the
// state clearly lies on one side of every event.
struct Anchor {
  State state;
  std::vector<double> closed;
  std::optional<std::size_t> output;  // absent: the start
};

struct SegmentVerdict {
  bool decided = true;  // both reference runs have the same status and events
  bool agreed = true;   // and so does the backend
  std::optional<UndecidedStretch> undecided{};
  ReferencePair pair;
  Bursts bursts;
  double duration = 0;
};

class SegmentCheck {
 public:
  SegmentCheck(const Study& study, const BackendMotion& motion, const ReferenceRunner& reference,
               unsigned long long member);

  std::vector<Anchor> anchors() const;
  // Checks up to the next anchor or to the end of the member's motion. `before`: reference runs of the
  // previous segment. A segment whose runs use up the budget is undecided.
  SegmentVerdict check(const Anchor& from, const std::optional<Anchor>& to, const ReferencePair& before,
                       WorkBudget& budget, Findings& findings) const;

  // Minimum distance in time between an output and an event; below it, the output's values may be those
  // before or those after the event.
  double clearance(std::size_t output) const { return clearance_[output]; }
  bool end_is_near_event() const { return end_near_event_; }

 private:
  // A time at which states are compared. Near an event the reference is also evaluated on both sides of it.
  struct ComparisonPoint {
    double t = 0;
    std::optional<std::size_t> output;               // absent: the end
    std::vector<std::pair<double, double>> sides{};  // times: beside the event, and twice as far
    bool far = false;  // so far from the event that other events may lie between
  };
  struct Segment {
    const Anchor& from;
    bool last = false;
    double until = 0;
    Status expected = Status::ok;
    std::vector<ComparisonPoint> points{};
    std::size_t attempt = 0;  // each attempt has another perturbation and wider instants
  };
  // The events of a segment in the backend and in the two reference runs.
  struct EventLists {
    std::vector<Instant> backend, tight, perturbed;
    Bursts bursts;
  };

  bool near_event(double t, double clearance) const;
  ComparisonPoint comparison_point(double t, double clearance, std::optional<std::size_t> output) const;
  Segment make_segment(const Anchor& from, const std::optional<Anchor>& to) const;
  Plan plan_for(const Segment& segment, bool beyond) const;
  ReferencePair run_reference(const Segment& segment, const Plan& plan, const ReferencePair& before,
                              WorkBudget& budget) const;
  SegmentVerdict compare_once(const Segment& segment, const ReferencePair& before, WorkBudget& budget,
                              Findings& findings) const;
  void leave_undecided(const Segment& segment, UndecidedCause cause, const ReferencePair& pair,
                       SegmentVerdict& verdict) const;

  EventLists event_lists(const Segment& segment, const ReferencePair& pair, double until) const;
  std::optional<std::vector<std::size_t>> small_impulses_apart(const Instant& a, const Instant& b) const;
  // The cause if nothing can be concluded from the events.
  bool runs_part(const Segment& segment, const Plan& plan, const ReferencePair& pair) const;
  std::optional<UndecidedCause> compare_events(const Segment& segment, const ReferencePair& pair,
                                               WorkBudget& budget, Bursts& bursts, Findings& findings) const;
  void compare_instant(const Instant& backend, const Instant& tight, const Instant& perturbed, double reach,
                       double energy, Findings& findings) const;
  bool near_reference_event(const ComparisonPoint& point, double t, const ReferencePair& pair) const;
  static bool several_events_between(const ComparisonPoint& point, const ReferencePair& pair);
  void compare_points(const Segment& segment, const Plan& plan, const ReferencePair& pair,
                      const Bursts& bursts, Findings& findings) const;
  void compare_stop(const ReferencePair& pair, const Bursts& bursts, Findings& findings) const;
  Eigen::VectorXd unaccounted_heat(const State& state, const Bursts& bursts) const;
  bool completed_already(std::size_t condition, double t) const;
  Findings samples(const Sample& backend, const Sample& tight, const Sample& perturbed, const Sample& further,
                   const Bursts& bursts) const;
  Findings states(const State& backend, const State& tight, const State& perturbed, const State& further,
                  const Bursts& bursts) const;

  const Study& study_;
  const BackendMotion& motion_;
  const ReferenceRunner& reference_;
  unsigned long long member_;
  Tolerance tolerance_;
  EventTolerance times_;
  QuantityNames names_;
  std::vector<double> clearance_;  // by output
  double end_clearance_ = 0;
  bool end_near_event_ = false;
  Eigen::VectorXd impulse_sizes_;  // by condition
};

}  // namespace zwang
