// Compares the compiled emitted models with the reference: every function of every study in configs/ and of
// some systems made to be difficult, at random states with random sets of held conditions.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "src/emit/long_model.h"
#include "src/emit/solve.h"
#include "src/laws/least_constraint.h"
#include "src/system/divergence.h"
#include "src/system/mass_metric.h"
#include "tests/support/emit_subjects.h"

namespace zwang::emitted_model_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Both implementations round some dozens of operations, in different order.
constexpr double rounding = 1e-12;
constexpr int states_per_subject = 20;

EmittedModels compiled(const std::vector<Subject>& subjects,
                       const std::vector<std::string>& kinds = {"plain"}) {
  std::vector<const System*> systems;
  for (const Subject& made : subjects) systems.push_back(made.system.get());
  return EmittedModels(systems, kinds);
}

// The reference at one point, compared with the emitted model.
class Comparison {
 public:
  Comparison(const Subject& made, const CallPoint& at, const EmittedModels& models, std::size_t number)
      : system_(*made.system),
        equations_(system_, at.parameters),
        at_(at),
        models_(models),
        number_(number) {}

  void everything() {
    schedule();
    dynamics();
    conditions();
    event_functions();
    observation();
    if (call("sizes")[12] != 0) free_motion();
    if (call("sizes")[11] == 0) return;  // not masked
    motion();
    step("position_step", true);
    step("velocity_step", false);
  }

 private:
  std::vector<double> call(const std::string& name, std::size_t i = 0) const {
    return models_.call(number_, "plain", name, at_, i);
  }

  static void expect_close(double actual, double expected, double tolerance, const std::string& what) {
    if (std::isnan(expected) || std::isinf(expected)) {
      EXPECT_TRUE(std::isnan(expected) ? std::isnan(actual) : actual == expected) << what << ": " << actual;
      return;
    }
    EXPECT_LE(std::abs(actual - expected), tolerance) << what << ": " << actual << " for " << expected;
  }

  // The tolerance is the rounding error of the formula as it was written.
  void expect_formulas(const std::vector<double>& actual, const std::vector<Expr>& formulas,
                       const std::string& what, std::size_t first = 0) const {
    const auto scaled = [](const auto& list) {
      std::vector<Scaled> made;
      for (const double x : list) made.emplace_back(x);
      return made;
    };
    const std::vector<Scaled> p = scaled(at_.parameters), q = scaled(at_.state.q), v = scaled(at_.state.v),
                              z = scaled(at_.state.z), lambda = scaled(at_.lambda), held = scaled(at_.held);
    const Scaled t(at_.state.t);
    const std::vector<Scaled> modes(system_.modes, Scaled(0));  // nothing slips or yields
    const std::vector<Scaled> branches =
        Program(*system_.pool, system_.branches).run<Scaled>({t, p, q, v, z, lambda, held, {}, modes});
    const std::vector<Scaled> expected =
        Program(*system_.pool, formulas).run<Scaled>({t, p, q, v, z, lambda, held, branches, modes});
    for (std::size_t k = 0; k < formulas.size(); ++k)
      expect_close(actual[first + k], expected[k].value, rounding * expected[k].scale,
                   what + " " + std::to_string(k));
  }
  void expect_formula(const std::string& name, std::size_t i, Expr e) const {
    expect_formulas(call(name, i), {e}, name + " of " + std::to_string(i));
  }

