// A mechanical system: the user's description as expressions, and everything derived from it. Immutable once
// made.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/layout.h"
#include "src/expression/expression.h"
#include "src/expression/print_expression.h"
#include "src/formula/parse.h"

namespace zwang {

struct Point {
  std::string name;
  std::size_t first = 0;  // number of its first coordinate
  std::size_t dimension = 3;
  Expr mass;  // of parameters
};

// One condition f <= 0, f == 0, g <= 0 or g == 0, in Mayer's sign.
struct ConditionFormula {
  std::string name;
  bool holonomic = true;  // on positions (f) or on velocities (g)
  bool equation = false;
  Expr value;                        // f or g
  std::optional<Expr> end_gradient;  // length of the gradient at one end, for distance conditions
  std::optional<Expr> radius;        // R of a distance condition; must be positive
  Expr restitution;                  // of parameters
  std::optional<Expr> from;          // imposed by a shock at this time; absent: in force from the start
  std::optional<Expr> until;         // lifted at this time; absent: never
  // Maurer's general variation: the auxiliary state that is its multiplier rho; absent: special, Gauss's
  // principle.
  std::optional<std::size_t> general = {};
};

struct ImpulseFormula {
  Expr at;             // time, of parameters
  std::string target;  // the point or coordinate
  std::vector<std::size_t> coordinates;
  std::vector<Expr> amounts;  // gain of velocity, or of momentum, per coordinate
  bool momentum = false;
};

struct WatchFormula {
  std::string name;
  Expr value;
  int direction = 0;
};

struct NamedExpr {
  std::string name;
  Expr value;
};

// One number gathered along the whole motion, such as maximum(x) or count(shock(c)).
struct ReductionFormula {
  Reduction reduction = Reduction::final;
  EventPattern pattern = EventPattern::none;
  std::size_t target = 0;  // condition or watched event of the pattern
  Expr value{};
  std::size_t integral = 0;  // for integral and mean: which integrand
  std::size_t column = 0;    // for rows of a record: which of its values
};

// The least or largest value of an expression over the continuous motion.
inline bool is_extreme(const ReductionFormula& formula) {
  return formula.pattern == EventPattern::none &&
         (formula.reduction == Reduction::minimum || formula.reduction == Reduction::maximum);
}

// States that are kept at events, or at the times k * every + phase.
struct RecordFormula {
  std::string name;
  EventPattern pattern = EventPattern::none;  // none: at a period
  std::size_t target = 0;                     // condition or watched event of the pattern
  Expr every{}, phase{}, from{};              // of parameters
  std::vector<NamedExpr> values;
  bool before = false;  // the velocities before the event
  long long skip = 0;   // occurrences since `from` that do not count
  long long most = 64;  // rows kept
  bool keep_last = false;

  bool periodic() const { return pattern == EventPattern::none; }
  // Numbers of a member (kernels/base/layout.h).
  std::size_t room() const {
    return record_head + static_cast<std::size_t>(most) * (record_row_head + values.size());
  }
};

// One number per member, evaluated at the member's end.
struct Measure {
  std::string name;
  Expr value{};                               // of reductions and parameters; NaN: missing
  bool probability = false;                   // probability(..): 0 or 1, never missing
  std::optional<std::size_t> undecided = {};  // for a probability: the flag of a missing value that decided
};

// Whether a reduction is one over the rows of a record; its target is then the record.
inline bool is_of_record(const ReductionFormula& formula) {
  return formula.reduction >= Reduction::record_count;
}

// The reduction that a measure is, if it is one without anything around it.
std::optional<std::size_t> only_reduction(const Expressions& pool, const Measure& measure);

// The contents of the study, before anything is derived.
struct Description {
  std::shared_ptr<Expressions> pool = std::make_shared<Expressions>();
  std::vector<std::string> parameters;
  std::vector<std::string> coordinates;
  std::vector<std::string> auxiliaries;
  std::vector<Point> points;
  std::vector<Expr> gravity;  // per dimension; empty: none
  Expr kinetic{};             // in addition to that of the points
  Expr potential{};           // in addition to that of gravity
  std::vector<Expr> force;    // per coordinate
  // Per auxiliary; for the multiplier rho of a general condition: that condition's lambda.
  std::vector<Expr> rates;
  std::vector<ConditionFormula> conditions;
  std::vector<ImpulseFormula> impulses;
  std::vector<WatchFormula> watches;
  std::optional<Expr> stop;  // stops when it becomes > 0
  // Jacobi's multiplier [voss-11]: the auxiliary that is the log-density along the flow. The auxiliary after
  // it is 1 once a shock has made the density meaningless, else 0.
  std::optional<std::size_t> density = {};
  std::vector<NamedExpr> observables;
  std::vector<RecordFormula> records;
  std::vector<ReductionFormula> reductions;
  std::vector<Measure> measures;
  // Further numbers per member that are 0 or 1: conditions that select members, and whether a missing value
  // decided a probability. Expressions of reductions and parameters, as the values of measures.
  std::vector<Expr> flags;

