// The functions of the emitted model and the order of its text.
#include "src/emit/model_writer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "src/base/error.h"
#include "src/emit/families.h"
#include "src/emit/function.h"
#include "src/emit/head.h"
#include "src/emit/long_model.h"
#include "src/emit/rewrite.h"
#include "src/emit/share.h"
#include "src/emit/solve.h"
#include "src/expression/derivative.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"
#include "src/system/row_structure.h"

namespace zwang {

namespace {

// Beyond this many multiplications, with more than a few conditions, most of them would be spent on rows that
// are not held; the solver then works on the list of held rows.
constexpr long long masked_limit = 1500;
constexpr std::size_t few_conditions = 4;
// Upper bound on the multiplications in the emitted text for any number of conditions, to limit compile time.
constexpr long long text_limit = 40'000;
constexpr long long density_limit = 200'000;

constexpr double infinite = std::numeric_limits<double>::infinity();

using Formulas = std::vector<Expr>;

// With a density, the divergence is the expression of the accelerations differentiated by every velocity and
// auxiliary, which multiplies the size of the text.
bool should_be_masked(const System& system) {
  const long long count = estimated_multiplications(system, text_limit);
  if (system.density) {
    const auto variables = static_cast<long long>(system.size() + system.rates.size());
    if (count * variables <= density_limit) return true;
    throw Error({.message = "logdensity() of a system this large needs the reference backend",
                 .found = std::to_string(system.size()) + " coordinates, " +
                          std::to_string(system.constraints.size()) + " conditions",
                 .expected = "fewer conditions, no logdensity(), or --backend reference"});
  }
  return count <= masked_limit || (system.constraints.size() <= few_conditions && count <= text_limit);
}

const std::vector<Argument> reaction_arguments = {{"const R*", "lambda"}, {"const R*", "held"}};

}  // namespace

ModelWriter::ModelWriter(const System& system, Elimination elimination, std::size_t long_from)
    : system_(system),
      pool_(*system.pool),
      long_(elimination != Elimination::orthogonal && is_long(system, long_from)),
      masked_(long_ || (should_be_masked(system) && (elimination != Elimination::orthogonal ||
                                                     system.density || !system.frictions.empty()))) {}

Function& ModelWriter::add(const std::string& comment, const std::string& result, const std::string& name,
                           std::vector<Argument> more, std::vector<FunctionCase> cases,
                           const std::string& chosen_by) {
  std::vector<Argument> arguments = state_arguments;
  arguments.insert(arguments.end(), more.begin(), more.end());
  functions_.push_back({comment, result, name, std::move(arguments), std::move(cases), chosen_by});
  return functions_.back();
}

Function& ModelWriter::add_choice(const std::string& comment, const std::string& name,
                                  const Formulas& formulas, double otherwise, std::vector<Argument> more) {
  std::vector<FunctionCase> cases;
  for (const Expr e : formulas) cases.push_back({{}, {{"", e}}});
  more.push_back({"int", "i"});
  Function& made = add(comment, "R", name, std::move(more), std::move(cases), "i");
  made.otherwise = otherwise;
  return made;
}

void ModelWriter::add_parameters() {
  const auto or_number = [this](const std::optional<Expr>& e, double number) {
    return e ? *e : pool_.constant(number);
  };
  Formulas impulse_times;
  for (const ImpulseFormula& impulse : system_.impulses) impulse_times.push_back(impulse.at);
  const std::size_t first = functions_.size();
  add_choice("when condition i comes into force", "from",
             of_conditions([&](const Constraint& c) { return or_number(c.from, -infinite); }), -infinite);
  add_choice("and when it is lifted", "until",
             of_conditions([&](const Constraint& c) { return or_number(c.until, infinite); }), infinite);
  add_choice("restitution of condition i", "restitution",
             of_conditions([](const Constraint& c) { return c.restitution; }));
  add_choice("time of impulse i", "impulse_time", impulse_times);
  if (!system_.records.empty()) {
    Formulas every, phase, from;
    for (const RecordFormula& record : system_.records) {
      every.push_back(record.every);
      phase.push_back(record.phase);
      from.push_back(record.from);
    }
    add_choice("period of record i", "record_every", every);
    add_choice("its first time", "record_phase", phase);
    add_choice("nothing earlier is recorded", "record_from", from);
  }
  // These are constant throughout the motion.
  for (std::size_t i = first; i < functions_.size(); ++i)
    functions_[i].arguments = {{"const R*", "k"}, {"int", "i"}};
}

void ModelWriter::add_dynamics() {
  const std::size_t n = system_.size();
  Formulas mass(long_ ? n : n * n, pool_.zero());
  for (const MassEntry& entry : system_.mass)
    if (long_)
      mass[entry.row] = entry.value;
    else
      mass[entry.row * n + entry.column] = mass[entry.column * n + entry.row] = entry.value;
  add(long_ ? "M, its diagonal" : "M, n x n", "void", "mass", {{"R*", "m"}}, {fill_array(pool_, "m", mass)});
  add("Q", "void", "applied", {{"R*", "force"}}, {fill_array(pool_, "force", system_.applied)});
  FunctionCase rates = fill_array(pool_, "z_rate", system_.rates);
  rates.outputs.push_back({"work_rate", system_.power});
  add("z', and the power of all but potential forces and reactions", "void", "rates",
      {{"const R*", "lambda"}, {"R*", "z_rate"}, {"R&", "work_rate"}}, {rates});
  FunctionCase energies;
  energies.outputs = {{"kinetic", system_.kinetic_energy}, {"energy", system_.energy}};
  add("T, and the energy that forces and reactions change", "void", "energies",
      {{"R&", "kinetic"}, {"R&", "energy"}}, {energies})
      .role = FunctionRole::in_steps;
  std::vector<FunctionCase> impulses;
  for (const ImpulseFormula& impulse : system_.impulses) {
    Formulas amounts(n, pool_.zero());
    for (std::size_t k = 0; k < impulse.coordinates.size(); ++k)
      amounts[impulse.coordinates[k]] = impulse.amounts[k];
    impulses.push_back(fill_array(pool_, "amounts", amounts));
  }
  add("impulse i: gain of velocity or momentum by coordinate", "void", "impulse",
      {{"int", "i"}, {"R*", "amounts"}}, impulses, "i");
}

void ModelWriter::add_conditions() {
  std::vector<FunctionCase> rows;
  for (const Constraint& constraint : system_.constraints) {
    Formulas a(system_.size(), pool_.zero());
    for (std::size_t k = 0; k < constraint.columns.size(); ++k) a[constraint.columns[k]] = constraint.row[k];
    FunctionCase made = fill_array(pool_, "a", a);
    const std::vector<Output> scalars = {
        {"value", constraint.value}, {"rate", constraint.rate}, {"rest", constraint.rest}};
    made.outputs.insert(made.outputs.begin(), scalars.begin(), scalars.end());
    rows.push_back(made);
  }
  add("condition i: f, f' (for velocity conditions g, g), c and A: f'' = A a + c", "void", "row",
      {{"int", "i"}, {"R&", "value"}, {"R&", "rate"}, {"R&", "rest"}, {"R*", "a"}}, rows, "i")
      .reads_by_index = true;
  const Formulas values = of_conditions([](const Constraint& c) { return c.value; });
  const Formulas condition_rates = of_conditions([](const Constraint& c) { return c.rate; });
  add_choice("f or g of condition i", "value", values);
  add_choice("f' or g of condition i", "rate", condition_rates);
  add_choice("size of the reaction per unit of multiplier", "reach",
             of_conditions([](const Constraint& c) { return c.reach; }));
  add_choice("R of a distance condition, which must be positive", "radius",
             of_conditions([this](const Constraint& c) { return c.radius ? *c.radius : pool_.one(); }), 1);
  FunctionCase all = fill_array(pool_, "f", values);
  add("f or g of every condition", "void", "values", {{"R*", "f"}}, {all}).role = FunctionRole::in_steps;
  append_array(all, "f_rate", condition_rates);
  add("the same, and f' or g", "void", "levels", {{"R*", "f"}, {"R*", "f_rate"}}, {all}).role =
      FunctionRole::in_steps;
}

// Watched functions, then the stop condition, then jumps and kinks, then changes of mode.
Formulas ModelWriter::signals() const {
  Formulas list;
  for (const WatchFormula& watch : system_.watches) list.push_back(watch.value);
  if (system_.stop) list.push_back(*system_.stop);
  list.insert(list.end(), system_.kinks.begin(), system_.kinks.end());
  for (const Transition& transition : system_.transitions) list.push_back(transition.value);
  return list;
}

void ModelWriter::add_event_functions() {
  Expr bound = pool_.constant(infinite);
  for (const Turn& turn : system_.turns) {
    // Not positive at a pole itself, where the rate is infinite or undefined: no bound at this very point.
    const Expr time = pool_.apply(Op::abs, pool_.divide(turn.longest, turn.rate));
    const Expr one = pool_.if_less(pool_.zero(), time, time, pool_.constant(infinite));
    bound = pool_.is_constant(bound, infinite) ? one : pool_.apply(Op::minimum, bound, one);
  }
  add("longest step that jumps over no period of what is looked for", "R", "turn_bound", {},
      {{{}, {{"", bound}}}})
      .role = FunctionRole::in_steps;
  const Formulas list = signals();
  std::vector<Argument> all = reaction_arguments;
  all.push_back({"R*", "s"});
  add("watched functions, the stop condition, kinks of integrands", "void", "all_signals", std::move(all),
      {fill_array(pool_, "s", list)})
      .role = FunctionRole::in_steps;
  add_choice("one of them", "signal", list, 0, reaction_arguments).reads_by_index = true;
  if (!system_.branches.empty())
    add_choice("of integrands that jump or bend: what is constant in between", "branch", system_.branches, 0,
               reaction_arguments);
}

// Coefficients and bounds, by number of the friction or bound.
void ModelWriter::add_modes() {
  if (system_.transitions.empty()) return;
  Formulas cones, static_cones, tangential, limits, impulse_limits;
  for (const Friction& friction : system_.frictions) {
    cones.push_back(friction.cone);
    static_cones.push_back(friction.cone_static);
    tangential.push_back(system_.constraints[friction.contact].friction->restitution);
  }
  for (const Bound& bound : system_.bounds) {
    limits.push_back(system_.constraints[bound.condition].limit->limit);
    impulse_limits.push_back(system_.constraints[bound.condition].limit->impulse_limit);
  }
  add_choice("friction i: largest |lambda_T| per unit of lambda_N", "cone", cones);
  add_choice("the same in stick", "cone_static", static_cones);
  add_choice("its tangential restitution", "tangential_restitution", tangential);
  add_choice("bound i: of the multiplier", "limit", limits);
  add_choice("and of the impulse", "impulse_limit", impulse_limits);
  if (system_.link_limits.empty()) return;
  Formulas link_limits;
  for (const LinkLimitFormula& link : system_.link_limits) link_limits.push_back(link.limit);
  add_choice("link limit i: of the norm of the loaded multipliers", "link_limit", link_limits);
}

void ModelWriter::add_observation() {
  Formulas observables, reduced;
  for (const NamedExpr& observable : system_.observables) observables.push_back(observable.value);
  for (const ReductionFormula& formula : system_.reductions) reduced.push_back(formula.value);
  std::vector<Argument> reactions = reaction_arguments;
  reactions.push_back({"R*", "out"});
  add("observables", "void", "observe", reactions, {fill_array(pool_, "out", observables)}).role =
      FunctionRole::in_steps;
  add("what measures reduce; 0 where a reduction needs no formula", "void", "measured", reactions,
      {fill_array(pool_, "out", reduced)})
      .role = FunctionRole::in_steps;
  if (!system_.records.empty()) {
    Formulas recorded;
    for (const RecordFormula& record : system_.records)
      for (const NamedExpr& value : record.values) recorded.push_back(value.value);
    add("values of all records", "void", "recorded", reactions, {fill_array(pool_, "out", recorded)});
  }
  add("integrands of measures", "void", "integrands", reactions,
      {fill_array(pool_, "out", system_.integrands)});
}

// Measures and flags from the reductions of a member, once at its end. In the arithmetic of the caller, which
// passes the parameters themselves: no constant of a member is spent on it.
std::string ModelWriter::member_values_text() const {
  FunctionCase made;
  append_array(made, "out", system_.member_value_formulas());
  return function_text(pool_, {},
                       {"measures and flags from the reductions of a whole motion",
                        "void",
                        "combine_reductions",
                        {{"const R*", "k"}, {"const R*", "results"}, {"R*", "out"}},
                        {made}});
}

static constexpr const char* dependent_text =
    "  // share of its diagonal entry below which a pivot is rounding: the row depends on others\n"
    "  template <class R>\n"
    "  ZWANG_DEVICE static R dependent() {\n"
    "    return R(Precision<typename Lanes<R>::Real>::dependent);\n"
    "  }\n";

EmittedModel ModelWriter::write() {
  add_parameters();
  add_dynamics();
  add_conditions();
  add_event_functions();
  add_modes();
  add_observation();
  std::string eliminations;
  if (long_) {
    eliminations = add_long_motion();
  } else if (masked_) {
    add_motion();
    if (has_free_motion(system_, masked_)) add_free_motion();
    add_steps();
    if (rows_may_become_dependent(system_)) add_dependence();
  } else if (has_free_motion(system_, masked_)) {
    add_free_motion();
  }
  if (has_light_events(system_, masked_)) add_light_events();
  const Shared shared(system_, functions_);
  EmittedModel made;
  made.masked = masked_;
  made.is_long = long_;
  made.drives = shared.drives();
  made.text = model_head(system_, masked_, shared.first_mode(), shared.drives());
  made.text += "\n" + model_tables(system_) + "\n" + eliminations;
  made.text += text_of(shared.parameter_names(), shared.make_constants());
  if (masked_) made.text += "\n" + std::string(dependent_text);
  for (const Function& function : functions_) {
    const bool motion = function.role == FunctionRole::motion;
    if (motion && shared.drives() > 0) made.text += "\n" + shared.make_drive();
    made.text += "\n" + text_of(shared.of(function), function);
    if (motion) count_motion(function, shared, made);
  }
  made.text += "\n" + member_values_text();
  made.text = tables_.text() + made.text + "};\n";
  made.series = series(shared);
  return made;
}

std::string ModelWriter::add_long_motion() {
  LongMotion made = write_long_motion(system_, tables_);
  for (Function& function : made.functions) functions_.push_back(std::move(function));
  long_multiplications_ = made.multiplications;
  return made.eliminations;
}

std::string ModelWriter::text_of(const Hoisted& hoisted, const Function& function) {
  return long_ ? rolled_function_text(pool_, hoisted, function, tables_)
               : function_text(pool_, hoisted, function);
}

// The arithmetic of one evaluation of motion(), with and without drive(). A multiplication of the elimination
// comes with a subtraction.
void ModelWriter::count_motion(const Function& motion, const Shared& shared, EmittedModel& made) const {
  Formulas roots;
  for (const FunctionCase& part : motion.cases)
    for (const Output& output : part.outputs) roots.push_back(output.value);
  made.motion_by_kind = count_operations(pool_, shared.in_motion(), roots);
  made.motion_operations =
      count_operations(pool_, shared.constants(), roots).total() + 2 * long_multiplications_;
}

// Steps by power series: their text, or the reason why there is none.
EmittedSeries ModelWriter::series(const Shared& shared) const {
  EmittedSeries none;
  if (!masked_ || long_)
    none.obstacle = "too many conditions";
  else if (!system_.branches.empty())
    none.obstacle = "an integral of abs, sign, min, max, floor or wrap";
  else if (free_rates_.empty())
    none.obstacle = "a condition that always holds";
  else
    return emit_series(pool_, shared.constants(), free_rates_);
  return none;
}

}  // namespace zwang
