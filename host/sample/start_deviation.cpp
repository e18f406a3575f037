#include "host/sample/start_deviation.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"
#include "src/expression/scaled.h"
#include "src/reference/schedule.h"
#include "src/system/friction.h"
#include "src/system/mass_metric.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// Below this share of the size of the numbers behind it, a value is rounding: sin(pi) is 1e-16 of numbers of
// size 3, and a coordinate of 1e-17 is 0 beside others of size 1.
constexpr double noise_share = 1e-10;
// Shared subexpressions are visited once for each use; longer sums are cut.
constexpr std::size_t terms_limit = 10'000;

// The largest term of a formula at a state: of a sum its largest summand, also where the sum is multiplied by
// numbers.
class TermSize {
 public:
  TermSize(const System& system, const std::vector<double>& parameters, const State& state)
      : pool_(*system.pool), parameters_(parameters), state_(state) {}

  double operator()(Expr root) const {
    std::vector<double> values(root.id + 1, 0.0);
    std::vector<char> moves(root.id + 1, 0);  // depends on the state
    evaluate(root, values, moves);
    double largest = 0;
    std::vector<std::pair<Expr, double>> open = {{root, 1.0}};
    for (std::size_t visits = 0; !open.empty() && visits < terms_limit; ++visits) {
      const auto [e, factor] = open.back();
      open.pop_back();
      const Node& node = pool_.node(e);
      const Expr a = node.arguments[0], b = node.arguments[1];
      if (node.op == Op::add || node.op == Op::subtract) {
        open.emplace_back(a, factor);
        open.emplace_back(b, factor);
      } else if (node.op == Op::negate) {
        open.emplace_back(a, factor);
      } else if (node.op == Op::multiply && moves[a.id] == 0) {
        open.emplace_back(b, factor * values[a.id]);
      } else if (node.op == Op::multiply && moves[b.id] == 0) {
        open.emplace_back(a, factor * values[b.id]);
      } else if (node.op == Op::divide && moves[b.id] == 0) {
        open.emplace_back(a, factor / values[b.id]);
      } else {
        largest = std::max(largest, std::abs(factor * values[e.id]));
      }
    }
    return largest;
  }

 private:
  void evaluate(Expr root, std::vector<double>& values, std::vector<char>& moves) const {
    const auto span_of = [](const Eigen::VectorXd& x) {
      return std::span<const double>(x.data(), static_cast<std::size_t>(x.size()));
    };
    const Inputs<double> inputs{.time = state_.t,
                                .parameters = parameters_,
                                .coordinates = span_of(state_.q),
                                .velocities = span_of(state_.v),
                                .auxiliaries = span_of(state_.z)};
    for (const Expr e : pool_.reachable({root})) {
      const Node& node = pool_.node(e);
      if (node.op == Op::constant) {
        values[e.id] = node.value;
      } else if (node.op == Op::symbol) {
        values[e.id] = inputs[node.symbol];
        moves[e.id] = node.symbol.kind == SymbolKind::coordinate ||
                              node.symbol.kind == SymbolKind::velocity ||
                              node.symbol.kind == SymbolKind::auxiliary
                          ? 1
                          : 0;
      } else {
        const auto argument = [&](std::size_t k) { return values[node.arguments[k].id]; };
        values[e.id] = apply_operation<double>(node.op, argument(0), argument(1), argument(2), argument(3));
        for (int k = 0; k < arity(node.op); ++k)
          moves[e.id] =
              moves[e.id] != 0 || moves[node.arguments[static_cast<std::size_t>(k)].id] != 0 ? 1 : 0;
      }
    }
  }

  const Expressions& pool_;
  const std::vector<double>& parameters_;
  const State& state_;
};

}  // namespace

std::vector<StartDeviation> start_deviations(const Equations& equations, const State& start,
                                             const Sizes& formulas, double share) {
  Sizes sizes = sizes_of(start);
  sizes.q = sizes.q.cwiseMax(formulas.q);
  sizes.v = sizes.v.cwiseMax(formulas.v);
  const Eigen::MatrixXd mass = equations.mass(start);
  if (mass.allFinite() && MassMetric(mass).valid()) raise_to_noise(sizes, mass);

  const TermSize term_size(equations.system(), equations.parameters(), start);
  std::vector<StartDeviation> found;
  for (std::size_t i = 0; i < equations.count(); ++i) {
    const auto [from, until] = time_in_force(equations, i);
    if (from > 0 || until <= 0) continue;
    const Constraint& constraint = equations.system().constraints[i];
    if (!projected_at_start(constraint, false)) continue;
    const std::vector<Scaled> row = equations.scaled_row(i, start, sizes);
    const auto check = [&](const Scaled& f, Expr formula, bool velocity) {
      const double amount = constraint.equation ? std::abs(f.value) : f.value;
      if (!std::isfinite(amount) || !(amount > noise_share * f.scale)) return;
      const double size = term_size(formula);
      if (amount > share * size) found.push_back({i, velocity, f.value, size > 0 ? amount / size : 1});
    };
    if (constraint.holonomic) check(row[0], constraint.value, false);
    // A constraint imposed at t = 0 gets its velocity by a shock.
    const bool rate_counts = from != 0 && projected_at_start(constraint, true);
    if ((constraint.equation || !constraint.holonomic) && rate_counts) check(row[1], constraint.rate, true);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const StartDeviation& a, const StartDeviation& b) { return a.share > b.share; });
  return found;
}

}  // namespace zwang
