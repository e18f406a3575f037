// Contacts with friction and bounded multipliers: which of them hold, slip, yield or open [limit-2] [friction-3].
//
//     x = x0 - M^-1 A^T Lambda,   residuals A x + c
//
// x are accelerations (residuals f'', s') or velocities after an impact (residuals f', s with their rebounds). The
// rows of an element are its condition and, for a contact with friction, its one or two slip speeds after it.
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <optional>
#include <vector>

#include "kernels/base/status.h"

namespace zwang {

enum class ModeKind {
  hold,  // the row holds as an equation; a contact with friction sticks
  slip,  // a contact that slips; a bounded row that yields
  open,  // no force
};

struct ElementMode {
  ModeKind kind = ModeKind::hold;
  Eigen::VectorXd direction = {};  // of the slip (a unit vector), or the sign with which the row yields
};

struct ModeElement {
  enum class Kind { equation, inequality, friction, bound };
  Kind kind = Kind::equation;
  std::size_t condition = 0;
  Eigen::Index row = 0;
  Eigen::Index tangents = 0;         // slip rows, which follow the row
  double cone = 0, cone_static = 0;  // |Lambda_T| <= cone Lambda_N in slip, cone_static in stick
  double limit = 0;                  // of a bounded row
  bool one_sided = false;            // a bounded inequality: 0 <= Lambda <= limit
  Eigen::VectorXd direction = {};    // of a slip that is not zero; empty: s = 0
  bool leaves = false;               // must not hold: its bound or its cone has just been reached
};

struct ModeProblem {
  Eigen::MatrixXd mass;     // n x n
  Eigen::VectorXd free;     // n: x0
  Eigen::MatrixXd rows;     // r x n: A
  Eigen::VectorXd offsets;  // r: c
  Eigen::VectorXd slack;    // r: residuals up to this size count as zero
  std::vector<ModeElement> elements;
};

// One choice of modes, solved.
struct ModeCandidate {
  std::vector<ElementMode> modes;
  bool solvable = false;
  bool redundant = false;       // the held rows are dependent: the multipliers are not unique
  Eigen::VectorXd x;            // n
  Eigen::VectorXd multipliers;  // r: Lambda, forces of slip and of yielding rows included
  Eigen::VectorXd residuals;    // r
  Eigen::VectorXd noise;        // r: rounding of the multipliers
};

// A contact that slips and the matrix of its normal force [friction-4].
struct SlipStiffness {
  std::size_t condition = 0;
  double kappa = 0,
         normal = 0;  // A_N P (A_N + mu d A_T)^T and A_N P A_N^T on what the holding rows leave free
  double free = 0;    // Phi0_N
};

struct ModeSolution {
  Status status = Status::ok;  // or infeasible, painleve, ambiguous, not_finite
  ModeCandidate chosen;
  std::vector<ModeCandidate> admissible;  // all of them, the chosen one first
  std::vector<SlipStiffness> stiffness;   // of contacts that slip, in the chosen or in the refused modes
  bool certified = true;                  // every combination was tried
};

class ModeSolver {
 public:
  explicit ModeSolver(const ModeProblem& problem);

  bool usable() const { return usable_; }
  // Solves for the given modes. A slip in space without a direction gets one of [friction-7].
  ModeCandidate solve(std::vector<ElementMode> modes) const;
  // The same with every set of directions, of up to three contacts that begin to slip in space.
  std::vector<ModeCandidate> solutions(const std::vector<ElementMode>& modes) const;
  // `carried`: with the rounding of all rows carried through the solve, else with that of each row alone.
  bool admits(const ModeCandidate& candidate, bool carried) const;
  std::vector<SlipStiffness> stiffness(const std::vector<ElementMode>& modes) const;
  double length(const Eigen::VectorXd& x) const;  // in the mass metric
  double size(const Eigen::VectorXd& x) const;    // of the motions without forces and with them
  double rounding() const;                        // of a motion, by its rows, in the mass metric

 private:
  struct Held {
    std::vector<Eigen::Index> rows;  // the rows that hold as equations
    Eigen::MatrixXd forces;          // r x h: Lambda = forces * multipliers of the held rows + known
    Eigen::VectorXd known;           // r
  };
  Held held_rows(const std::vector<ElementMode>& modes) const;
  ModeCandidate solve_given(std::vector<ElementMode> modes) const;
  struct SlipsThatBegin;
  std::optional<SlipsThatBegin> slips_that_begin(const std::vector<ElementMode>& modes,
                                                 const std::vector<std::size_t>& unknown) const;
  void find_directions(ModeCandidate& candidate) const;
  void approach_directions(const std::vector<std::size_t>& unknown, ModeCandidate& candidate) const;
  void polish_directions(const std::vector<std::size_t>& unknown, ModeCandidate& candidate) const;
  Eigen::VectorXd slip_across(const std::vector<std::size_t>& unknown, const ModeCandidate& candidate) const;
  void apply_multipliers(const Held& held, const Eigen::VectorXd& lambda, ModeCandidate& candidate) const;
  void represent(ModeCandidate& candidate) const;
  bool contradicts_deflection(const ModeCandidate& candidate, std::size_t i) const;
  bool admits_element(const ModeCandidate& candidate, std::size_t i, bool carried) const;

  const ModeProblem& problem_;
  Eigen::LLT<Eigen::MatrixXd> mass_;
  Eigen::MatrixXd unit_;     // r x n: rows A L^-T
  Eigen::MatrixXd phi_;      // r x r
  Eigen::VectorXd gap_;      // r: A x0 + c
  Eigen::VectorXd lengths_;  // r
  bool usable_ = false;
};

// The modes that Coulomb's law and the bounds admit [friction-6]. Below `margin` times its value without friction the
// matrix of a slipping contact counts as Painleve's.
ModeSolution solve_modes(const ModeProblem& problem, double margin, bool impact);

}  // namespace zwang
