// Explanation of the accelerations at a state: formulas, active conditions, multipliers, sets tried.
#pragma once

#include <optional>

#include "kernels/base/status.h"
#include "src/analysis/explain_friction.h"
#include "src/laws/least_constraint.h"
#include "src/laws/singular.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"

namespace zwang {

struct ExplainedCondition {
  std::string name;
  std::string kind;   // "holonomic inequality", ...
  std::string state;  // "equation", "open", "yielding", "pressing", "not in force"
  double value = 0;   // f or g
  double rate = 0;    // f' (g for velocity conditions)
  double multiplier = 0;
  std::string f, f_rate, row, rest;  // the derived formulas as text
};

struct ExplainedSet {
  std::vector<std::string> pressing;
  bool accepted = false;
  std::string rejected;  // the reason; empty if accepted
};

struct Explanation {
  State state;
  std::vector<std::string> coordinates;
  int degrees_of_freedom = 0;
  std::vector<ExplainedCondition> conditions;
  std::vector<std::string> rows;                   // equations and closed inequalities, in file order
  std::vector<std::string> mass_text, force_text;  // M and Q as formulas
  Eigen::MatrixXd mass, phi;
  Eigen::VectorXd phi0, multipliers, second;  // by row: f'' in free motion, lambda, f''
  Eigen::VectorXd free_acceleration, acceleration;
  double constraint = 0;  // 1/2 (a - a0)^T M (a - a0): Gauss's Zwang
  std::vector<ExplainedSet> tried;
  std::string position;                      // "regular", "redundant", "singular"
  std::optional<SingularPosition> singular;  // where the position is not regular
  Status status = Status::ok;
  double kkt = 0;
  double divergence = 0;
  std::optional<ExplainedFriction> friction;  // where contacts have friction or multipliers are bounded
};

// `sample`: a sample of the motion; conditions it marks as closed are taken as closed.
Explanation explain(const Equations& equations, const Sample& sample, double tolerance);

}  // namespace zwang
