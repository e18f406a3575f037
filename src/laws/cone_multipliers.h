// Multipliers of dependent rows: how contacts share a load, inside their cones and bounds [friction-9].
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

// Multipliers that move nothing may be added: particular + null w, with orthonormal columns of `null`.
//
// `particular` is the limit of contacts with a small compliance c, the same for all: (Phi + c I) lambda = Phi0 makes
// lambda perpendicular to every dependence of the rows. Where all contacts stick, that is the least norm. Where contacts
// slip in different directions, the motion along the surface depends on how they share the load, and this rule decides
// it [friction-15].
struct DependentMultipliers {
  Eigen::VectorXd particular;  // h
  Eigen::MatrixXd null;        // h x k
  std::vector<HeldCone> cones;
  std::vector<HeldBound> bounds;
  Eigen::VectorXd noise;  // h: rounding of the multipliers
};

// The particular solution and the null space. `rows` (h x n) are the held rows and `forces` (h x n) the forces per unit
// of their multipliers, both in the mass metric; they differ where contacts slip.
void share_loads(const Eigen::MatrixXd& rows, const Eigen::MatrixXd& forces, const Eigen::VectorXd& solution,
                 DependentMultipliers& made);

// An orthonormal basis of the linear dependences of rows (h x n).
Eigen::MatrixXd dependences_of(const Eigen::MatrixXd& rows);

// The multipliers inside all cones and bounds that are nearest to `particular`; nothing if there are none.
std::optional<Eigen::VectorXd> nearest_in_cones(const DependentMultipliers& all);

// Whether the multiplier of a row may change without moving anything. Without a dependence all count: the rows are nearly
// dependent.
bool is_shared(const DependentMultipliers& all, Eigen::Index row);

// The rows whose multipliers may change only together with those of `rows`, directly or through others; these included.
std::vector<char> sharing_with(const DependentMultipliers& all, std::vector<char> rows);

// Of the rows that share loads, the smallest t for which some multipliers have |lambda_T| <= cone lambda_N + t at every
// cone and lambda_N >= -t [friction-10]. Negative: every contact can stick with a margin.
double smallest_excess(const DependentMultipliers& all);

}  // namespace zwang
