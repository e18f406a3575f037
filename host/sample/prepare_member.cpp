// Sampler::prepare: draws a member and applies the study's `consistency` rule to its start.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/sample/prepared_member.h"
#include "host/sample/sampler.h"
#include "host/sample/start_deviation.h"
#include "host/study/study.h"
#include "kernels/base/status.h"
#include "src/base/error.h"
#include "src/expression/scaled.h"
#include "src/laws/project.h"
#include "src/reference/reference.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// Largest number of draws per member with consistency = "reject".
constexpr unsigned attempt_limit = 1000;

// Beyond this number further constraints are only counted.
constexpr std::size_t deviations_named = 4;

std::string violations(const System& system, const std::vector<StartDeviation>& deviations) {
  std::string text;
  for (std::size_t k = 0; k < std::min(deviations.size(), deviations_named); ++k) {
    const StartDeviation& one = deviations[k];
    const Constraint& constraint = system.constraints[one.constraint];
    const char* letter = !constraint.holonomic ? "g" : one.velocity ? "f'" : "f";
    text += fmt::format("{}'{}': {} = {:.6g}, where {} {} 0 is required ({:.3g} % of its largest term)",
                        text.empty() ? "" : "; ", constraint.name, letter, one.value, letter,
                        constraint.equation ? "=" : "<=", 100 * one.share);
  }
  if (deviations.size() > deviations_named)
    text += fmt::format("; and {} more", deviations.size() - deviations_named);
  return text;
}

}  // namespace

void Sampler::prepare(unsigned long long member, Scratch& scratch, PreparedMember& made) const {
  const Consistency consistency = study_->ensemble.consistency;
  // Without draws a member would be the same at every attempt.
  const bool redraws = consistency == Consistency::reject && !nominal(member) && uniform_.dimensions() > 0;
  const unsigned limit = redraws ? attempt_limit : 1;
  made.number = member;
  for (unsigned attempt = 0; attempt < limit; ++attempt) {
    made.attempts = attempt + 1;
    draw(member, attempt, scratch, made.inputs);
    made.start = made.inputs.start;
    made.preparation = {};
    made.drawn_change = 0;
    made.drawn_change_of = -1;
    // A value out of its range is no start that violates a constraint: it is not drawn again, which would change its
    // distribution.
    if (ranges_.violated(made.inputs.parameters, scratch.slots, scratch.outputs)) break;
    if (start_check_.consistent(made.inputs.parameters, made.start, scratch.start)) return;
    if (consistency == Consistency::error) require_near_constraints(scratch, made);
    if (consistency != Consistency::reject) return project(scratch, made);
  }
  made.preparation = {
      .status = Status::inconsistent_start, .position_moved = 0, .velocity_moved = 0, .consistent = false};
}

void Sampler::project(Scratch& scratch, PreparedMember& made) const {
  made.preparation =
      prepare_start(equations(scratch, made.inputs.parameters), study_->integrator, made.start);
  if (made.preparation.status != Status::ok) return;
  // The drawn value that changed most, relative to its size.
  const State& drawn = made.inputs.start;
  const auto n = static_cast<std::size_t>(drawn.q.size());
  for (const std::size_t k : drawn_starts_) {
    const auto i = static_cast<Eigen::Index>(k < n ? k : k - n);
    const double before = k < n ? drawn.q(i) : drawn.v(i), after = k < n ? made.start.q(i) : made.start.v(i);
    const double size = std::max(std::abs(before), std::abs(after));
    const double change = size > 0 ? std::abs(after - before) / size : 0;
    if (change > made.drawn_change) made.drawn_change = change, made.drawn_change_of = static_cast<int>(k);
  }
}

// The sizes of the terms of the formulas of positions and velocities.
Sizes Sampler::formula_sizes(const std::vector<double>& parameters) const {
  std::vector<Scaled> scaled, out(start_.outputs()), slots;
  for (const double p : parameters) scaled.emplace_back(p);
  start_.run<Scaled>({.parameters = scaled}, slots, out);
  const auto n = static_cast<Eigen::Index>(study_->system->size());
  Sizes sizes{Eigen::VectorXd(n), Eigen::VectorXd(n)};
  for (Eigen::Index i = 0; i < n; ++i) {
    sizes.q(i) = out[static_cast<std::size_t>(i)].scale;
    sizes.v(i) = out[static_cast<std::size_t>(n + i)].scale;
  }
  return sizes;
}

// Throws Error unless the start is off its constraints by rounding only.
void Sampler::require_near_constraints(Scratch& scratch, const PreparedMember& made) const {
  const Equations& system = equations(scratch, made.inputs.parameters);
  const std::vector<StartDeviation> found =
      start_deviations(system, made.inputs.start, formula_sizes(made.inputs.parameters), start_rounding);
  if (found.empty()) return;
  State nearest = made.inputs.start;
  const Start moved = prepare_start(system, study_->integrator, nearest);
  const std::string away =
      moved.status == Status::ok
          ? fmt::format("the nearest admissible start is {:.6g} away in positions, {:.6g} in velocities",
                        moved.position_moved, moved.velocity_moved)
          : std::string("no admissible start was found near it");
  throw Error(
      {.where = {study_->path, 0, 0},
       .message = fmt::format("the start of member {} violates the constraint '{}'; nothing was computed",
                              made.number, system.system().constraints[found.front().constraint].name),
       .found = violations(system.system(), found) + "; " + away,
       .expected =
           fmt::format("a start that meets its constraints to {:g} of their largest term", start_rounding),
       .hint = "correct the start, or let [ensemble] say what to do: consistency = \"project\" moves such "
               "starts to the nearest admissible ones, \"reject\" draws them again; a constraint with "
               "from = 0 changes velocities by a shock"});
}

// The equations are built once per thread; for further members only their parameters change.
const Equations& Sampler::equations(Scratch& scratch, const std::vector<double>& parameters) const {
  if (scratch.equations && &scratch.equations->system() == study_->system.get())
    scratch.equations->set_parameters(parameters);
  else
    scratch.equations.emplace(*study_->system, parameters);
  return *scratch.equations;
}

}  // namespace zwang
