// Multipliers of dependent rows: inside their cones and bounds, of least norm [friction-9].
#pragma once

#include <Eigen/Dense>
#include <optional>
#include <vector>

namespace zwang {

// A contact that sticks: the multipliers of its slip rows are bounded by cone times that of its normal row. Numbers
// are places among the held rows.
struct HeldCone {
  Eigen::Index normal = 0, tangent = 0, tangents = 1;
  double cone = 0;
};
struct HeldBound {
  Eigen::Index row = 0;
  double least = 0, most = 0;
};

// All lambda = particular + null w. The columns of `null` are orthonormal and `particular` is perpendicular to them.
struct DependentMultipliers {
  Eigen::VectorXd particular;  // h
  Eigen::MatrixXd null;        // h x k
  std::vector<HeldCone> cones;
  std::vector<HeldBound> bounds;
  Eigen::VectorXd noise;  // h: rounding of the multipliers
};

// Splits a solution along the null space of `forces` (columns: the force of each held row per unit of its multiplier,
// with rows of any metric).
void split_along_null_space(const Eigen::MatrixXd& forces, const Eigen::VectorXd& solution,
                            DependentMultipliers& made);

// The multipliers of least norm inside all cones and bounds; nothing if there are none.
std::optional<Eigen::VectorXd> least_norm_in_cones(const DependentMultipliers& all);

// The smallest t for which some multipliers have |lambda_T| <= cone lambda_N + t at every cone and lambda_N >= -t
// [friction-10]. Negative: every contact can stick with a margin.
double smallest_excess(const DependentMultipliers& all);

}  // namespace zwang
