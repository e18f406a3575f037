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
#include "src/system/body.h"

namespace zwang {

struct Point {
  std::string name;
  std::size_t first = 0;  // number of its first coordinate
  std::size_t dimension = 3;
  Expr mass;  // of parameters
};

// Coulomb friction at a contact. Its slip speeds are conditions of their own, listed after it
// (ConditionFormula::slip_of).
struct FrictionFormula {
  Expr coefficient, coefficient_static;  // mu and mu_s, of parameters
  Expr restitution;                      // e_t, of parameters
  // The slip was derived from the geometry: mu multiplies the force at the point, lambda_N times the length of
  // the gradient. Otherwise it multiplies lambda_N.
  bool derived = false;
  // Symbols of kind mode: one for each slip speed, the direction of the slip (a unit vector; 0 while the contact
  // does not slip); for two slip speeds a third one, a speed of the size of rounding (src/system/friction.h).
  std::size_t first_mode = 0;
};
constexpr std::size_t friction_modes(std::size_t slip_speeds) { return slip_speeds == 1 ? 1 : 3; }

// A bound on the multiplier of a condition.
struct LimitFormula {
  Expr limit;           // of parameters
  Expr impulse_limit;   // of parameters; may be infinite
  bool breaks = false;  // at the bound the condition is gone for good
  // Symbols of kind mode, unless it breaks: the sign with which it yields (0 while it holds), and for conditions
  // on positions the value f* at which it holds.
  std::size_t sign = 0, offset = 0;
};

// A bound on the force or on the torque of a link of several conditions: where the norm of the loaded multipliers
// reaches it, all conditions of the link are gone for good.
struct LinkLimitFormula {
  std::string name;                 // of the link; with ", torque" after it for the bound on the torque
  std::size_t first = 0, rows = 0;  // the conditions of the link, one after the other
  std::size_t first_loaded = 0, loaded = 0;  // those whose multipliers are the force, or the torque
  Expr limit;                                // of parameters
  // impulse_limit = inf: in shocks the link is as any other. Otherwise impulse_limit = 0: it takes no part in them,
  // and the first one that moves its ends against each other breaks it [limit-4].
  bool bears_impulses = false;
};

// One condition f <= 0, f == 0, g <= 0 or g == 0, in Mayer's sign.
struct ConditionFormula {
  std::string name;
  bool holonomic = true;  // on positions (f) or on velocities (g)
  bool equation = false;
  Expr value;                         // f or g
  std::optional<Expr> end_gradient;   // length of the gradient at one end, for distance conditions
  std::optional<Expr> radius;         // R of a distance condition; must be positive
  std::vector<Expr> difference = {};  // the vector between the ends of a distance condition
  Expr restitution;                   // of parameters
  std::optional<Expr> from;           // imposed by a shock at this time; absent: in force from the start
  std::optional<Expr> until;          // lifted at this time; absent: never
  // Maurer's general variation: the auxiliary state that is its multiplier rho; absent: special, Gauss's
  // principle.
  std::optional<std::size_t> general = {};
  std::optional<FrictionFormula> friction = {};  // of an inequality on positions
  std::optional<LimitFormula> limit = {};
  // The slip speed of a contact: an equation that is in force while the contact sticks.
  std::optional<std::size_t> slip_of = {};  // the contact
  // The number of the link whose row this is. The rows of a link are independent of each other in the coordinates of
  // either of its ends alone, as far as they have entries there.
  std::optional<std::size_t> link = {};
  // The row of a link that breaks as a whole (Description::link_limits).
  bool breaks_with_link = false;
  // Auxiliary states: the energy that friction or a bound has dissipated, and 1 once the condition is broken.
  std::optional<std::size_t> dissipated = {}, broken = {};
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
  std::vector<Body> bodies;
  std::vector<Expr> gravity;  // per dimension; empty: none
  Expr kinetic{};             // in addition to that of points and bodies
  Expr potential{};           // in addition to that of gravity
  std::vector<Expr> force;    // per coordinate
  // Per auxiliary; for the multiplier rho of a general condition: that condition's lambda.
  std::vector<Expr> rates;
  std::vector<ConditionFormula> conditions;
  std::vector<LinkLimitFormula> link_limits;
  std::size_t modes = 0;  // numbers of kind mode, set at events
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

  // Whether a coordinate is an angle of infinitesimal turns of a body in space, which has no value of its own.
  bool is_turn(std::size_t coordinate) const;
  // Whether an auxiliary state belongs to the orientation of a body in space.
  bool is_orientation(std::size_t auxiliary) const;
  // "load.x'"; "box.wx" for a rate of a body in space.
  std::string velocity_name(std::size_t coordinate) const;

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

// A contact with friction. In slip the force on the slip row k is drag[k] lambda_N, in stick it is the
// multiplier of that row [friction-3].
struct Friction {
  std::size_t contact = 0;        // its condition
  std::vector<std::size_t> rows;  // the conditions that are its slip speeds, one or two
  std::size_t first_mode = 0;     // as in FrictionFormula
  Expr cone{}, cone_static{};     // |lambda_T| <= cone lambda_N
  std::vector<Expr> drag;         // lambda_T per unit of lambda_N in slip; 0 while the contact does not slip
};

// A condition with a bounded multiplier [limit-1].
struct Bound {
  std::size_t condition = 0;
  bool breaks = false;
  std::optional<std::size_t> sign = {}, offset = {};  // as in LimitFormula, where there are such modes
};

// A change of mode: it happens where `value` rises through zero, while the mode it ends is in force.
enum class TransitionKind : int {
  slide,  // a sticking contact reaches its cone
  stick,  // the slip of a contact vanishes, or turns by a right angle
  yield,  // the multiplier of a holding condition reaches its bound
  lock,   // the rate of a yielding condition vanishes
  fail,   // the multiplier of a condition that breaks reaches its bound
  part,   // the force or the torque of a link reaches its bound
};
struct Transition {
  TransitionKind kind = TransitionKind::slide;
  std::size_t of = 0;  // number among System::frictions, System::bounds or System::link_limits
  Expr value{};
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

  Expr kinetic_energy{};    // T with points and bodies
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

  // Friction and bounds, derived from the conditions (src/system/friction.h).
  std::vector<Friction> frictions;
  std::vector<Bound> bounds;
  std::vector<Transition> transitions;

  // Whether some multiplier is bounded: by friction, by a limit of its own or by that of its link.
  bool bounds_forces() const { return !transitions.empty(); }
  // True where the rate of an auxiliary state, or the power, depends on multipliers.
  bool rates_need_multipliers() const;
  // Whether anything but potential forces may change the energy in smooth motion: the work is then integrated with it.
  bool does_work() const;
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

// Kinetic energy of points and bodies, and potential energy of gravity on them, added to those of the study.
Expr whole_kinetic_energy(const Description& description);
Expr whole_potential_energy(const Description& description);

// Whether the time is in none of the formulas of motion, conditions, events, integrals and extremes.
bool is_autonomous(const System& system);

}  // namespace zwang