  // Numbers per member in the rows of all records.
  std::size_t record_room() const;
  // Numbers per member computed from its reductions: the measures, then the flags.
  std::size_t member_values() const { return measures.size() + flags.size(); }
  std::vector<Expr> member_value_formulas() const;
};

// A condition with its rows: A a + c is f'' (or g').
struct Constraint : ConditionFormula {
  Expr rate{};                       // f' = f_q v + f_t; for g the value itself
  std::vector<std::size_t> columns;  // coordinates with a non-zero entry in A
  std::vector<Expr> row;             // A at those columns
  Expr rest{};                       // c
  Expr reach{};         // reaction per unit of multiplier: the gradient's length (at one end, for distances)
  bool moving = false;  // depends on t
  bool linear = true;   // the row does not depend on v
};

struct MassEntry {
  std::size_t row = 0, column = 0;  // row >= column
  Expr value;
};

// A bound on the step length. Periodic and bump-like functions inside an inequality, a watched function or
// the expression of an extreme can change and return to their value; a step must not be long enough to miss
// that.
struct Turn {
  Expr rate;     // d/dt of the argument of wrap, sin, exp ...
  Expr longest;  // how far the argument may run within one step
};

struct System : Description {
  explicit System(Description description);

  std::size_t size() const { return coordinates.size(); }

  Expr kinetic_energy{};    // T with the points
  Expr potential_energy{};  // V with gravity
  Expr energy{};            // T_v v - T + V: conserved up to the power below; T + V when T is quadratic in v
  Expr power{};  // of the non-potential forces and of explicit time: d(energy)/dt without reactions
  std::vector<MassEntry> mass;  // lower triangle of M, non-zero entries
  std::vector<Expr> applied;    // Q of mechanics section 1
  std::vector<Constraint> constraints;
  std::vector<Expr> integrands;  // of the reductions integral() and mean()
  std::vector<Turn> turns;
  // The roots of these functions are jumps (sign, floor, wrap) and kinks (abs, min, max) of the integrands.
  std::vector<Expr> kinks;
  // For the first of the kinks: an expression that is constant from one root to the next. Integrands contain
  // a symbol for it, which gets its value at the start of a step: a step that starts or ends at a kink is
  // entirely on one side of it, independent of rounding.
  std::vector<Expr> branches;

  // True if a condition belongs to the general variation: its multiplier is a state, and the rate of that
  // state is known only with the accelerations.
  bool any_general() const;
  // No impulse depends on the velocities it changes.
  bool impulses_shift() const;
  // Some watched function, the stop condition or a kink of an integrand depends on multipliers or on which
  // conditions are closed.
  bool reactions_bend() const;

  std::string symbol_name(const Symbol& symbol) const;
  SymbolNamer namer() const {
    return [this](const Symbol& symbol) { return symbol_name(symbol); };
  }
};

// Whether an expression depends on multipliers or on which conditions are closed.
bool mentions_reactions(const Expressions& pool, Expr e);

Constraint derive_constraint(Expressions& pool, const ConditionFormula& formula);

}  // namespace zwang
