// Search for an equilibrium and for its set of pressing inequalities.
#include "src/analysis/equilibrium.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "src/analysis/equilibrium_equations.h"
#include "src/base/error.h"
#include "src/base/index.h"
#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/expression/scaled.h"
#include "src/system/equations.h"
#include "src/system/mass_metric.h"
#include "src/system/move_positions.h"
#include "src/system/system.h"

namespace zwang {

namespace {

using Eigen::VectorXd;

// Forces balance when the remainder is at most this share of the terms. The iteration goes down to rounding;
// this is only the criterion.
constexpr double balanced = 1e-10;
// Up to this many inequalities every set of pressing ones is tried.
constexpr std::size_t few_inequalities = 8;
// Number of displaced starts that are tried when the given one does not converge.
constexpr int nudges = 6;

State at_rest(const VectorXd& q, const VectorXd& z) { return {0, q, VectorXd::Zero(q.size()), z}; }

// --- Requirements on the system ---

// Compares values at several times, at states around the given one: a formula may contain t and not depend on
// it (amplitude 0).
bool depends_on_time(const Equations& equations, Expr e, const State& around) {
  const Expressions& pool = *equations.system().pool;
  if (!pool.mentions(e, SymbolKind::time)) return false;
  const Program program(pool, {e});
  for (int trial = 0; trial < 4; ++trial) {
    State state = around;
    for (Eigen::Index i = 0; i < state.q.size(); ++i) {
      state.q(i) += 0.1 * trial * std::sin(1.0 + 2.0 * static_cast<double>(i)) * (1 + std::abs(state.q(i)));
      state.v(i) = trial * std::cos(3.0 * static_cast<double>(i));
    }
    state.t = 0;
    const double first = equations.evaluate(program, state);
    for (const double t : {1e-3, 0.17, 1.3, 7.1, 53.9}) {
      state.t = t;
      const double later = equations.evaluate(program, state);
      if (std::isfinite(first) && std::isfinite(later) && first != later) return true;
    }
  }
  return false;
}

// Dry friction: the force at a very small velocity differs from the force at rest.
bool jumps_at_rest(const Equations& equations, Expr e, const State& around) {
  if (!equations.system().pool->mentions(e, SymbolKind::velocity)) return false;
  const Program program(*equations.system().pool, {e});
  State state = at_rest(around.q, around.z);
  const double still = equations.evaluate(program, state);
  for (Eigen::Index i = 0; i < state.v.size(); ++i)
    for (const double creep : {-1e-100, 1e-100}) {
      state.v.setZero();
      state.v(i) = creep;
      const double moving = equations.evaluate(program, state);
      // A continuous force changes by about as little as the velocity.
      if (std::abs(moving - still) > 1e-50) return true;
    }
  return false;
}

std::vector<std::string> obstacles(const Equations& equations, const State& around) {
  const System& system = equations.system();
  const auto timed = [&](Expr e) { return depends_on_time(equations, e, around); };
  std::vector<std::string> found;
  for (std::size_t i = 0; i < system.size(); ++i) {
    if (timed(system.applied[i]))
      found.push_back("a force on " + system.coordinates[i] + " that depends on t");
    if (jumps_at_rest(equations, system.applied[i], around))
      found.push_back("a force on " + system.coordinates[i] + " that jumps at rest (dry friction)");
  }
  if (std::any_of(system.mass.begin(), system.mass.end(), [&](const MassEntry& m) { return timed(m.value); }))
    found.emplace_back("masses that depend on t");
  for (std::size_t j = 0; j < system.rates.size(); ++j)
    if (!system.pool->mentions(system.rates[j], SymbolKind::multiplier) && timed(system.rates[j]))
      found.push_back("the rate of " + system.auxiliaries[j] + " that depends on t");
  for (const Constraint& constraint : system.constraints) {
    const std::string name = "'" + constraint.name + "'";
    if (constraint.general)
      found.push_back("the condition " + name + " with variation = \"general\", whose multiplier is a state");
    if (timed(constraint.value)) found.push_back("the condition " + name + " that depends on t");
    const auto time = [&](Expr e) { return equations.evaluate(Program(*system.pool, {e}), State{}); };
    if ((constraint.from && time(*constraint.from) > 0) || constraint.until)
      found.push_back("the condition " + name + ", which does not always hold (from, until)");
  }
  return found;
}

// --- One set of conditions ---

struct Attempt {
  Balance balance;
  std::vector<std::size_t> set{};
  bool solved = false;  // forces balanced and the set's conditions met
  double residual = 0;
  std::vector<std::size_t> unmet{};   // of the set
  std::vector<std::size_t> broken{};  // inequalities outside the set
  std::vector<std::size_t> idle{};    // met with equality, without pressing
  std::vector<std::size_t> pulling{};
  bool admissible() const { return solved && broken.empty() && pulling.empty(); }
};

class Search {
 public:
  Search(const RestEquations& rest, const State& start, double tolerance)
      : rest_(rest), equations_(rest.equations()), start_(at_rest(start.q, start.z)), tolerance_(tolerance) {
    for (const Expr force : equations_.system().applied)
      forces_.emplace_back(*equations_.system().pool, std::vector{force});
    for (std::size_t s = 0; s < equations_.count(); ++s)
      (equations_.system().constraints[s].equation ? fixed_ : inequalities_).push_back(s);
  }

