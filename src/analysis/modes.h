// Small oscillations about an equilibrium [voss-8].
#pragma once

#include <complex>

#include "src/analysis/equilibrium.h"
#include "src/analysis/linearise.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

enum class Stability { stable, unstable, undecided, no_equilibrium };
std::string stability_name(Stability stability);

enum class Definiteness { negative, positive, indefinite, semidefinite, empty };
std::string definiteness_name(Definiteness definiteness);

// One root: motions like Re(shape exp(root t)).
struct Mode {
  std::complex<double> root;     // lambda; with second order only the one of +-root that grows or has Im > 0
  std::complex<double> squared;  // lambda^2
  Eigen::VectorXcd shape;        // n, the largest entry is 1
  double condition = 1;          // of the root: its sensitivity to rounding of the matrix
  bool zero = false;             // lambda = 0 up to rounding
  bool shared = false;           // coincides with another root, and so do their shapes: grows like t
};

struct Modes {
  Equilibrium equilibrium;
  Linearisation linear;
  // True: no velocity and no auxiliary enters the linear equations, and roots come in pairs +-lambda.
  bool second_order = true;
  std::vector<Mode> modes;  // by frequency, then the faster growing first
  // Roots 0 that come from velocity conditions: shifts along a family of equilibria.
  int structural_zeros = 0;
  bool redundant = false;  // dependent conditions: multipliers are not unique
  bool singular = false;   // and the roots depend on the choice of multipliers
  bool symmetric = true;   // the characteristic matrix, restricted to the admissible motions
  double asymmetry = 0;    // |K - K^T| / |K|
  // Of its quadratic form; negative: the force function has a maximum.
  Definiteness form = Definiteness::empty;
  bool form_misleads = false;
  Stability verdict = Stability::no_equilibrium;
  std::string reason;   // the verdict in words
  double residual = 0;  // relative, of the bordered eigenproblem: an independent verification
};

// Derives verdict, reason and form_misleads from the modes.
void decide(const System& system, Modes& made);

Modes find_modes(const RestEquations& rest, const State& start, double tolerance);

}  // namespace zwang
