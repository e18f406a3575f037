// Smooth motion between events: the right-hand side with the active conditions as equations, and
// error-controlled steps.
#pragma once

#include <Eigen/Dense>
#include <limits>
#include <string>
#include <vector>

#include "kernels/base/status.h"
#include "src/reference/implicit_slip.h"
#include "src/reference/member_state.h"
#include "src/reference/motion_formulas.h"
#include "src/reference/runge_kutta.h"
#include "src/reference/singular_passage.h"
#include "src/system/equations.h"

namespace zwang {

// A step and the branches its integrands have within it (System::branches).
struct SmoothStep : Step {
  std::vector<double> branches;
  // Where the active rows become linearly dependent, as a fraction of the step (infinite: nowhere near), and how far
  // around that place no state of a partial step may lie.
  double dependence = std::numeric_limits<double>::infinity(), excluded = 0;
  bool implicit = false;  // in the directions of slips (implicit_slip.h)
};

// The method's own result at a fraction of a step, as accurate as the step itself.
struct PartialStep {
  Status status = Status::ok;
  Eigen::VectorXd y;
};

struct NextStep {
  Status status = Status::ok;  // of the step; if it is not ok there is none,
  std::string cause;           // for this reason
  SmoothStep step;
  long long rejected = 0;
};

class SmoothMotion {
 public:
  SmoothMotion(const MemberState& member, const MotionFormulas& formulas);

  // One accepted step from the member's state, at most to the next scheduled time. `end` is the end of the
  // motion.
  NextStep next_step(double next_scheduled_time, double end);
  PartialStep flow(const SmoothStep& step, double theta) const;
  // Rates and multipliers at a state if the conditions of `active` held as equations.
  Status rates_with(const std::vector<std::size_t>& active, double t, const Eigen::VectorXd& y,
                    Eigen::VectorXd& rate, Eigen::VectorXd& multipliers) const {
    return right_side(t, y, branches_, active, rate, multipliers);
  }

  // The state on the interpolant of a step.
  State state_at(const Step& step, double theta) const {
    return member_.state_of(step.t + theta * step.h, step.at(theta, member_.settings.method));
  }
  // The length proposed for the next step; 0 before the first.
  double step_length() const { return h_; }
  // The length of the next step does not follow from the last one.
  void begin_anew() { h_ = 0; }

 private:
  Status right_side(double t, const Eigen::VectorXd& y, const std::vector<double>& branches,
                    const std::vector<std::size_t>& active, Eigen::VectorXd& rate,
                    Eigen::VectorXd& multipliers) const;
  Status right_side(double t, const Eigen::VectorXd& y, const std::vector<double>& branches,
                    Eigen::VectorXd& rate) const;
  Status right_side_of(const State& now, const std::vector<double>& branches,
                       const std::vector<std::size_t>& active, Eigen::VectorXd& rate,
                       Eigen::VectorXd& multipliers) const;
  RightSide with_branches(const std::vector<double>& branches) const;
  ImplicitSlip implicit_slip(double t, const Eigen::VectorXd& y, const std::vector<double>& branches) const;
  bool take_implicit_step(const SlipTimes& times, const Eigen::VectorXd& rate, double room, NextStep& next);
  double argument_speed(const State& state) const;
  double step_bound(double h, double next_scheduled_time, const Eigen::VectorXd& rate) const;
  bool arguments_moved_too_far(const Step& step) const;
  bool ends_on_branch(const Step& step) const;
  double initial_step(const Eigen::VectorXd& rate, double end) const;
  double error_size(const Step& step) const;
  std::vector<double> choose_branches(const Eigen::VectorXd& rate) const;

  const MemberState& member_;
  const MotionFormulas& formulas_;
  SingularPassage passage_;
  bool near_dependence_ = false;  // of the active rows: the right side projects the state first
  double h_tried_ = 0;            // length of the step that is being tried
  double h_ = 0;
  std::vector<double> branches_;  // of the last step
};

}  // namespace zwang
