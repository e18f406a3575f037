// What is the same for all members: compiled formulas, dimensions of the draws, blocks of pick-freeze. One
// member is drawn in draw_member.cpp.
#include "host/sample/sampler.h"

#include <array>
#include <cassert>
#include <cmath>
#include <limits>

#include "host/sample/distribution.h"
#include "host/sample/joint.h"
#include "host/sample/prepared_member.h"
#include "host/sample/quantile.h"
#include "host/sample/sobol.h"
#include "host/study/study.h"
#include "src/base/error.h"
#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"

namespace zwang {

ParameterFormula::ParameterFormula(const Expressions& pool, Expr e) : node_(pool.node(e)) {
  if (node_.op != Op::constant && node_.op != Op::symbol) program_ = Program(pool, {e});
}

double ParameterFormula::operator()(std::span<const double> parameters, std::vector<double>& slots) const {
  const Inputs<double> inputs{.time = 0, .parameters = parameters};
  if (node_.op == Op::constant) return node_.value;
  if (node_.op == Op::symbol) return inputs[node_.symbol];
  double value = std::numeric_limits<double>::quiet_NaN();
  program_.run<double>(inputs, slots, {&value, 1});
  return value;
}

std::vector<std::size_t> drawn_inputs(const Study& study) {
  std::vector<std::size_t> drawn;
  for (std::size_t i = 0; i < study.parameters.size(); ++i)
    if (study.parameters[i].drawn()) drawn.push_back(i);
  return drawn;
}

std::vector<std::string> dimension_names(const Study& study) {
  std::vector<std::string> names;
  for (const ParameterRule& rule : study.parameters)
    if (rule.joint || (rule.distribution && takes_uniform(rule.distribution->kind)))
      names.push_back(rule.name);
  return names;
}

namespace {

// Pick-freeze has a second set of draws, whose names end in a prime: one design of twice the dimensions.
std::vector<std::string> uniform_names(const Study& study) {
  std::vector<std::string> names = dimension_names(study);
  const std::size_t count = names.size();
  for (std::size_t k = 0; k < count && study.sensitivity; ++k) names.push_back(names[k] + "\u2032");
  return names;
}

}  // namespace

Sampler::Sampler(const Study& study)
    : study_(&study),
      per_point_(study.sweeps.empty() ? std::numeric_limits<unsigned long long>::max()
                                      : static_cast<unsigned long long>(study.ensemble.per_point())),
      uniform_(study.ensemble, uniform_names(study)),
      ranges_(study),
      start_check_(*study.system, study.integrator.contact_tolerance),
      drawn_(drawn_inputs(study)) {
  assert(study.system->parameters.size() == study.parameters.size());
  if (study.ensemble.sampler == SamplerKind::sobol && uniform_.dimensions() > sobol_dimensions)
    throw Error({.where = {study.path, 0, 0},
                 .message = "the sampler \"sobol\" does not have enough dimensions for this study",
                 .found = std::to_string(uniform_.dimensions()) + " draws",
                 .expected = "at most " + std::to_string(sobol_dimensions),
                 .hint = "\"latin-hypercube\" and \"random\" have no such limit"});
  for (const Joint& joint : study.joints) read_joint(joint);
  read_rules();
  for (const std::size_t i : drawn_) drawn_names_.push_back(study.parameters[i].name);
  std::vector<Expr> start = study.initial_positions;
  start.insert(start.end(), study.initial_velocities.begin(), study.initial_velocities.end());
  start.insert(start.end(), study.initial_auxiliaries.begin(), study.initial_auxiliaries.end());
  start_ = Program(*study.system->pool, start);
  find_drawn_starts();
}

// A parameter varies if it is drawn or a formula of one that is.
void Sampler::find_drawn_starts() {
  const Expressions& pool = *study_->system->pool;
  std::vector<char> varies(study_->parameters.size(), 0);
  const auto depends = [&](Expr e) {
    const std::vector<Symbol> symbols = pool.symbols({e});
    return std::any_of(symbols.begin(), symbols.end(), [&](const Symbol& symbol) {
      return symbol.kind == SymbolKind::parameter && varies[symbol.index] != 0;
    });
  };
  for (std::size_t i = 0; i < varies.size(); ++i) {
    const ParameterRule& rule = study_->parameters[i];
    varies[i] = rule.drawn() || (rule.value && depends(*rule.value)) ? 1 : 0;
  }
  const std::size_t n = study_->initial_positions.size();
  for (std::size_t k = 0; k < 2 * n; ++k)
    if (depends(k < n ? study_->initial_positions[k] : study_->initial_velocities[k - n]))
      drawn_starts_.push_back(k);
}

void Sampler::read_joint(const Joint& joint) {
  const Expressions& pool = *study_->system->pool;
  JointRule made;
  made.dimensions.resize(joint.mean.size());
  for (const Expr e : joint.mean) made.mean.emplace_back(pool, e);
  bool constant = true;
  for (const std::vector<Expr>& row : joint.covariance)
    for (const Expr e : row) constant = made.covariance.emplace_back(pool, e).constant() && constant;
  // A constant matrix that is not a covariance is reported by the first draw, whose message names the member.
  if (constant) {
    const auto n = static_cast<Eigen::Index>(joint.mean.size());
    Eigen::MatrixXd C(n, n), L;
    std::vector<double> slots;
    for (Eigen::Index i = 0; i < n * n; ++i)
      C(i / n, i % n) = made.covariance[static_cast<std::size_t>(i)]({}, slots);
    if (C.allFinite() && factor_covariance(C, joint.names, L).empty()) made.factor = L;
  }
  joints_.push_back(std::move(made));
}

// Dimensions are assigned in the order of the parameters.
void Sampler::read_rules() {
  const Expressions& pool = *study_->system->pool;
  std::size_t dimension = 0;
  for (const ParameterRule& rule : study_->parameters) {
    Rule& made = rules_.emplace_back();
    if (rule.distribution) {
      for (const Expr e : rule.distribution->arguments) made.arguments.emplace_back(pool, e);
      if (takes_uniform(rule.distribution->kind)) made.dimension = dimension++;
    } else if (rule.joint) {
      joints_[*rule.joint].dimensions[rule.joint_component] = dimension++;
    } else if (!rule.sweep) {
      made.value.emplace(pool, rule.value.value());
    }
  }
  assert(dimension * (study_->sensitivity ? 2 : 1) == uniform_.dimensions());
  if (study_->sensitivity) assign_inputs();
}

void Sampler::assign_inputs() {
  const SensitivitySettings& settings = *study_->sensitivity;
  input_of_dimension_.assign(uniform_.dimensions() / 2, -1);
  for (std::size_t i = 0; i < settings.inputs.size(); ++i)
    for (const std::size_t parameter : settings.inputs[i].parameters) {
      const ParameterRule& rule = study_->parameters[parameter];
      const std::size_t dimension =
          rule.joint ? joints_[*rule.joint].dimensions[rule.joint_component] : rules_[parameter].dimension;
      input_of_dimension_[dimension] = static_cast<int>(i);
    }
}

Sampler::MemberPlace Sampler::place_of_member(unsigned long long member) const {
  const auto all = static_cast<unsigned long long>(study_->ensemble.members);
  std::size_t block = 0;
  if (study_->sensitivity && member / all < study_->sensitivity->blocks()) {
    block = static_cast<std::size_t>(member / all);
    member %= all;
  }
  return {member / per_point_, member % per_point_, block};
}

bool Sampler::is_swapped(std::size_t dimension, std::size_t block) const {
  if (block == 0 || input_of_dimension_[dimension] < 0) return false;
  return block == 1 || static_cast<std::size_t>(input_of_dimension_[dimension]) == block - 2;
}

}  // namespace zwang
