// One stretch of a member's motion, from a restart of the reference to the next: status, events and states compared.
#pragma once

#include <optional>

#include "host/check/events.h"
#include "host/check/findings.h"
#include "host/check/member.h"
#include "host/check/reference_pair.h"
#include "host/study/study.h"
#include "kernels/base/status.h"
#include "src/reference/reference.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"

namespace zwang {

// Where the reference takes over the backend's state: the start, or an output time with no event near it (there the
// state belongs to one side of every event beyond doubt).
struct Anchor {
  State state;
  std::vector<double> closed;
  std::optional<std::size_t> output;  // absent: the start
};

struct StretchVerdict {
  bool decided = true;  // the reference's two accounts tell the same story
  bool agreed = true;   // and so does the backend: status and events
  Accounts accounts;
  Bursts bursts;
  double duration = 0;
};

class StretchCheck {
 public:
  StretchCheck(const Study& study, const BackendMotion& motion, const Witness& witness,
               unsigned long long member);

  std::vector<Anchor> anchors() const;
  // To the next anchor, or to the end of the member's motion. `before`: the accounts of the stretch before.
  StretchVerdict check(const Anchor& from, const std::optional<Anchor>& to, const Accounts& before,
                       Findings& findings) const;

  // Events nearer to an output time than this make it beset: which side the values are of may be doubted.
  double clearance(std::size_t output) const { return clearance_[output]; }
  bool end_is_beset() const { return end_beset_; }

 private:
  // A time to compare states at. Beside an event the reference is asked on both sides of it too.
  struct Look {
    double t = 0;
    std::optional<std::size_t> output;               // absent: the end
    std::vector<std::pair<double, double>> sides{};  // times: beside the event, and as far again
    bool far = false;                                // so far from the event that others may come in between
  };
  struct Stretch {
    const Anchor& from;
    bool last = false;
    double until = 0;
    Status expected = Status::ok;
    std::vector<Look> looks{};
    std::size_t hearing = 0;  // another one: another nudge, wider instants
  };
  // The events of a stretch as three tell them.
  struct Told {
    std::vector<Instant> mine, tight, nudged;
    Bursts bursts;
  };

  bool beset(double t, double clearance) const;
  Look look_at(double t, double clearance, std::optional<std::size_t> output) const;
  Stretch stretch(const Anchor& from, const std::optional<Anchor>& to) const;
  Plan plan_for(const Stretch& stretch, bool beyond) const;
  Accounts accounts(const Stretch& stretch, const Plan& plan, const Accounts& before) const;
  StretchVerdict hear(const Stretch& stretch, const Accounts& before, Findings& findings) const;

  Told tell(const Stretch& stretch, const Accounts& accounts, double until) const;
  bool compare_events(const Stretch& stretch, const Accounts& accounts, Bursts& bursts,
                      Findings& findings) const;
  void compare_instant(const Instant& mine, const Instant& tight, const Instant& nudged, double reach,
                       double energy, Findings& findings) const;
  bool between_sides(const Look& look, double t, const Accounts& accounts) const;
  static bool crowded(const Look& look, const Accounts& accounts);
  void compare_looks(const Stretch& stretch, const Plan& plan, const Accounts& accounts,
                     Findings& findings) const;
  void compare_stop(const Accounts& accounts, Findings& findings) const;
  bool completed_already(std::size_t condition, double t) const;
  Findings samples(const Sample& mine, const Sample& tight, const Sample& nudged,
                   const Sample& further) const;
  Findings states(const State& mine, const State& tight, const State& nudged, const State& further) const;

  const Study& study_;
  const BackendMotion& motion_;
  const Witness& witness_;
  unsigned long long member_;
  Tolerance tolerance_;
  EventTolerance times_;
  QuantityNames names_;
  std::vector<double> clearance_;  // by output
  double end_clearance_ = 0;
  bool end_beset_ = false;
  Eigen::VectorXd impulse_sizes_;  // by condition
};

}  // namespace zwang