  void schedule() const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Expressions& pool = *system_.pool;
    for (std::size_t i = 0; i < system_.constraints.size(); ++i) {
      const Constraint& c = system_.constraints[i];
      expect_formula("from", i, c.from.value_or(pool.constant(-infinity)));
      expect_formula("until", i, c.until.value_or(pool.constant(infinity)));
      expect_formula("restitution", i, c.restitution);
      expect_formula("radius", i, c.radius.value_or(pool.one()));
    }
    for (std::size_t j = 0; j < system_.impulses.size(); ++j) {
      const ImpulseFormula& impulse = system_.impulses[j];
      expect_formula("impulse_time", j, impulse.at);
      std::vector<Expr> amounts(system_.size(), pool.zero());
      for (std::size_t k = 0; k < impulse.coordinates.size(); ++k)
        amounts[impulse.coordinates[k]] = impulse.amounts[k];
      expect_formulas(call("impulse", j), amounts, "impulse");
      EXPECT_EQ(call("impulse_is_momentum", j)[0], impulse.momentum);
    }
  }

  void dynamics() const {
    const std::size_t n = system_.size();
    const bool diagonal = is_long(system_);
    std::vector<Expr> mass(diagonal ? n : n * n, system_.pool->zero());
    for (const MassEntry& e : system_.mass) {
      if (diagonal)
        mass[e.row] = e.value;
      else
        mass[e.row * n + e.column] = mass[e.column * n + e.row] = e.value;
    }
    expect_formulas(call("mass"), mass, "mass");
    expect_formulas(call("applied"), system_.applied, "applied");
    expect_formulas(call("rates"), {system_.power}, "power");
    expect_formulas(call("rates"), system_.rates, "rates", 1);
    expect_formulas(call("energies"), {system_.kinetic_energy, system_.energy}, "energies");
  }

  void conditions() const {
    const std::size_t r = system_.constraints.size();
    std::vector<Expr> levels(2 * r);
    for (std::size_t i = 0; i < r; ++i) {
      const Constraint& c = system_.constraints[i];
      levels[i] = c.value;
      levels[r + i] = c.rate;
      std::vector<Expr> row = {c.value, c.rate, c.rest};
      row.resize(3 + system_.size(), system_.pool->zero());
      for (std::size_t k = 0; k < c.columns.size(); ++k) row[3 + c.columns[k]] = c.row[k];
      expect_formulas(call("row", i), row, "row " + std::to_string(i));
      expect_formula("value", i, c.value);
      expect_formula("rate", i, c.rate);
      expect_formula("reach", i, c.reach);
      EXPECT_EQ((std::vector<double>{double(c.equation), double(c.holonomic), double(c.linear)}),
                first(call("condition", i), 3));
    }
    expect_formulas(call("levels"), levels, "levels");
    levels.resize(r);
    expect_formulas(call("values"), levels, "values");
  }

  void event_functions() const {
    double bound = std::numeric_limits<double>::infinity();
    for (const Turn& turn : system_.turns) {
      const double rate = value_of(turn.rate), longest = value_of(turn.longest);
      if (rate != 0) bound = std::min(bound, std::abs(longest / rate));
    }
    // Compared as rates: terms of unit size that cancel leave their rounding, and a bound of 1e16 or none.
    expect_close(1 / call("turn_bound")[0], 1 / bound, rounding * (1 + 1 / bound), "turn_bound");
    std::vector<Expr> signals;
    for (std::size_t k = 0; k < system_.watches.size(); ++k) {
      signals.push_back(system_.watches[k].value);
      EXPECT_EQ(call("watch_direction", k)[0], system_.watches[k].direction);
    }
    if (system_.stop) signals.push_back(*system_.stop);
    signals.insert(signals.end(), system_.kinks.begin(), system_.kinks.end());
    for (const Transition& transition : system_.transitions) signals.push_back(transition.value);
    expect_formulas(call("all_signals"), signals, "signals");
    for (std::size_t k = 0; k < signals.size(); ++k) expect_formula("signal", k, signals[k]);
  }

  void observation() const {
    std::vector<Expr> observables, measures;
    for (const NamedExpr& observable : system_.observables) observables.push_back(observable.value);
    for (std::size_t k = 0; k < system_.reductions.size(); ++k) {
      const ReductionFormula& m = system_.reductions[k];
      measures.push_back(m.value);
      EXPECT_EQ(
          (std::vector<double>{double(m.reduction), double(m.pattern), double(m.target), double(m.integral)}),
          first(call("measure", k), 4));
    }
    expect_formulas(call("observe"), observables, "observable");
    expect_formulas(call("measured"), measures, "measure");
    // On its branch an integrand is the formula of the study.
    std::vector<Expr> integrands(system_.integrands.size());
    for (const ReductionFormula& m : system_.reductions)
      if (m.reduction == Reduction::integral || m.reduction == Reduction::mean)
        integrands[m.integral] = m.value;
    expect_formulas(call("integrands"), integrands, "integrand");
    expect_formulas(call("integrands"), system_.integrands, "integrand on its branch");
    expect_formulas(call("branches"), system_.branches, "branch");
  }

  // The held rows, in the order of the conditions.
  std::vector<std::size_t> held(bool holonomic_only) const {
    std::vector<std::size_t> set;
    for (std::size_t i = 0; i < at_.held.size(); ++i)
      if (at_.held[i] > 0 && (!holonomic_only || system_.constraints[i].holonomic)) set.push_back(i);
    return set;
  }

  void expect_auxiliary(double actual, std::size_t j, const std::vector<std::size_t>& set,
                        const Accelerations& expected) const;
  void motion() const;
  void step(const std::string& name, bool positions) const;
  void free_motion() const;
  void expect_accelerations(const std::vector<double>& actual, const Accelerations& expected,
                            double condition) const;
  // The amplification of rounding: the worst ratio of the lengths of unit rows in the mass metric; infinite
  // where the rows are linearly dependent.
  double conditioning(const std::vector<std::size_t>& set) const;

  double value_of(Expr e) const { return equations_.evaluate(Program(*system_.pool, {e}), at_.state); }
  static std::vector<double> first(std::vector<double> list, std::size_t count) {
    list.resize(count);
    return list;
  }

  const System& system_;
  Equations equations_;
  const CallPoint& at_;
  const EmittedModels& models_;
  std::size_t number_;
};

