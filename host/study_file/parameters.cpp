// Reads [parameters]: numbers, formulas of earlier parameters, or distributions, in the order of the file.
#include <algorithm>
#include <cmath>

#include "host/study/study.h"
#include "host/study_file/builder.h"
#include "host/toml/document.h"
#include "host/toml/reader.h"
#include "src/expression/expression.h"
#include "src/formula/parse.h"
#include "src/formula/scope.h"
#include "src/system/equations.h"

namespace zwang {

namespace {

const char* const order = "parameters are read from top to bottom";

}  // namespace

std::size_t StudyBuilder::add_parameter(ParameterRule rule, const ParameterFact& fact) {
  description_.parameters.push_back(rule.name);
  study_.parameters.push_back(std::move(rule));
  parameters_.facts.push_back(fact);
  if (fact.state == State::broken) parameters_.facts.back().value = std::nan("");
  return parameters_.facts.size() - 1;
}

// Makes the parameter available to formulas.
void StudyBuilder::define_parameter(const std::string& name, ParameterRule rule, const ParameterFact& fact) {
  rule.name = name;
  const std::size_t index = add_parameter(std::move(rule), fact);
  scope_.scalars.emplace(name, ScalarName{pool().symbol(SymbolKind::parameter, index), {}, allow_parameters});
  names_.later.erase(name);
}

void StudyBuilder::read_parameters() {
  const Field table = single_table(reader_, "parameters");
  const std::vector<Entry> none;
  const std::vector<Entry>& entries = table ? table.value->entries : none;
  for (const Entry& entry : entries) names_.later[entry.key] = {"is defined later", order};
  for (const JointDraft& draft : parameters_.joints)
    for (const std::string& name : draft.names)
      names_.later[name] = {"is drawn by a [[joint]] with formulas, after all of [parameters]",
                            "a joint of plain numbers is drawn before [parameters]"};

  // Joints that contain only numbers come first, so that parameters may use them; joints with formulas may
  // use parameters.
  std::map<std::string, const JointDraft*> of_joints;
  for (const JointDraft& draft : parameters_.joints) {
    for (const std::string& name : draft.names) of_joints[name] = &draft;
    if (draft.numbers_only) add_joint(draft);
  }
  for (const Entry& entry : entries) {
    const Field field{&entry.value, named_place("parameter", entry)};
    if (!of_joints.contains(entry.key))
      read_parameter(entry, field);
    else if (!entry.value.is_number())
      reader_.report(field, "also drawn by a [[joint]]",
                     "a plain number, which the joint replaces, or no entry");
  }
  for (const JointDraft& draft : parameters_.joints)
    if (!draft.numbers_only) add_joint(draft);
}

ParameterFact StudyBuilder::draw_or_sweep(const Field& field, ParameterRule& rule) {
  if (is_sweep(field)) {
    rule.sweep = sweep(field, rule.name);
    if (!rule.sweep) return {};
    const std::vector<double>& values = study_.sweeps[*rule.sweep].values;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return {State::drawn, 0, {*low, *high}};
  }
  rule.distribution = distribution(field);
  if (!rule.distribution) return {};
  return {State::drawn, 0, range(*rule.distribution)};
}

void StudyBuilder::read_parameter(const Entry& entry, const Field& field) {
  if (entry.value.kind == Value::Kind::string) names_.later[entry.key] = {"is defined by itself", order};
  ParameterRule rule;
  ParameterFact fact;
  switch (entry.value.kind) {
    case Value::Kind::table:
      rule.name = entry.key;
      fact = draw_or_sweep(field, rule);
      break;
    case Value::Kind::integer:
    case Value::Kind::real:
    case Value::Kind::string:
      rule.value = formula(field, allow_parameters);
      if (!rule.value) break;
      check_value(field, *rule.value, is_finite, "its value is not finite", "a finite number");
      fact.state = evaluate(*rule.value).state;
      fact.value = evaluate(*rule.value).value;
      fact.range = fact.state == State::constant ? Interval(fact.value) : range(*rule.value);
      if (fact.state == State::constant && !std::isfinite(fact.value)) fact = {};
      break;
    default:
      reader_.report(
          field, "not a value a parameter can have",
          "a number, a formula in quotes, a distribution such as { uniform = [0, 1] }, or a sweep such as "
          "{ sweep = [0, 1, 11] }");
  }
  define_parameter(entry.key, std::move(rule), fact);
}

}  // namespace zwang
