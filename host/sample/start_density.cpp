// The density of starts by change of variables: p(draws) / |d start / d draws|.
#include "host/sample/start_density.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "src/emit/rewrite.h"
#include "src/expression/derivative.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"
#include "src/system/body.h"
#include "src/system/system.h"

namespace zwang {

using Kind = Distribution::Kind;

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr double log_two_pi = 1.8378770664093454836;

bool is_continuous(const ParameterRule& rule) {
  if (rule.joint) return true;
  const Kind kind = rule.distribution->kind;
  return kind != Kind::choice && kind != Kind::grid && kind != Kind::file;
}

// log of the probability density of a distribution with arguments a at x.
double log_density(Kind kind, std::span<const double> a, double x) {
  const auto normal = [&](double value) {
    const double z = (value - a[0]) / a[1];
    return -0.5 * z * z - std::log(a[1]) - 0.5 * log_two_pi;
  };
  switch (kind) {
    case Kind::uniform:
      return -std::log(a[1] - a[0]);
    case Kind::normal:
      return normal(x);
    case Kind::lognormal:
      return normal(std::log(x)) - std::log(x);
    case Kind::triangular: {
      const double side = x < a[1]      ? (x - a[0]) / (a[1] - a[0])
                          : a[2] > a[1] ? (a[2] - x) / (a[2] - a[1])
                                        : 1;
      return std::log(2 * side / (a[2] - a[0]));
    }
    case Kind::exponential:
      return -x / a[0] - std::log(a[0]);
    default:
      return unknown;
  }
}

}  // namespace

StartDensity::StartDensity(const Study& study) : study_(study), pool_(*study.system->pool) {
  const System& system = *study.system;
  for (std::size_t i = 0; i < study.parameters.size(); ++i)
    in_draws_.push_back(study.parameters[i].value ? in_draws(*study.parameters[i].value)
                                                  : pool_.symbol(SymbolKind::parameter, i));
  // The two auxiliary states of logdensity() itself are not part of the phase space; orientations have coordinates of
  // their own.
  std::vector<Expr> start;
  const std::size_t nz = system.auxiliaries.size() - (system.density ? 2 : 0);
  for (std::size_t i = 0; i < system.size(); ++i)
    if (!system.is_turn(i)) start.push_back(in_draws(study.initial_positions[i]));
  for (const Expr e : study.initial_velocities) start.push_back(in_draws(e));
  for (std::size_t j = 0; j < nz; ++j)
    if (!system.is_orientation(j)) start.push_back(in_draws(study.initial_auxiliaries[j]));
  const std::vector<Quaternion> orientations = read_orientations(start);

  find_draws(start, orientations);
  reject_draws_in_motion();
  prepare_draws();
  if (study.ensemble.consistency == Consistency::reject && !system.constraints.empty())
    why_unknown_ = "rejecting starts changes the density of the remaining ones";
  if (!study.sweeps.empty()) why_unknown_ = "the study has a sweep: each point has a density of its own";
  std::vector<Expr> entries;
  for (const Expr e : start)
    for (const std::size_t draw : draws_)
      entries.push_back(derivative(pool_, e, {SymbolKind::parameter, static_cast<std::uint32_t>(draw)}));
  for (const Quaternion& q : orientations)
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (const std::size_t draw : draws_) entries.push_back(turn_per_draw(q, axis, draw));
  jacobian_ = Program(pool_, entries);
}

// The orientations that are functions of the draws of find_draws(). Four normals of mean 0, which enter nothing else,
// are one draw too many: their common length has no effect, and the density of their direction is known.
std::vector<StartDensity::Quaternion> StartDensity::read_orientations(const std::vector<Expr>& start) {
  const System& system = *study_.system;
  std::vector<Quaternion> all, made;
  for (const Body& body : system.bodies) {
    if (!body.spatial()) continue;
    Quaternion q;
    for (std::size_t k = 0; k < 4; ++k) q[k] = in_draws(study_.initial_auxiliaries[body.state + k]);
    all.push_back(q);
  }
  for (std::size_t b = 0; b < all.size(); ++b) {
    std::vector<Expr> others = start;
    for (const ParameterRule& rule : study_.parameters)
      if (rule.distribution)
        for (const Expr e : rule.distribution->arguments) others.push_back(in_draws(e));
    for (const Joint& joint : study_.joints) {
      for (const Expr e : joint.mean) others.push_back(in_draws(e));
      for (const std::vector<Expr>& row : joint.covariance)
        for (const Expr e : row) others.push_back(in_draws(e));
    }
    for (std::size_t c = 0; c < all.size(); ++c)
      if (c != b) others.insert(others.end(), all[c].begin(), all[c].end());
    if (const auto found = central_normals(all[b], others))
      directions_.push_back(*found);
    else
      made.push_back(all[b]);
  }
  return made;
}

