// Explanation of friction and bounded multipliers at a state: modes, forces, margins, and every admissible mode.
#pragma once

#include <Eigen/Dense>
#include <string>
#include <vector>

#include "src/laws/friction_modes.h"
#include "src/system/equations.h"

namespace zwang {

struct ExplainedContact {
  std::string name;
  std::string mode;                           // "open", "sticks", "at the cone", "slips"
  double normal = 0;                          // lambda_N
  Eigen::VectorXd tangential;                 // lambda_T
  double margin = 0;                          // mu_s lambda_N - |lambda_T|; in slip 0
  Eigen::VectorXd slip, slip_rate;            // s and s'
  double kappa = 0, kappa_smooth = 0;         // A_N M^-1 (A_N + mu d A_T)^T and A_N M^-1 A_N^T; in slip only
  double normal_length = 0, slip_length = 0;  // of the gradients
  bool lengths_differ =
      false;  // the slip was written out, and its gradient is not as long as that of the normal
  bool impacts_ignore_static =
      false;  // it has friction_static and restitution_tangential; impacts use friction
};

struct ExplainedBound {
  std::string name;
  std::string mode;  // "holds", "yields", "broken", "open"
  double multiplier = 0, limit = 0, rate = 0;
};

// One admissible choice of modes.
struct ExplainedMode {
  std::vector<std::string> modes;  // "floor slips", by element
  Eigen::VectorXd acceleration;
};

struct ExplainedFriction {
  std::vector<ExplainedContact> contacts;
  std::vector<ExplainedBound> bounds;
  std::vector<ExplainedMode> admissible;
  bool unique_forces = true;  // false: the multipliers are those of least norm inside the cones
  bool certified = true;      // every combination of modes was tried
  std::string verdict;        // why there is no acceleration; empty where there is one
};

ExplainedFriction explain_friction(const Equations& equations, const State& state,
                                   const FrictionConstraint& found, const std::vector<double>& closed);

}  // namespace zwang
