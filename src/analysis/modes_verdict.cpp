// The verdict on stability from the roots of small oscillations, with its reason as text.
#include <cmath>

#include "src/analysis/modes.h"
#include "src/base/error.h"
#include "src/expression/expression.h"
#include "src/system/system.h"

namespace zwang {

namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string unstable_words(const Mode& worst) {
  const double omega = std::abs(worst.root.imag());
  if (omega == 0) return "a small displacement grows like exp(" + number(worst.root.real()) + " t)";
  return "small oscillations at " + number(omega) + " rad/s grow like exp(" + number(worst.root.real()) +
         " t) (flutter)";
}

// Lagrange and Dirichlet: a strict minimum of the potential energy among the admissible positions is stable.
// This does not apply with velocity conditions, which do not restrict positions, or with forces that have no
// potential.
bool energy_decides(const System& system, const Modes& made) {
  for (const Expr force : system.force)
    if (!system.pool->is_zero(force)) return false;
  return made.second_order && made.symmetric && made.structural_zeros == 0;
}

std::string stable_words(const System& system, const Modes& made, bool damped) {
  if (made.modes.empty()) return "the conditions leave nothing free to move";
  if (damped) return "every small motion dies out";
  if (energy_decides(system, made))
    return "every small motion oscillates: the potential energy has a minimum here";
  return "every small motion oscillates in the linear equations; the energy gives no proof of stability";
}

}  // namespace

void decide(const System& system, Modes& made) {
  const Mode* worst = nullptr;
  bool zero = false, shared = false, damped = !made.second_order;
  for (const Mode& mode : made.modes) {
    zero = zero || mode.zero;
    shared = shared || mode.shared;
    damped = damped && mode.root.real() < 0;
    const bool grows = mode.root.real() > 0 && !mode.shared && !mode.zero;
    if (grows && (!worst || mode.root.real() > worst->root.real())) worst = &mode;
  }
  made.verdict = Stability::undecided;
  std::vector<std::string> touching;
  for (const std::size_t s : made.equilibrium.touching) touching.push_back(system.constraints[s].name);
  if (made.singular) {
    made.reason =
        "the conditions are dependent here and the roots depend on multipliers that are not determined";
  } else if (worst) {
    made.verdict = Stability::unstable;
    made.reason = unstable_words(*worst);
  } else if (!touching.empty()) {
    made.reason = list_text(touching) + (touching.size() > 1 ? " touch" : " touches") +
                  " without pressing: motion to one side differs from motion to the other";
  } else if (zero) {
    made.reason = "a root is 0: the linear equations neither bring the system back nor drive it away";
  } else if (shared) {
    made.reason =
        "two roots fall together and share one mode: the linear motion grows like t, the next order decides";
  } else {
    made.verdict = Stability::stable;
    made.reason = stable_words(system, made, damped);
  }
  // By the quadratic form alone, a negative definite form would be stable and any other unstable.
  const bool form_stable = made.form == Definiteness::negative;
  made.form_misleads = !made.symmetric &&
                       (made.verdict == Stability::stable || made.verdict == Stability::unstable) &&
                       form_stable != (made.verdict == Stability::stable);
}

std::string stability_name(Stability stability) {
  switch (stability) {
    case Stability::stable:
      return "stable";
    case Stability::unstable:
      return "unstable";
    case Stability::undecided:
      return "undecided";
    default:
      return "no equilibrium";
  }
}

std::string definiteness_name(Definiteness definiteness) {
  switch (definiteness) {
    case Definiteness::negative:
      return "negative definite";
    case Definiteness::positive:
      return "positive definite";
    case Definiteness::indefinite:
      return "indefinite";
    case Definiteness::semidefinite:
      return "semidefinite";
    default:
      return "empty";
  }
}

}  // namespace zwang
