// Evaluation of the equations, plain and with rounding scales.
#include "src/system/equations.h"
#include "src/expression/expression.h"

#include <cmath>
#include <limits>

namespace zwang {

Sizes sizes_of(const State& state) { return {state.q.cwiseAbs(), state.v.cwiseAbs()}; }

void raise_to_noise(Sizes& sizes, const Eigen::MatrixXd& mass) {
  constexpr double share = 0.01;
  const Eigen::VectorXd weights = mass.diagonal().cwiseMax(0).cwiseSqrt();
  for (Eigen::VectorXd* x : {&sizes.q, &sizes.v}) {
    const double whole = x->cwiseProduct(weights).stableNorm();
    for (Eigen::Index i = 0; i < x->size(); ++i)
      if (weights(i) > 0) (*x)(i) = std::max((*x)(i), share * whole / weights(i));
  }
}

void drop_noise(Eigen::VectorXd& v, const Eigen::VectorXd& before, const Eigen::MatrixXd& mass) {
  constexpr double noise = 8 * std::numeric_limits<double>::epsilon();
  const Eigen::VectorXd weights = mass.diagonal().cwiseMax(0).cwiseSqrt();
  const double whole = before.cwiseProduct(weights).stableNorm();
  for (Eigen::Index i = 0; i < v.size(); ++i)
    if (std::abs(v(i)) * weights(i) <= noise * whole) v(i) = 0;
}

Equations::Equations(const System& system, std::vector<double> parameters) : system_(&system) {
  set_parameters(parameters);
  const Expressions& pool = *system.pool;
  std::vector<Expr> roots;
  for (const MassEntry& entry : system.mass) roots.push_back(entry.value);
  roots.insert(roots.end(), system.applied.begin(), system.applied.end());
  roots.insert(roots.end(), system.rates.begin(), system.rates.end());
  roots.push_back(system.power);
  dynamics_ = Program(pool, roots);
  no_multipliers_.assign(system.conditions.size(), 0);
  no_modes_.assign(system.modes, 0);
  if (system.rates_need_multipliers()) {
    roots = system.rates;
    roots.push_back(system.power);
    after_multipliers_ = Program(pool, roots);
  }
  energies_ = Program(pool, {system.kinetic_energy, system.energy});
  for (const Constraint& constraint : system.constraints) {
    std::vector<Expr> parts = {constraint.value, constraint.rate, constraint.rest};
    parts.insert(parts.end(), constraint.row.begin(), constraint.row.end());
    rows_.emplace_back(pool, parts);
    values_.push_back(Program(pool, {constraint.value}));
    rates_.push_back(Program(pool, {constraint.rate}));
  }
  for (const Friction& friction : system.frictions) {
    std::vector<Expr> parts = {friction.cone, friction.cone_static,
                               system.constraints[friction.contact].friction->restitution};
    parts.insert(parts.end(), friction.drag.begin(), friction.drag.end());
    frictions_.emplace_back(pool, parts);
  }
  for (const Bound& bound : system.bounds) {
    const LimitFormula& limit = *system.constraints[bound.condition].limit;
    bounds_.push_back(Program(pool, {limit.limit, limit.impulse_limit}));
  }
  for (const LinkLimitFormula& link : system.link_limits) link_limits_.push_back(Program(pool, {link.limit}));
}

void Equations::set_parameters(std::span<const double> parameters) {
  parameters_.assign(parameters.begin(), parameters.end());
  scaled_parameters_.clear();
  for (const double p : parameters_) scaled_parameters_.emplace_back(p);
}

namespace {

std::span<const double> view(const Eigen::VectorXd& x) {
  return {x.data(), static_cast<std::size_t>(x.size())};
}

}  // namespace

Inputs<double> Equations::inputs(const State& state) const {
  return {.time = state.t,
          .parameters = parameters_,
          .coordinates = view(state.q),
          .velocities = view(state.v),
          .auxiliaries = view(state.z),
          .modes = state.modes.size() > 0 ? view(state.modes) : no_modes_};
}

Dynamics Equations::dynamics(const State& state) const {
  const System& system = *system_;
  const auto n = static_cast<Eigen::Index>(system.size());
  out_.resize(dynamics_.outputs());
  Inputs<double> known = inputs(state);
  known.multipliers = no_multipliers_;  // apply_multipliers() replaces them
  dynamics_.run<double>(known, scratch_, out_);
  Dynamics made;
  made.mass.setZero(n, n);
  const double* next = out_.data();
  for (const MassEntry& entry : system.mass) {
    const auto i = static_cast<Eigen::Index>(entry.row), j = static_cast<Eigen::Index>(entry.column);
    made.mass(i, j) = made.mass(j, i) = *next++;
  }
  made.applied = Eigen::Map<const Eigen::VectorXd>(next, n);
  next += n;
  const auto nz = static_cast<Eigen::Index>(system.rates.size());
  made.rates = Eigen::Map<const Eigen::VectorXd>(next, nz);
  made.power = next[nz];
  return made;
}

void Equations::apply_multipliers(const Eigen::VectorXd& multipliers, const State& state,
                                  Dynamics& dynamics) const {
  if (after_multipliers_.outputs() == 0) return;
  out_.resize(after_multipliers_.outputs());
  Inputs<double> known = inputs(state);
  known.multipliers = view(multipliers);
  after_multipliers_.run<double>(known, scratch_, out_);
  dynamics.rates = Eigen::Map<const Eigen::VectorXd>(out_.data(), dynamics.rates.size());
  dynamics.power = out_.back();
}

Row Equations::row(std::size_t constraint, const State& state) const {
  const Constraint& c = system_->constraints[constraint];
  out_.resize(rows_[constraint].outputs());
  rows_[constraint].run<double>(inputs(state), scratch_, out_);
  Row made{out_[0], out_[1], out_[2], Eigen::RowVectorXd::Zero(static_cast<Eigen::Index>(size()))};
  for (std::size_t k = 0; k < c.columns.size(); ++k)
    made.a(static_cast<Eigen::Index>(c.columns[k])) = out_[3 + k];
  return made;
}

double Equations::value(std::size_t constraint, const State& state) const {
  return evaluate(values_[constraint], state);
}

double Equations::rate(std::size_t constraint, const State& state) const {
  return evaluate(rates_[constraint], state);
}

FrictionValues Equations::friction(std::size_t number, const State& state) const {
  out_.resize(frictions_[number].outputs());
  frictions_[number].run<double>(inputs(state), scratch_, out_);
  FrictionValues made{out_[0], out_[1], out_[2], {}};
  made.drag = Eigen::Map<const Eigen::VectorXd>(out_.data() + 3, static_cast<Eigen::Index>(out_.size()) - 3);
  return made;
}

BoundValues Equations::bound(std::size_t number) const {
  double out[2];
  bounds_[number].run<double>(inputs(State{}), scratch_, out);
  return {out[0], out[1]};
}

double Equations::link_limit(std::size_t number) const { return evaluate(link_limits_[number], State{}); }

std::vector<Scaled> Equations::scaled_row(std::size_t constraint, const State& state,
                                          const Sizes& sizes) const {
  std::vector<Scaled> result(rows_[constraint].outputs());
  run_scaled(rows_[constraint], state, sizes, {}, {}, result);
  return result;
}

Scaled Equations::evaluate_scaled(const Program& program, const State& state, const Sizes& sizes,
                                  std::span<const Scaled> multipliers, std::span<const Scaled> closed) const {
  Scaled result;
  run_scaled(program, state, sizes, multipliers, closed, {&result, 1});
  return result;
}

void Equations::run_scaled(const Program& program, const State& state, const Sizes& sizes,
                           std::span<const Scaled> multipliers, std::span<const Scaled> closed,
                           std::span<Scaled> out) const {
  scaled_q_.clear();
  scaled_v_.clear();
  scaled_z_.clear();
  for (Eigen::Index i = 0; i < state.q.size(); ++i) scaled_q_.emplace_back(state.q(i), sizes.q(i));
  for (Eigen::Index i = 0; i < state.v.size(); ++i) scaled_v_.emplace_back(state.v(i), sizes.v(i));
  for (Eigen::Index i = 0; i < state.z.size(); ++i) scaled_z_.emplace_back(state.z(i));
  scaled_modes_.assign(system_->modes, Scaled(0));
  for (Eigen::Index i = 0; i < state.modes.size(); ++i)
    scaled_modes_[static_cast<std::size_t>(i)] = Scaled(state.modes(i));
  const Inputs<Scaled> scaled{.time = Scaled(state.t),
                              .parameters = scaled_parameters_,
                              .coordinates = scaled_q_,
                              .velocities = scaled_v_,
                              .auxiliaries = scaled_z_,
                              .multipliers = multipliers,
                              .closed = closed,
                              .modes = scaled_modes_};
  program.run<Scaled>(scaled, scaled_scratch_, out);
}

double Equations::kinetic(const State& state) const {
  double out[2];
  energies_.run<double>(inputs(state), scratch_, out);
  return out[0];
}

double Equations::energy(const State& state) const {
  double out[2];
  energies_.run<double>(inputs(state), scratch_, out);
  return out[1];
}

double Equations::evaluate(const Program& program, const State& state) const {
  double out = 0;
  program.run<double>(inputs(state), scratch_, {&out, 1});
  return out;
}

void Equations::evaluate(const Program& program, const State& state, std::span<const double> multipliers,
                         std::span<const double> closed, std::span<double> out,
                         std::span<const double> branches) const {
  Inputs<double> all = inputs(state);
  all.multipliers = multipliers;
  all.closed = closed;
  all.branches = branches;
  program.run<double>(all, scratch_, out);
}

}  // namespace zwang