  Equilibrium run() {
    Attempt first = search_from_start();
    if (first.admissible()) return equilibrium(first);
    if (inequalities_.empty() || inequalities_.size() > few_inequalities) return equilibrium(first);
    std::optional<Attempt> nearest = enumerate();
    return equilibrium(nearest ? *nearest : first);
  }

 private:
  Sizes sizes(const VectorXd& q) const {
    Sizes made = sizes_of(start_);
    made.q = made.q.cwiseMax(q.cwiseAbs());
    raise_to_noise(made, equations_.mass(start_));
    return made;
  }

  Scaled value(std::size_t condition, const State& state, const Sizes& sizes) const {
    return equations_.scaled_row(condition, state, sizes)[0];
  }

  // Sets positions to zero that are only rounding, where the balance still holds.
  void tidy(Balance& balance, const std::vector<std::size_t>& set) const {
    const Sizes size = sizes(balance.q);
    Balance clean = balance;
    for (Eigen::Index i = 0; i < clean.q.size(); ++i)
      if (std::abs(clean.q(i)) <= 1e-13 * size.q(i)) clean.q(i) = 0;
    if (clean.q == balance.q) return;
    Attempt made{clean, set};
    const Linearisation there = rest_.at(clean.q, clean.z, set, clean.multipliers);
    made.balance.imbalance = there.force - there.rows.transpose() * clean.multipliers;
    check_balance(made);
    if (made.solved) balance = made.balance;
  }

  void check_balance(Attempt& made) const {
    const Balance& balance = made.balance;
    const State state = at_rest(balance.q, balance.z);
    const Sizes size = sizes(balance.q);
    made.solved = std::isfinite(balance.merit);
    if (!made.solved) return;
    const Linearisation there = rest_.at(balance.q, balance.z, made.set, balance.multipliers);
    // Entries of A count with the scale of their rounding: cos(phi) at 90 degrees is not a term of size
    // 1e-17.
    VectorXd reactions = VectorXd::Zero(balance.q.size());
    for (std::size_t k = 0; k < made.set.size(); ++k) {
      const std::vector<Scaled> row = equations_.scaled_row(made.set[k], state, size);
      const std::vector<std::size_t>& columns = equations_.system().constraints[made.set[k]].columns;
      for (std::size_t c = 0; c < columns.size(); ++c)
        reactions(index(columns[c])) += std::abs(balance.multipliers(index(k))) * row[3 + c].scale;
    }
    for (std::size_t i = 0; i < forces_.size(); ++i) {
      const double terms = equations_.evaluate_scaled(forces_[i], state, size).scale + reactions(index(i));
      const double left = std::abs(balance.imbalance(index(i)));
      if (left > balanced * terms) made.solved = false;
      if (terms > 0) made.residual = std::max(made.residual, left / terms);
    }
    for (Eigen::Index j = 0; j < there.rates.size(); ++j)
      if (!(std::abs(there.rates(j)) <=
            balanced * (1 + std::abs(balance.z(index(rest_.states()[static_cast<std::size_t>(j)]))))))
        made.solved = false;
    for (const std::size_t s : made.set) {
      const Scaled f = value(s, state, size);
      if (std::abs(f.value) <= balanced * f.scale) continue;
      made.solved = false;
      made.unmet.push_back(s);
    }
  }

  Attempt balance(const State& from, const std::vector<std::size_t>& set) const {
    Attempt made{solve_balance(rest_, from, set), set};
    tidy(made.balance, set);
    check_balance(made);
    return made;
  }

  // A start may be a stationary point of the residual without balance, such as a blade along the slope or an
  // inverted pendulum. The search then starts from displaced positions.
  Attempt balance_from_around(const std::vector<std::size_t>& set) const {
    const Attempt first = balance(start_, set);
    for (int attempt = 1; attempt <= nudges && !first.solved; ++attempt) {
      State beside = start_;
      VectorXd way(beside.q.size());
      for (Eigen::Index i = 0; i < way.size(); ++i)
        way(i) =
            0.1 * attempt * std::sin(attempt + 2.4 * static_cast<double>(i)) * (1 + std::abs(beside.q(i)));
      move_positions(equations_.system(), way, beside);
      const Attempt made = balance(beside, set);
      if (made.solved) return made;
    }
    return first;
  }