double Comparison::conditioning(const std::vector<std::size_t>& set) const {
  if (set.empty()) return 1;
  MatrixXd rows(static_cast<Index>(set.size()), static_cast<Index>(system_.size()));
  for (std::size_t k = 0; k < set.size(); ++k)
    rows.row(static_cast<Index>(k)) = equations_.row(set[k], at_.state).a;
  const MatrixXd b = MassMetric(equations_.mass(at_.state)).rows(rows).rowwise().normalized();
  const VectorXd sizes = b.jacobiSvd().singularValues();
  if (set.size() > system_.size() || !(sizes.minCoeff() > 1e-6 * sizes.maxCoeff()))
    return std::numeric_limits<double>::infinity();
  return std::pow(sizes.maxCoeff() / sizes.minCoeff(), 2);
}

void Comparison::expect_accelerations(const std::vector<double>& actual, const Accelerations& expected,
                                      double condition) const {
  const std::size_t n = system_.size();
  const VectorXd free = MassMetric(expected.dynamics.mass).solve(expected.dynamics.applied);
  const bool independent = std::isfinite(condition);
  // With dependent rows both implementations leave out components that are mere rounding, each in its own
  // way.
  const double tolerance = independent ? rounding * condition : 1e-8;
  const double size = free.norm() + expected.a.norm();
  for (std::size_t i = 0; i < n; ++i) {
    // Turns of bodies in space stay zero.
    EXPECT_EQ(actual[i], system_.is_turn(i) ? 0 : at_.state.v(static_cast<Index>(i)));
    expect_close(actual[n + i], expected.a(static_cast<Index>(i)), tolerance * size,
                 "a " + std::to_string(i));
  }
  const std::size_t multipliers = 2 * n + system_.rates.size() + system_.integrands.size() + 1;
  for (std::size_t i = 0; i < at_.held.size(); ++i) {
    const double lambda = actual[multipliers + i];
    if (at_.held[i] == 0) expect_close(lambda, 0, 0, "not held " + std::to_string(i));
    if (independent)
      expect_close(lambda, expected.multipliers(static_cast<Index>(i)),
                   tolerance * (1 + expected.multipliers.norm()), "lambda " + std::to_string(i));
  }
}

// z': the formula of the study; for the multiplier of a general condition the lambda found; for the
// log-density minus the divergence.
void Comparison::expect_auxiliary(double actual, std::size_t j, const std::vector<std::size_t>& set,
                                  const Accelerations& expected) const {
  const std::string what = "z' " + std::to_string(j);
  const double condition = conditioning(set);
  if (!std::isfinite(condition)) return;
  const double tolerance = rounding * condition;
  if (system_.density == j) {
    const double divergence = FlowDivergence(equations_).at(at_.state, set, expected.a, expected.multipliers);
    expect_close(actual, -divergence, 100 * tolerance * (1 + std::abs(divergence)), what);
  } else if (system_.pool->mentions(system_.rates[j], SymbolKind::multiplier)) {
    const double rate = expected.dynamics.rates(static_cast<Index>(j));
    expect_close(actual, rate, tolerance * (1 + expected.multipliers.norm()), what);
  } else {
    expect_formulas({actual}, {system_.rates[j]}, what);
  }
}