// The four draws of which a quaternion is the direction, if they are normals of mean 0 that enter no other formula.
std::optional<StartDensity::Direction> StartDensity::central_normals(const Quaternion& q,
                                                                     const std::vector<Expr>& others) {
  Direction made;
  const std::vector<Symbol> used = pool_.symbols(others);
  for (std::size_t k = 0; k < 4; ++k) {
    // if_less(0, |g|^2, g_k/|g|, ...)
    const Node choice = pool_.node(q[k]);
    if (choice.op != Op::if_less || pool_.node(choice.arguments[2]).op != Op::divide) return {};
    const Node g = pool_.node(pool_.node(choice.arguments[2]).arguments[0]);
    if (g.op != Op::symbol || g.symbol.kind != SymbolKind::parameter) return {};
    const ParameterRule& rule = study_.parameters[g.symbol.index];
    if (!rule.distribution || rule.distribution->kind != Kind::normal) return {};
    const Expr mean = in_draws(rule.distribution->arguments[0]);
    const bool repeated = std::find(made.draws.begin(), made.draws.begin() + static_cast<std::ptrdiff_t>(k),
                                    g.symbol.index) != made.draws.begin() + static_cast<std::ptrdiff_t>(k);
    if (!pool_.is_zero(mean) || repeated || std::find(used.begin(), used.end(), g.symbol) != used.end())
      return {};
    made.draws[k] = g.symbol.index;
  }
  std::vector<Expr> stds;
  for (const std::size_t draw : made.draws)
    stds.push_back(in_draws(study_.parameters[draw].distribution->arguments[1]));
  made.stds = Program(pool_, stds);
  return made;
}

// The angle of an infinitesimal turn about a body axis, per unit of a draw: dq = q o (0, dtheta)/2, so that dtheta is
// twice the vector part of the conjugate of q times dq.
Expr StartDensity::turn_per_draw(const Quaternion& q, std::size_t axis, std::size_t draw) {
  Quaternion p;
  for (std::size_t k = 0; k < 4; ++k)
    p[k] = derivative(pool_, q[k], {SymbolKind::parameter, static_cast<std::uint32_t>(draw)});
  const std::size_t i = 1 + axis, j = 1 + (axis + 1) % 3, l = 1 + (axis + 2) % 3;
  const auto minor = [&](std::size_t a, std::size_t b) {
    return pool_.subtract(pool_.multiply(q[a], p[b]), pool_.multiply(q[b], p[a]));
  };
  return pool_.multiply(pool_.constant(2), pool_.subtract(minor(0, i), minor(j, l)));
}

// Replaces parameters that are formulas by their expressions in draws; earlier parameters are known already.
Expr StartDensity::in_draws(Expr e) {
  Replacements known;
  for (std::size_t i = 0; i < in_draws_.size(); ++i)
    known[pool_.symbol(SymbolKind::parameter, i).id] = in_draws_[i];
  return replaced(pool_, e, known);
}

void StartDensity::find_draws(const std::vector<Expr>& start, const std::vector<Quaternion>& orientations) {
  std::set<std::size_t> found;
  std::vector<Expr> formulas = start;
  for (const Quaternion& q : orientations) formulas.insert(formulas.end(), q.begin(), q.end());
  for (const Symbol& symbol : pool_.symbols(formulas))
    if (symbol.kind == SymbolKind::parameter) found.insert(symbol.index);
  draws_.assign(found.begin(), found.end());
  for (const std::size_t i : draws_)
    if (!is_continuous(study_.parameters[i]))
      why_unknown_ = "'" + study_.parameters[i].name + "' is not drawn from a density";
  const std::size_t numbers = start.size() + 3 * orientations.size();
  if (draws_.size() != numbers)
    why_unknown_ = "the start has " + std::to_string(numbers) +
                   " coordinates, velocities and auxiliary states" +
                   (orientations.empty() ? "" : ", three for an orientation") + ", but depends on " +
                   std::to_string(draws_.size()) + " draws";
}

// If a draw also enters forces, masses or constraints, the members do not follow one common flow.
void StartDensity::reject_draws_in_motion() {
  const System& system = *study_.system;
  std::vector<Expr> formulas = system.applied;
  formulas.insert(formulas.end(), system.rates.begin(), system.rates.end());
  for (const MassEntry& entry : system.mass) formulas.push_back(entry.value);
  for (const Constraint& constraint : system.constraints) {
    formulas.push_back(constraint.value);
    formulas.push_back(constraint.restitution);
  }
  for (Expr& e : formulas) e = in_draws(e);
  for (const Symbol& symbol : pool_.symbols(formulas))
    if (symbol.kind == SymbolKind::parameter && determines_start(symbol.index))
      why_unknown_ =
          "'" + study_.parameters[symbol.index].name + "' enters the equations of motion, not only the start";
}

