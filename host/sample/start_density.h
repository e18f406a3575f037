// The probability density of a study's starts, evaluated at each member's own start. Together with the
// log-density along the flow (Jacobi's multiplier) it gives the density of the ensemble in (q, v, z) at a
// member's current state. Orientations of bodies in space count by the angles of small turns about the body axes, in
// which all rotations together have the measure 8 pi^2.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/study/study.h"
#include "src/expression/evaluate.h"
#include "src/expression/expression.h"

namespace zwang {

class StartDensity {
 public:
  explicit StartDensity(const Study& study);

  // Empty if the starts have a density in (q, v, z): as many continuous draws as states, which determine the
  // start and enter nothing else. Otherwise the reason why there is none.
  const std::string& why_unknown() const { return why_unknown_; }

  // The log-density at the start of a member with these parameters (only drawn ones are read); NaN if it is
  // unknown. Not thread-safe.
  double log_at(std::span<const double> parameters);

 private:
  using Quaternion = std::array<Expr, 4>;  // of draws
  // An orientation that is the direction of four normals with mean 0.
  struct Direction {
    std::array<std::size_t, 4> draws{};
    Program stds;
  };

  void find_draws(const std::vector<Expr>& start, const std::vector<Quaternion>& orientations);
  std::vector<Quaternion> read_orientations(const std::vector<Expr>& start);
  std::optional<Direction> central_normals(const Quaternion& q, const std::vector<Expr>& others);
  Expr turn_per_draw(const Quaternion& q, std::size_t axis, std::size_t draw);
  bool determines_start(std::size_t draw) const;
  void reject_draws_in_motion();
  Expr in_draws(Expr e);
  void prepare_draws();
  double log_of_draw(std::size_t k, std::span<const double> parameters);
  double log_of_joint(std::size_t k, std::span<const double> parameters);
  double log_of_direction(const Direction& direction, std::span<const double> parameters);

  const Study& study_;
  Expressions pool_;                // a copy
  std::vector<Expr> in_draws_;      // every parameter as a formula of drawn parameters
  std::vector<std::size_t> draws_;  // the parameters that determine the start, without those of directions_
  std::vector<Direction> directions_;
  Program jacobian_;  // of the start with respect to the draws, by rows
  // Per draw: the arguments of its distribution; for the first component of a joint, mean and covariance.
  std::vector<Program> arguments_;
  std::string why_unknown_;
  std::vector<double> scratch_, out_;
};

}  // namespace zwang