void Comparison::motion() const {
  const std::vector<std::size_t> set = held(false);
  const Accelerations expected = constrained_acceleration(equations_, at_.state, set);
  if (expected.status != Status::ok) return;
  const std::vector<double> actual = call("motion");
  const std::size_t n = system_.size(), nz = system_.rates.size(), integrals = system_.integrands.size();
  const std::size_t works = system_.does_work() ? 1 : 0;
  expect_accelerations(actual, expected, conditioning(set));

  // The rest follows from the multipliers that the model found.
  CallPoint solved = at_;
  solved.lambda.assign(
      actual.begin() + static_cast<std::ptrdiff_t>(2 * n + nz + integrals + 1),
      actual.begin() + static_cast<std::ptrdiff_t>(2 * n + nz + integrals + 1 + at_.held.size()));
  for (std::size_t j = 0; j < nz; ++j) expect_auxiliary(actual[2 * n + j], j, set, expected);
  const std::vector<double> integrands = models_.call(number_, "plain", "integrands", solved);
  for (std::size_t k = 0; k < integrals; ++k)
    expect_close(actual[2 * n + nz + k], integrands[k], rounding * (1 + std::abs(integrands[k])),
                 "integrand");
  double work = expected.dynamics.power, size = std::abs(work);
  for (std::size_t i = 0; i < at_.held.size(); ++i) {
    if (solved.lambda[i] == 0) continue;
    // -lambda A v; for a position condition that is held f' = 0, and lambda f_t is left.
    const Row row = equations_.row(i, at_.state);
    const VectorXd parts = solved.lambda[i] * row.a.transpose().cwiseProduct(at_.state.v);
    work -= parts.sum();
    if (system_.constraints[i].holonomic) work += solved.lambda[i] * row.rate;
    size += parts.lpNorm<1>();
  }
  if (works == 1) expect_close(actual[2 * n + nz + integrals], work, rounding * (1 + size), "work'");
}

void Comparison::free_motion() const {
  const std::vector<double> actual = call("free_motion");
  const Accelerations free = constrained_acceleration(equations_, at_.state, {});
  for (std::size_t i = 0; free.status == Status::ok && i < system_.size(); ++i)
    expect_close(actual[system_.size() + i], free.a(static_cast<Index>(i)),
                 conditioning({}) * rounding * (1 + free.a.norm()), "free a " + std::to_string(i));
  if (call("sizes")[11] == 0) return;  // not masked
  CallPoint none = at_;
  none.held.assign(at_.held.size(), 0);
  none.lambda = none.held;
  const std::size_t size = 2 * system_.size() + system_.rates.size() + system_.integrands.size() + 1;
  const std::vector<double> expected = models_.call(number_, "plain", "motion", none);
  for (std::size_t i = 0; i < size; ++i)
    expect_close(actual[i], expected[i], rounding * (1 + std::abs(expected[i])), "free " + std::to_string(i));
}

void Comparison::step(const std::string& name, bool positions) const {
  const std::vector<std::size_t> set = held(positions);
  const std::vector<double> actual = call(name);
  MatrixXd rows(static_cast<Index>(set.size()), static_cast<Index>(system_.size()));
  VectorXd residuals(static_cast<Index>(set.size()));
  std::vector<double> expected(at_.held.size(), 0);
  for (std::size_t k = 0; k < set.size(); ++k) {
    const Row row = equations_.row(set[k], at_.state);
    rows.row(static_cast<Index>(k)) = row.a;
    expected[set[k]] = residuals(static_cast<Index>(k)) = positions ? row.value : row.rate;
  }
  for (std::size_t i = 0; i < expected.size(); ++i)
    expect_close(actual[i], expected[i], rounding * (10 + std::abs(expected[i])),
                 name + " " + std::to_string(i));
  const double condition = conditioning(set);
  if (!std::isfinite(condition) || !residuals.allFinite()) return;
  const VectorXd change = MassMetric(equations_.mass(at_.state)).smallest_change(rows, -residuals).x;
  for (std::size_t i = 0; i < system_.size(); ++i)
    expect_close(actual[expected.size() + i], change(static_cast<Index>(i)),
                 rounding * condition * (1 + change.norm()), name + " change " + std::to_string(i));
}

