// Sampler::prepare: draws a member and applies the study's `consistency` rule to its start.
#include <cmath>

#include "host/sample/prepared_member.h"
#include "host/sample/sampler.h"
#include "host/study/study.h"
#include "kernels/base/status.h"
#include "src/base/error.h"
#include "src/laws/project.h"
#include "src/reference/reference.h"
#include "src/system/equations.h"

namespace zwang {

namespace {

// Largest number of draws per member with consistency = "reject".
constexpr unsigned attempt_limit = 1000;

// The constraints that the drawn start violates, for the message.
std::string violations(const Equations& equations, const State& state) {
  std::string text;
  const auto& constraints = equations.system().constraints;
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const Row row = equations.row(i, state);
    const bool off =
        constraints[i].equation ? std::abs(row.value) + std::abs(row.rate) > 1e-9 : row.value > 1e-9;
    if (!off) continue;
    if (!text.empty()) text += "; ";
    text += "'" + constraints[i].name + "' is " + number_text(row.value);
    if (constraints[i].equation && constraints[i].holonomic) text += ", its rate " + number_text(row.rate);
  }
  return text.empty() ? "violations below 1e-9" : text;
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
    if (start_check_.consistent(made.inputs.parameters, made.start, scratch.start)) return;
    if (consistency == Consistency::project) return project(scratch, made);
    if (consistency == Consistency::error) refuse(scratch, made);
  }
  made.preparation = {
      .status = Status::inconsistent_start, .position_moved = 0, .velocity_moved = 0, .consistent = false};
}

void Sampler::project(Scratch& scratch, PreparedMember& made) const {
  made.preparation =
      prepare_start(equations(scratch, made.inputs.parameters), study_->integrator, made.start);
}

void Sampler::refuse(Scratch& scratch, const PreparedMember& made) const {
  throw Error(
      {.where = {study_->path, 0, 0},
       .message = "the start of member " + std::to_string(made.number) + " violates a constraint",
       .found = violations(equations(scratch, made.inputs.parameters), made.inputs.start),
       .expected = "0 for equations and their rates, at most 0 for inequalities",
       .hint = "[ensemble] consistency = \"project\" moves such starts to the nearest admissible state"});
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
