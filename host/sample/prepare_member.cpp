// From a drawn member to one that can start.
#include <cmath>

#include "host/sample/prepared_member.h"
#include "host/sample/sampler.h"
#include "host/study/study.h"
#include "kernels/base/status.h"
#include "src/base/error.h"
#include "src/reference/reference.h"
#include "src/system/equations.h"

namespace zwang {

namespace {

// Draws of one member before "reject" gives up.
constexpr unsigned attempt_limit = 1000;

// Which conditions the drawn start is off, for the message.
std::string what_is_off(const Equations& equations, const State& state) {
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
  return text.empty() ? "conditions missed by less than 1e-9" : text;
}

}  // namespace

void Sampler::prepare(unsigned long long member, Scratch& scratch, PreparedMember& made) const {
  const Consistency consistency = study_->ensemble.consistency;
  // What holds no draw stays the same however often it is drawn.
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
  throw Error({.where = {study_->path, 0, 0},
               .message = "member " + std::to_string(made.number) + " starts off the conditions",
               .found = what_is_off(equations(scratch, made.inputs.parameters), made.inputs.start),
               .expected = "0 for equations and their rates, at most 0 for inequalities",
               .hint = "consistency = \"project\" moves such starts to the nearest admissible state"});
}

// Their formulas are made once per thread; only the numbers change.
const Equations& Sampler::equations(Scratch& scratch, const std::vector<double>& parameters) const {
  if (scratch.equations && &scratch.equations->system() == study_->system.get())
    scratch.equations->set_parameters(parameters);
  else
    scratch.equations.emplace(*study_->system, parameters);
  return *scratch.equations;
}

}  // namespace zwang