void compare(const std::vector<Subject>& subjects) {
  const EmittedModels models = compiled(subjects);
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    SCOPED_TRACE(subjects[i].name);
    Dice dice(100 + i);
    for (int k = 0; k < states_per_subject; ++k) {
      const CallPoint at = random_point(subjects[i], dice);
      Comparison(subjects[i], at, models, i).everything();
      if (testing::Test::HasFailure()) return;  // one state is enough
    }
  }
}

TEST(EmitTruth, EveryFunctionOfEveryStudysModelAgreesWithTheReference) { compare(configured_systems()); }

TEST(EmitTruth, EveryFunctionOfAwkwardModelsAgreesWithTheReference) { compare(awkward_systems()); }

TEST(EmitTruth, EveryFunctionOfLongModelsAgreesWithTheReference) {
  const std::vector<Subject> subjects = long_systems();
  for (const Subject& made : subjects) EXPECT_TRUE(is_long(*made.system)) << made.name;
  compare(subjects);
}

// The same text with packs, whose other lanes hold other conditions, and with numbers that carry their
// rounding scale.
TEST(EmitTruth, AMemberHasTheSameBitsAloneAndAmongNeighbours) {
  std::vector<Subject> subjects = awkward_systems();
  subjects.erase(subjects.begin() + 3);  // the system with many conditions is not masked, and slow to compile
  for (const Subject& made : long_systems()) subjects.push_back(made);
  const EmittedModels models = compiled(subjects, {"plain", "pack", "alone", "scaled", "single"});
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    SCOPED_TRACE(subjects[i].name);
    Dice dice(200 + i);
    for (int k = 0; k < states_per_subject; ++k) {
      const CallPoint at = random_point(subjects[i], dice);
      for (const char* name :
           {"motion", "position_step", "velocity_step", "values", "levels", "observe", "mass"}) {
        const std::vector<double> plain = models.call(i, "plain", name, at),
                                  pack = models.call(i, "pack", name, at),
                                  alone = models.call(i, "alone", name, at);
        for (std::size_t j = 0; j < pack.size(); ++j) {
          ASSERT_TRUE(alone[j] == pack[j] || (std::isnan(alone[j]) && std::isnan(pack[j])))
              << name << " " << j << ": " << alone[j] << " and " << pack[j];
          // Sines and cosines of packs differ from the library's by rounding.
          constexpr double rounding_of_sines = 1e-11;
          if (!std::isnan(pack[j]) || !std::isnan(plain[j])) {
            ASSERT_NEAR(pack[j], plain[j], rounding_of_sines * (1 + std::abs(plain[j]))) << name << " " << j;
          }
        }
      }
      for (std::size_t c = 0; c < subjects[i].system->constraints.size(); ++c)
        ASSERT_EQ(models.call(i, "plain", "value", at, c), models.call(i, "scaled", "value", at, c));
    }
  }
}

// log(x) is undefined at x < 0, and 1/y is infinite at 0: conditions that are not held do not spoil the
// others.
TEST(EmitTruth, AConditionThatIsNotHeldMayBeUndefined) {
  SystemBuilder builder;
  builder.point("p", "1", {-1, 0}, {0.5, 0}).gravity({"0", "-9.81"});
  builder.require("log", "log(p.x) <= 0").require("pole", "1/p.y <= 7").require("floor", "p.y >= 0");
  const std::vector<Subject> subjects = {subject("undefined", builder)};
  const EmittedModels models = compiled(subjects);
  const CallPoint at{{}, subjects[0].start, {0, 0, 0}, {0, 0, 1}};
  const std::vector<double> motion = models.call(0, "plain", "motion", at);
  // Rates, then the place of the work (none is done here), then multipliers.
  EXPECT_EQ(std::vector<double>(motion.begin(), motion.begin() + 4), (std::vector<double>{0.5, 0, 0, 0}));
  EXPECT_EQ(std::vector<double>(motion.begin() + 5, motion.begin() + 8), (std::vector<double>{0, 0, 9.81}));
  const std::vector<double> moved = models.call(0, "plain", "position_step", at);
  EXPECT_EQ(std::vector<double>(moved.begin(), moved.begin() + 5), (std::vector<double>{0, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace zwang::emitted_model_test
