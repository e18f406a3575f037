#include "host/program/mass_ratio.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "host/sample/prepared_member.h"
#include "host/sample/sampler.h"
#include "kernels/base/portable.h"
#include "src/base/error.h"
#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// Members looked at beside the nominal one. Masses drawn over many decades are seen in a few draws.
constexpr unsigned long long members_looked_at = 32;

// Steps grow by the noise of the multipliers when their relative rounding, eps times the ratio, exceeds this
// many tolerances: a light bead on a taut line takes seven times its steps at 120, and no longer advances at
// 1e5.
constexpr double tolerated_noise = 30;

// Rows that share a coordinate: the coordinate, and all coordinates of those rows.
struct SharedCoordinate {
  std::size_t coordinate;
  std::vector<std::size_t> coupled;
};

std::vector<SharedCoordinate> shared_coordinates(const System& system) {
  std::vector<SharedCoordinate> shared;
  for (std::size_t coordinate = 0; coordinate < system.size(); ++coordinate) {
    SharedCoordinate made{coordinate, {}};
    std::size_t rows = 0;
    for (const Constraint& constraint : system.constraints) {
      const auto& columns = constraint.columns;
      if (std::find(columns.begin(), columns.end(), coordinate) == columns.end()) continue;
      made.coupled.insert(made.coupled.end(), columns.begin(), columns.end());
      ++rows;
    }
    if (rows > 1) shared.push_back(std::move(made));
  }
  return shared;
}

// The diagonal of the mass matrix as a program.
Program diagonal_of_mass(const System& system) {
  std::vector<Expr> diagonal(system.size(), system.pool->constant(0));
  for (const MassEntry& entry : system.mass)
    if (entry.row == entry.column) diagonal[entry.row] = entry.value;
  return Program(*system.pool, diagonal);
}

double ratio_of(const std::vector<double>& mass, const std::vector<SharedCoordinate>& shared) {
  double largest = 1;
  for (const SharedCoordinate& place : shared)
    for (const std::size_t other : place.coupled) {
      const double ratio = mass[other] / mass[place.coordinate];
      if (mass[place.coordinate] > 0 && std::isfinite(ratio)) largest = std::max(largest, ratio);
    }
  return largest;
}

}  // namespace

double largest_mass_ratio(const Study& study) {
  const System& system = *study.system;
  const std::vector<SharedCoordinate> shared = shared_coordinates(system);
  if (shared.empty()) return 1;
  const Program diagonal = diagonal_of_mass(system);
  const Sampler sampler(study);
  Sampler::Scratch scratch;
  MemberInputs member;
  std::vector<double> mass(system.size()), slots;
  double largest = 1;
  const auto look = [&] {
    const State& at = member.start;
    diagonal.run<double>({.time = at.t,
                          .parameters = member.parameters,
                          .coordinates = {at.q.data(), system.size()},
                          .velocities = {at.v.data(), system.size()},
                          .auxiliaries = {at.z.data(), static_cast<std::size_t>(at.z.size())}},
                         slots, mass);
    largest = std::max(largest, ratio_of(mass, shared));
  };
  // The number does not depend on the number of members, so that a member moves alike in every run. A member
  // that cannot be drawn (a grid or a file that ends) ends the search; a run that needs it reports it.
  try {
    sampler.draw_nominal(scratch, member);
    look();
    if (sampler.drawn().empty()) return largest;
    for (unsigned long long i = 0; i < members_looked_at; ++i) {
      sampler.draw(i, 0, scratch, member);
      look();
    }
  } catch (const Error&) {
  }
  return largest;
}

bool needs_orthogonal_elimination(const Study& study) {
  const double rounding = study.integrator.single ? Precision<float>::epsilon : Precision<double>::epsilon;
  return largest_mass_ratio(study) * rounding > tolerated_noise * study.integrator.within_precision().rtol;
}

}  // namespace zwang
