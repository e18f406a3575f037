// The density from which a study's starts are drawn, at each member's own start. With the log-density along the flow
// (Jacobi's multiplier) it gives the density of the ensemble in (q, v, z) wherever a member has come to.
#pragma once

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

  // Empty where there is a density in all of (q, v, z): as many continuous draws as states, from which the start follows,
  // and which enter nothing else. Otherwise why not, in words.
  const std::string& why_unknown() const { return why_unknown_; }

  // log of it for a member with these parameters, of which only drawn ones are read; NaN where it is unknown. Not
  // thread-safe.
  double log_at(std::span<const double> parameters);

 private:
  void find_draws(const std::vector<Expr>& start);
  void refuse_shared_draws();
  Expr in_draws(Expr e);
  void prepare_draws();
  double log_of_draw(std::size_t k, std::span<const double> parameters);
  double log_of_joint(std::size_t k, std::span<const double> parameters);

  const Study& study_;
  Expressions pool_;                // a copy
  std::vector<Expr> in_draws_;      // every parameter as a formula of drawn ones
  std::vector<std::size_t> draws_;  // parameters behind the start
  Program jacobian_;                // of the start by the draws, row by row
  std::vector<Program>
      arguments_;  // per draw: of its distribution; of a joint's first component mean and covariance
  std::string why_unknown_;
  std::vector<double> scratch_, out_;
};

}  // namespace zwang
