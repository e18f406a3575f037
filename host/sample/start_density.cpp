// The density of starts by change of variables: p(draws) / |d start / d draws|.
#include "host/sample/start_density.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "src/emit/rewrite.h"
#include "src/expression/derivative.h"
#include "src/expression/expression.h"
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
  // The two auxiliary states of logdensity() itself are not part of the phase space.
  std::vector<Expr> start;
  const std::size_t nz = system.auxiliaries.size() - (system.density ? 2 : 0);
  for (const auto* list : {&study.initial_positions, &study.initial_velocities})
    for (const Expr e : *list) start.push_back(in_draws(e));
  for (std::size_t j = 0; j < nz; ++j) start.push_back(in_draws(study.initial_auxiliaries[j]));

  find_draws(start);
  reject_draws_in_motion();
  prepare_draws();
  if (study.ensemble.consistency == Consistency::reject && !system.constraints.empty())
    why_unknown_ = "rejecting starts changes the density of the remaining ones";
  if (!study.sweeps.empty()) why_unknown_ = "the study has a sweep: each point has a density of its own";
  std::vector<Expr> entries;
  for (const Expr e : start)
    for (const std::size_t draw : draws_)
      entries.push_back(derivative(pool_, e, {SymbolKind::parameter, static_cast<std::uint32_t>(draw)}));
  jacobian_ = Program(pool_, entries);
}

// Replaces parameters that are formulas by their expressions in draws; earlier parameters are known already.
Expr StartDensity::in_draws(Expr e) {
  Replacements known;
  for (std::size_t i = 0; i < in_draws_.size(); ++i)
    known[pool_.symbol(SymbolKind::parameter, i).id] = in_draws_[i];
  return replaced(pool_, e, known);
}

void StartDensity::find_draws(const std::vector<Expr>& start) {
  std::set<std::size_t> found;
  for (const Symbol& symbol : pool_.symbols(start))
    if (symbol.kind == SymbolKind::parameter) found.insert(symbol.index);
  draws_.assign(found.begin(), found.end());
  for (const std::size_t i : draws_)
    if (!is_continuous(study_.parameters[i]))
      why_unknown_ = "'" + study_.parameters[i].name + "' is not drawn from a density";
  if (draws_.size() != start.size())
    why_unknown_ = "the start has " + std::to_string(start.size()) +
                   " coordinates, velocities and auxiliary states, but depends on " +
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
    if (symbol.kind == SymbolKind::parameter &&
        std::find(draws_.begin(), draws_.end(), symbol.index) != draws_.end())
      why_unknown_ =
          "'" + study_.parameters[symbol.index].name + "' enters the equations of motion, not only the start";
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
  out_.resize(jacobian_.outputs());
  jacobian_.run<double>({.time = 0, .parameters = parameters}, scratch_, out_);
  const auto n = static_cast<Eigen::Index>(draws_.size());
  const Eigen::MatrixXd matrix = Eigen::Map<const Eigen::MatrixXd>(out_.data(), n, n);
  return sum - std::log(std::abs(matrix.determinant()));
}

}  // namespace zwang
