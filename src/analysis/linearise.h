// The equations linearised at rest, for small oscillations [voss-8] and the search for an equilibrium.
#pragma once

#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/system/equations.h"

namespace zwang {

// Around (q, v = 0, z, lambda), r conditions taken as equations:
//     M dq'' = K dq + C dq' + E dz - A^T dlambda
//     dz'    = rates_q dq + rates_v dq' + rates_z dz
//     A dq   = 0 (conditions on positions),   A dq' + values_q dq = 0 (conditions on velocities)
struct Linearisation {
  Eigen::MatrixXd mass;       // M, n x n
  Eigen::VectorXd force;      // Q, n
  Eigen::MatrixXd stiffness;  // K = Q_q - (A^T lambda)_q, n x n: Voss's alpha; in general not symmetric
  Eigen::MatrixXd damping;    // C = Q_v - (A^T lambda)_v, n x n
  Eigen::MatrixXd coupling;   // E = Q_z, n x nz
  Eigen::MatrixXd rows;       // A, r x n
  Eigen::VectorXd values;     // f(q) or g(q, 0), r
  Eigen::MatrixXd values_q;   // f_q or g_q, r x n
  std::vector<Eigen::MatrixXd> row_slopes;  // per condition: d(A_i)/dq_k, n x n
  Eigen::VectorXd rates;                    // z', nz
  Eigen::MatrixXd rates_q, rates_v, rates_z;

  bool finite() const;
};

// All derivatives are made once, symbolically; an evaluation is one straight-line program.
class RestEquations {
 public:
  explicit RestEquations(const Equations& equations);

  // `set`: the conditions taken as equations; `multipliers`: one per entry of `set`.
  Linearisation at(const Eigen::VectorXd& q, const Eigen::VectorXd& z, const std::vector<std::size_t>& set,
                   const Eigen::VectorXd& multipliers) const;

  const Equations& equations() const { return *equations_; }
  // The auxiliary states that z stands for above: orientations of bodies move with coordinates.
  const std::vector<std::size_t>& states() const { return states_; }

 private:
  enum class Block { force_q, force_v, force_z, rates_q, rates_v, rates_z, value_q, row_q, row_v };
  struct Entry {
    Block block;
    std::size_t row = 0, column = 0;  // column: the variable
    std::size_t condition = 0;        // of value_q, row_q, row_v
  };
  void differentiate(Expressions& pool, std::vector<Expr>& roots);
  Linearisation blank(const State& state, const std::vector<std::size_t>& set) const;
  static void put_slope(const Entry& entry, double slope, Linearisation& made);
  static void put_condition_slope(const Entry& entry, double slope, Eigen::Index s, double multiplier,
                                  Linearisation& made);

  const Equations* equations_;
  std::vector<std::size_t> states_;
  std::vector<Entry> entries_;  // one per output of the program
  Program program_;
};

}  // namespace zwang