bool StartDensity::determines_start(std::size_t draw) const {
  const auto has = [&](const auto& list) { return std::find(list.begin(), list.end(), draw) != list.end(); };
  return has(draws_) || std::any_of(directions_.begin(), directions_.end(),
                                    [&](const Direction& direction) { return has(direction.draws); });
}

// The arguments of a distribution may be formulas of other parameters.
void StartDensity::prepare_draws() {
  std::set<std::size_t> joints;
  for (const std::size_t draw : draws_) {
    const ParameterRule& rule = study_.parameters[draw];
    std::vector<Expr> formulas;
    if (rule.distribution) formulas = rule.distribution->arguments;
    if (rule.joint && joints.insert(*rule.joint).second) {
      formulas = study_.joints[*rule.joint].mean;
      for (const std::vector<Expr>& row : study_.joints[*rule.joint].covariance)
        formulas.insert(formulas.end(), row.begin(), row.end());
    }
    for (Expr& e : formulas) e = in_draws(e);
    arguments_.emplace_back(pool_, formulas);
  }
}

double StartDensity::log_of_draw(std::size_t k, std::span<const double> parameters) {
  out_.resize(arguments_[k].outputs());
  arguments_[k].run<double>({.time = 0, .parameters = parameters}, scratch_, out_);
  return log_density(study_.parameters[draws_[k]].distribution->kind, out_, parameters[draws_[k]]);
}

// The log-density of a whole joint normal; all of its components must be among the draws.
double StartDensity::log_of_joint(std::size_t k, std::span<const double> parameters) {
  const std::size_t joint = *study_.parameters[draws_[k]].joint;
  const auto n = static_cast<Eigen::Index>(study_.joints[joint].mean.size());
  out_.resize(arguments_[k].outputs());
  arguments_[k].run<double>({.time = 0, .parameters = parameters}, scratch_, out_);
  Eigen::VectorXd off(n);
  Eigen::Index seen = 0;
  for (const std::size_t i : draws_)
    if (study_.parameters[i].joint == joint) {
      const auto j = static_cast<Eigen::Index>(study_.parameters[i].joint_component);
      off(j) = parameters[i] - out_[static_cast<std::size_t>(j)];
      ++seen;
    }
  if (seen != n) return unknown;
  const Eigen::MatrixXd covariance = Eigen::Map<const Eigen::MatrixXd>(out_.data() + n, n, n);
  const Eigen::LLT<Eigen::MatrixXd> factor(covariance);
  if (factor.info() != Eigen::Success) return unknown;
  const Eigen::VectorXd scaled = factor.matrixL().solve(off);
  const Eigen::MatrixXd corner = factor.matrixL();
  return -0.5 * scaled.squaredNorm() - corner.diagonal().array().log().sum() -
         0.5 * static_cast<double>(n) * log_two_pi;
}

// The direction u of normals with mean 0 and covariance S has the density |S|^(-1/2) (u S^-1 u)^-2 / (2 pi^2) on the unit
// sphere of four dimensions (Tyler 1987). u and -u are one orientation, and a turn by dtheta moves u by dtheta/2: over
// rotations by dtheta the density is a quarter of that, 1/(8 pi^2) for equal deviations.
double StartDensity::log_of_direction(const Direction& direction, std::span<const double> parameters) {
  out_.resize(4);
  direction.stds.run<double>({.time = 0, .parameters = parameters}, scratch_, out_);
  double squares = 0, scaled = 0, logs = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    const double g = parameters[direction.draws[k]];
    squares += g * g;
    scaled += g * g / (out_[k] * out_[k]);
    logs += std::log(out_[k]);
  }
  return -logs - 2 * std::log(scaled / squares) - std::log(8 * std::numbers::pi * std::numbers::pi);
}

double StartDensity::log_at(std::span<const double> parameters) {
  if (!why_unknown_.empty()) return unknown;
  // p(draws) / |d start / d draws|
  double sum = 0;
  for (std::size_t k = 0; k < draws_.size(); ++k) {
    if (!study_.parameters[draws_[k]].joint)
      sum += log_of_draw(k, parameters);
    else if (arguments_[k].outputs() > 0)
      sum += log_of_joint(k, parameters);
  }
  for (const Direction& direction : directions_) sum += log_of_direction(direction, parameters);
  const auto n = static_cast<Eigen::Index>(draws_.size());
  if (n == 0) return sum;
  out_.resize(jacobian_.outputs());
  jacobian_.run<double>({.time = 0, .parameters = parameters}, scratch_, out_);
  const Eigen::MatrixXd matrix = Eigen::Map<const Eigen::MatrixXd>(out_.data(), n, n);
  return sum - std::log(std::abs(matrix.determinant()));
}

}  // namespace zwang