  Attempt attempt(const std::vector<std::size_t>& set) const {
    Attempt made = balance_from_around(set);
    if (!made.solved) return made;
    const State state = at_rest(made.balance.q, made.balance.z);
    const Sizes size = sizes(made.balance.q);
    const MassMetric metric(equations_.mass(state));
    const double force = metric.rows(equations_.dynamics(state).applied.transpose()).norm();
    for (std::size_t k = 0; k < set.size(); ++k) {
      if (equations_.system().constraints[set[k]].equation) continue;
      const double push =
          made.balance.multipliers(index(k)) * metric.rows(equations_.row(set[k], state).a).norm();
      if (push < -balanced * force)
        made.pulling.push_back(set[k]);
      else if (push <= balanced * force)
        made.idle.push_back(set[k]);
    }
    for (const std::size_t s : inequalities_) {
      if (std::find(set.begin(), set.end(), s) != set.end()) continue;
      const Scaled f = value(s, state, size);
      if (f.value > std::max(balanced, 10 * tolerance_) * f.scale)
        made.broken.push_back(s);
      else if (std::abs(f.value) <= std::max(balanced, 10 * tolerance_) * f.scale)
        made.idle.push_back(s);
    }
    return made;
  }

  std::vector<std::size_t> with(const std::vector<std::size_t>& pressing) const {
    std::vector<std::size_t> set = fixed_;
    set.insert(set.end(), pressing.begin(), pressing.end());
    std::sort(set.begin(), set.end());
    return set;
  }

  // Starts with the inequalities that are closed; drops those with negative multipliers and adds violated
  // ones.
  Attempt search_from_start() const {
    std::vector<std::size_t> pressing;
    const Sizes size = sizes(start_.q);
    for (const std::size_t s : inequalities_) {
      const Scaled f = value(s, start_, size);
      if (f.value >= -std::max(balanced, 10 * tolerance_) * f.scale) pressing.push_back(s);
    }
    std::set<std::vector<std::size_t>> seen;
    Attempt made;
    while (seen.insert(pressing).second) {
      made = attempt(with(pressing));
      if (!made.solved || made.admissible()) return made;
      for (const std::size_t s : made.pulling) std::erase(pressing, s);
      pressing.insert(pressing.end(), made.broken.begin(), made.broken.end());
      std::sort(pressing.begin(), pressing.end());
    }
    return made;
  }

  std::optional<Attempt> enumerate() const {
    std::optional<Attempt> nearest;
    double shortest = 0;
    const Eigen::MatrixXd mass = equations_.mass(start_);
    for (std::size_t bits = 0; bits < std::size_t{1} << inequalities_.size(); ++bits) {
      std::vector<std::size_t> pressing;
      for (std::size_t k = 0; k < inequalities_.size(); ++k)
        if (bits >> k & 1) pressing.push_back(inequalities_[k]);
      const Attempt made = attempt(with(pressing));
      if (!made.admissible()) continue;
      const VectorXd moved = made.balance.q - start_.q;
      const double turned =
          distance_moved(equations_.system(), start_, at_rest(made.balance.q, made.balance.z));
      const double distance = moved.dot(mass * moved) + std::max(0.0, turned * turned - moved.squaredNorm());
      if (nearest && distance >= shortest) continue;
      nearest = made;
      shortest = distance;
    }
    return nearest;
  }

  Equilibrium equilibrium(const Attempt& made) const {
    Equilibrium result;
    result.found = made.admissible();
    result.state = at_rest(made.balance.q, made.balance.z);
    result.multipliers = VectorXd::Zero(index(equations_.count()));
    result.imbalance = made.balance.imbalance;
    result.residual = made.residual;
    result.iterations = made.balance.iterations;
    result.touching = made.idle;
    result.broken = made.unmet;
    result.broken.insert(result.broken.end(), made.broken.begin(), made.broken.end());
    for (std::size_t k = 0; k < made.set.size(); ++k) {
      if (std::find(made.idle.begin(), made.idle.end(), made.set[k]) != made.idle.end()) continue;
      result.set.push_back(made.set[k]);
      result.multipliers(index(made.set[k])) = made.balance.multipliers(index(k));
    }
    return result;
  }

  const RestEquations& rest_;
  const Equations& equations_;
  State start_;
  double tolerance_;
  std::vector<Program> forces_;
  std::vector<std::size_t> fixed_, inequalities_;  // equations; the others
};

}  // namespace

void require_autonomous(const Equations& equations, const State& around, const std::string& file) {
  const std::vector<std::string> found = obstacles(equations, around);
  if (found.empty()) return;
  throw Error(
      {.where = {file, 0, 0},
       .message = "small oscillations need a system that does not change with time and is smooth at rest",
       .found = joined(found),
       .expected = "forces, masses and conditions free of t, without from or until",
       .hint = "--set can switch such terms off, e.g. an amplitude to 0"});
}

Equilibrium find_equilibrium(const RestEquations& rest, const State& start, double tolerance) {
  return Search(rest, start, tolerance).run();
}

}  // namespace zwang
