// Builds a system and one member from a few strings, for tests without a study file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "src/expression/derivative.h"
#include "src/reference/reference.h"

namespace zwang {

// A system with one member's numbers and its start.
struct Mechanism {
  std::unique_ptr<System> system;
  std::unique_ptr<Equations> equations;
  State start;

  // As for a study: the start is projected onto the conditions, then the motion runs.
  Trajectory run(double end, const IntegratorSettings& settings = {},
                 const std::vector<double>& outputs = {}) const {
    State state = start;
    const Start preparation = prepare_start(*equations, settings, state);
    Trajectory made;
    made.status = preparation.status;
    if (preparation.status == Status::ok)
      made = simulate(*equations, settings, Plan{outputs, end, false}, state);
    made.position_moved = preparation.position_moved;
    made.velocity_moved = preparation.velocity_moved;
    made.start_consistent = preparation.consistent;
    return made;
  }
};

// Names must be given before the formulas that use them.
class SystemBuilder {
 public:
  SystemBuilder& parameter(const std::string& name, double value) {
    scope_.scalars[name] = {pool().symbol(SymbolKind::parameter, values_.size()), {}, allow_parameters};
    made_.parameters.push_back(name);
    values_.push_back(value);
    return *this;
  }

  // One to three coordinates; no velocity: at rest.
  SystemBuilder& point(const std::string& name, const std::string& mass, const std::vector<double>& position,
                       std::vector<double> velocity = {}) {
    velocity.resize(position.size(), 0);
    VectorName vector;
    made_.points.push_back({name, made_.coordinates.size(), position.size(), formula(mass)});
    for (std::size_t k = 0; k < position.size(); ++k) {
      coordinate(name + "." + "xyz"[k], position[k], velocity[k]);
      vector.position.push_back(pool().symbol(SymbolKind::coordinate, made_.coordinates.size() - 1));
      vector.velocity.push_back(pool().symbol(SymbolKind::velocity, made_.coordinates.size() - 1));
    }
    scope_.vectors[name] = vector;
    return *this;
  }

  SystemBuilder& coordinate(const std::string& name, double position, double velocity = 0) {
    const std::size_t i = made_.coordinates.size();
    scope_.scalars[name] = {pool().symbol(SymbolKind::coordinate, i), pool().symbol(SymbolKind::velocity, i),
                            allow_positions};
    made_.coordinates.push_back(name);
    made_.force.push_back(pool().zero());
    q_.push_back(position);
    v_.push_back(velocity);
    return *this;
  }

  SystemBuilder& anchor(const std::string& name, const std::vector<std::string>& position) {
    VectorName vector;
    vector.is_anchor = true;
    for (std::size_t k = 0; k < position.size(); ++k) {
      vector.position.push_back(formula(position[k]));
      vector.velocity.push_back(total_derivative(pool(), vector.position[k]));
      scope_.scalars[name + "." + "xyz"[k]] = {vector.position[k], vector.velocity[k], allow_time};
    }
    scope_.vectors[name] = vector;
    return *this;
  }

  SystemBuilder& auxiliary(const std::string& name, double initial, const std::string& rate) {
    scope_.scalars[name] = {pool().symbol(SymbolKind::auxiliary, z_.size()), {}, allow_auxiliaries};
    made_.auxiliaries.push_back(name);
    z_.push_back(initial);
    made_.rates.push_back(formula(rate));
    return *this;
  }

  SystemBuilder& gravity(const std::vector<std::string>& acceleration) {
    for (const std::string& text : acceleration) made_.gravity.push_back(formula(text));
    return *this;
  }
  SystemBuilder& kinetic(const std::string& text) { return made_.kinetic = formula(text), *this; }
  SystemBuilder& potential(const std::string& text) { return made_.potential = formula(text), *this; }
  SystemBuilder& force(const std::string& name, const std::string& text) {
    return made_.force[coordinate_index(name)] = formula(text), *this;
  }

  // `from` and `until`: formulas of parameters, empty for always.
  SystemBuilder& require(const std::string& name, const std::string& text,
                         const std::string& restitution = "0", const std::string& from = "",
                         const std::string& until = "") {
    const Condition condition = parse_condition(pool(), text, scope_, allow_motion, {.place = name}, false);
    ConditionFormula made = distance_condition(condition);
    made.name = name;
    made.equation = condition.comparison == Comparison::equal;
    made.restitution = formula(restitution);
    if (!from.empty()) made.from = formula(from);
    if (!until.empty()) made.until = formula(until);
    name_condition(made);
    made_.conditions.push_back(made);
    return *this;
  }

  // The condition required last, with its multiplier at the start.
  SystemBuilder& varied_generally(double multiplier) {
    made_.conditions.back().general = z_.size();
    return auxiliary(made_.conditions.back().name + ".multiplier", multiplier, "0");
  }

  // No function that adds a state may be called after this.
  SystemBuilder& density() {
    made_.density = z_.size();
    return auxiliary("logdensity", 0, "0").auxiliary("logdensity.lost", 0, "0");
  }

  // The change of the free body: velocity, or momentum.
  SystemBuilder& impulse(const std::string& at, const std::string& on,
                         const std::vector<std::string>& amounts, bool momentum = false) {
    ImpulseFormula made;
    made.at = formula(at);
    made.target = on;
    made.momentum = momentum;
    const bool is_point = scope_.vectors.contains(on);
    for (std::size_t k = 0; k < amounts.size(); ++k) {
      made.coordinates.push_back(coordinate_index(is_point ? on + "." + "xyz"[k] : on));
      made.amounts.push_back(formula(amounts[k]));
    }
    made_.impulses.push_back(made);
    return *this;
  }

