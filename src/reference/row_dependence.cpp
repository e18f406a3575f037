// Rank of rows in the mass metric.
#include "src/reference/row_dependence.h"

#include <Eigen/Dense>
#include <algorithm>

#include "src/system/mass_metric.h"
#include "src/system/system.h"

namespace zwang {

// Gram-Schmidt, twice for accuracy; dependent rows are left out of the basis, as the elimination of the kernels does.
RowDependence row_dependence(const Equations& equations, const State& state,
                             const std::vector<std::size_t>& rows) {
  RowDependence found;
  const auto count = static_cast<Eigen::Index>(rows.size()), n = static_cast<Eigen::Index>(equations.size());
  Eigen::MatrixXd a(count, n);
  for (Eigen::Index k = 0; k < count; ++k)
    a.row(k) = equations.row(rows[static_cast<std::size_t>(k)], state).a;
  const MassMetric metric(equations.mass(state));
  if (!metric.valid() || !a.allFinite()) return found;
  const Eigen::MatrixXd unit = metric.rows(a).rowwise().normalized();
  Eigen::MatrixXd basis(n, std::min(count, n));
  for (Eigen::Index k = 0; k < count; ++k) {
    const auto rank = static_cast<Eigen::Index>(found.rank);
    Eigen::VectorXd rest = unit.row(k).transpose();
    for (int pass = 0; pass < 2; ++pass)
      rest -= basis.leftCols(rank) * (basis.leftCols(rank).transpose() * rest);
    const double distance = rest.norm();
    if (!(distance > dependent_distance) || rank == basis.cols()) continue;
    found.distance = std::min(found.distance, distance);
    basis.col(rank) = rest / distance;
    ++found.rank;
  }
  return found;
}

bool is_held_by_others(const MemberState& member, std::size_t i, const State& state,
                       const std::vector<char>& bear) {
  const std::vector<Constraint>& constraints = member.system().constraints;
  std::vector<std::size_t> rows;
  for (const std::size_t row : member.active) {
    const std::size_t contact = constraints[row].slip_of.value_or(row);
    if (row != i && (member.conditions[contact].standing != Standing::closed || bear[contact]))
      rows.push_back(row);
  }
  const std::size_t rank = row_dependence(member.equations, state, rows).rank;
  rows.push_back(i);
  return row_dependence(member.equations, state, rows).rank == rank;
}

}  // namespace zwang