  SystemBuilder& watch(const std::string& name, const std::string& when, int direction = 0) {
    made_.watches.push_back({name, formula(when), direction});
    scope_.events.push_back(name);
    return *this;
  }
  SystemBuilder& stop(const std::string& text) {
    const Condition c = parse_condition(pool(), text, scope_, allow_all, {.place = "stop"}, true);
    const bool greater = c.comparison == Comparison::greater || c.comparison == Comparison::greater_equal;
    made_.stop = greater ? pool().subtract(c.left, c.right) : pool().subtract(c.right, c.left);
    return *this;
  }
  SystemBuilder& observe(const std::string& name, const std::string& text) {
    made_.observables.push_back({name, formula(text)});
    return *this;
  }
  SystemBuilder& measure(const std::string& text) {
    const MeasureFormula parsed = parse_measure(pool(), text, scope_, measure_scope(), {.place = "measure"});
    made_.measures.push_back({.name = text, .value = parsed.value, .probability = parsed.probability});
    return *this;
  }
  // Reductions get the next free number.
  MeasureScope measure_scope() {
    MeasureScope made;
    made.allowed_inside = allow_all;
    made.reduce = [this](const ReducedFormula& reduced) {
      ReductionFormula formula{
          .reduction = reduced.reduction, .pattern = reduced.pattern, .value = reduced.value};
      for (std::size_t i = 0; i < made_.conditions.size(); ++i)
        if (made_.conditions[i].name == reduced.name) formula.target = i;
      for (std::size_t i = 0; i < scope_.events.size() && reduced.pattern == EventPattern::watched; ++i)
        if (scope_.events[i] == reduced.name) formula.target = i;
      made_.reductions.push_back(formula);
      return pool().symbol(SymbolKind::reduction, made_.reductions.size() - 1);
    };
    return made;
  }
  const Description& description() const { return made_; }

  Expr formula(const std::string& text) {
    return parse_expression(pool(), text, scope_, allow_all, {.place = "test"});
  }
  Expressions& pool() { return *made_.pool; }
  const Scope& scope() const { return scope_; }

  Mechanism make() const {
    Mechanism mechanism;
    mechanism.system = std::make_unique<System>(made_);
    mechanism.equations = std::make_unique<Equations>(*mechanism.system, values_);
    const auto vector = [](const std::vector<double>& list) {
      return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(list.data(), static_cast<long>(list.size())));
    };
    mechanism.start = {0, vector(q_), vector(v_), vector(z_)};
    return mechanism;
  }

 private:
  static constexpr unsigned allow_motion = allow_time | allow_parameters | allow_positions | allow_velocities;
  static constexpr unsigned allow_all = allow_motion | allow_auxiliaries | allow_reactions;

  std::size_t coordinate_index(const std::string& name) const {
    const auto it = std::find(made_.coordinates.begin(), made_.coordinates.end(), name);
    return static_cast<std::size_t>(it - made_.coordinates.begin());
  }

  // f = l - r, or for distance(a,b) OP R with R free of coordinates +-(d^2 - R^2)/(2R).
  ConditionFormula distance_condition(const Condition& c) {
    const bool greater = c.comparison == Comparison::greater_equal;
    ConditionFormula made;
    made.value = greater ? pool().subtract(c.right, c.left) : pool().subtract(c.left, c.right);
    made.holonomic = !pool().mentions(made.value, SymbolKind::velocity);
    const auto moves = [&](Expr e) { return pool().mentions(e, SymbolKind::coordinate); };
    const bool left = c.left_distance && !moves(c.right), right = c.right_distance && !moves(c.left);
    if (!left && !right) return made;
    const Expr R = left ? c.right : c.left;
    Expr squared = pool().zero();
    for (const Expr d : (left ? c.left_distance : c.right_distance)->difference)
      squared = pool().add(squared, pool().square(d));
    const Expr f =
        pool().divide(pool().subtract(squared, pool().square(R)), pool().multiply(pool().constant(2), R));
    made.value = left != greater ? f : pool().negate(f);
    made.radius = R;
    made.end_gradient = pool().divide(pool().apply(Op::sqrt, squared), R);
    return made;
  }

  void name_condition(const ConditionFormula& made) {
    const std::size_t i = made_.conditions.size();
    const Expr multiplier = pool().symbol(SymbolKind::multiplier, i);
    const Expr closed = pool().symbol(SymbolKind::closed, i);
    const Expr reach = derive_constraint(pool(), made).reach;
    scope_.conditions[made.name] = {multiplier, pool().multiply(multiplier, reach), made.value,
                                    pool().subtract(pool().one(), closed), closed};
  }

  Description made_;
  Scope scope_;
  std::vector<double> values_, q_, v_, z_;
};

// The events of one kind, in the order they happened.
inline std::vector<Event> events_of(const Trajectory& trajectory, EventKind kind) {
  std::vector<Event> found;
  for (const Event& event : trajectory.events)
    if (event.kind == kind) found.push_back(event);
  return found;
}

inline std::vector<double> times_of(const Trajectory& trajectory, EventKind kind) {
  std::vector<double> found;
  for (const Event& event : events_of(trajectory, kind)) found.push_back(event.t);
  return found;
}

// The same numbers with every standard library, so that a case that fails here fails everywhere.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(engine_() % count); }
  bool chance(double probability) { return between(0, 1) < probability; }
  Eigen::VectorXd vector(Eigen::Index size, double low, double high) {
    Eigen::VectorXd made(size);
    for (double& value : made) value = between(low, high);
    return made;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace zwang
