// Reads [sensitivity].
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "host/sample/distribution.h"
#include "host/sample/sampler.h"
#include "host/sample/sobol.h"
#include "host/study/study.h"
#include "host/study_file/builder.h"
#include "host/toml/document.h"
#include "host/toml/raw_text.h"
#include "host/toml/reader.h"
#include "src/base/error.h"
#include "src/expression/expression.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr long long fewest_rows = 64;
constexpr long long most_base_rows = 1'000'000'000'000;
constexpr double most_members_of_rows = 1e12;

// The parameters whose draws are varied; values of a grid or file are none.
std::vector<std::size_t> drawn_parameters(const Study& study) {
  std::vector<std::size_t> made;
  for (std::size_t i = 0; i < study.parameters.size(); ++i) {
    const ParameterRule& rule = study.parameters[i];
    if (rule.joint || (rule.distribution && takes_uniform(rule.distribution->kind))) made.push_back(i);
  }
  return made;
}

// Whether the arguments of a draw depend on other draws.
bool depends_on_draws(const Expressions& pool, const Study& study, const ParameterRule& rule) {
  std::vector<Expr> waiting;
  if (rule.distribution) waiting = rule.distribution->arguments;
  std::set<std::size_t> seen;
  while (!waiting.empty()) {
    const std::vector<Symbol> symbols = pool.symbols({waiting.back()});
    waiting.pop_back();
    for (const Symbol& symbol : symbols) {
      if (symbol.kind != SymbolKind::parameter || !seen.insert(symbol.index).second) continue;
      const ParameterRule& used = study.parameters[symbol.index];
      if (used.drawn()) return true;
      if (used.value) waiting.push_back(*used.value);
    }
  }
  return false;
}

}  // namespace

void StudyBuilder::read_sensitivity() {
  const Field field = single_table(reader_, "sensitivity");
  if (!field) return;
  fields_.sensitivity = field;
  const Table table(reader_, field, {"base", "of", "inputs", "groups"});
  study_.sensitivity.emplace();
  if (const Field base = table.require("base", "the number of rows, such as 4096"))
    study_.sensitivity->base = reader_.integer(base, fewest_rows, most_base_rows).value_or(fewest_rows);
  if (study_.sensitivity->base == 0) study_.sensitivity->base = fewest_rows;
  read_sensitivity_measures(table["of"]);
  read_sensitivity_inputs(table);
}

void StudyBuilder::read_sensitivity_measures(const Field& field) {
  std::vector<std::size_t>& of = study_.sensitivity->of;
  const std::vector<std::string> names = names_of_measures();
  if (names.empty()) {
    reader_.report(fields_.sensitivity, "there is no measure", "a name from [measure], which is empty");
    return;
  }
  if (!field) {
    for (std::size_t m = 0; m < names.size(); ++m) of.push_back(m);
    return;
  }
  const auto items = reader_.array(field, "an array of names of measures");
  if (!items) return;
  if (items->empty()) reader_.report(field, "no measures", "at least one name of a measure");
  for (const Field& item : *items) {
    const auto word = reader_.string(item, "the name of a measure, in quotes");
    if (!word) continue;
    const auto place = static_cast<std::size_t>(std::find(names.begin(), names.end(), *word) - names.begin());
    if (place == names.size())
      reader_.report(item, "there is no such measure", "one of: " + list_text(names),
                     suggestion(*word, names));
    else if (std::find(of.begin(), of.end(), place) != of.end())
      reader_.report(item, "the measure is listed twice", "every measure once");
    else
      of.push_back(place);
  }
}

// Parameters by the names of draws.
std::vector<std::size_t> StudyBuilder::read_draws(const Field& field) {
  std::vector<std::size_t> made;
  const std::vector<std::size_t> drawn = drawn_parameters(study_);
  std::vector<std::string> names;
  for (const std::size_t i : drawn) names.push_back(study_.parameters[i].name);
  const auto items = reader_.array(field, "an array of names of draws");
  if (!items || items->empty()) inputs_broken_ = true;
  if (!items) return made;
  if (items->empty()) reader_.report(field, "no inputs", "at least one name of a draw");
  for (const Field& item : *items) {
    const auto word = reader_.string(item, "the name of a draw, in quotes");
    if (!word) continue;
    const auto place = static_cast<std::size_t>(std::find(names.begin(), names.end(), *word) - names.begin());
    inputs_broken_ = inputs_broken_ || place == names.size();
    if (place == names.size())
      reader_.report(item, "not a draw of this study",
                     names.empty() ? "a draw; this study has none" : "one of: " + list_text(names),
                     suggestion(*word, names));
    else
      made.push_back(drawn[place]);
  }
  return made;
}

// The names of a [[joint]] are varied together or not at all.
bool StudyBuilder::check_joints(const Field& field, const std::vector<std::size_t>& parameters) {
  for (const std::size_t i : parameters) {
    const std::optional<std::size_t> joint = study_.parameters[i].joint;
    if (!joint) continue;
    const std::vector<std::string>& names = study_.joints[*joint].names;
    const auto members =
        static_cast<std::size_t>(std::count_if(parameters.begin(), parameters.end(), [&](std::size_t other) {
          return study_.parameters[other].joint == joint;
        }));
    if (members == names.size()) continue;
    std::string quoted;
    for (const std::string& name : names) quoted += (quoted.empty() ? "\"" : ", \"") + name + "\"";
    reader_.report(field, list_text(names) + " are correlated: Sobol' indices need independent inputs",
                   "all of them in one group",
                   fmt::format("use groups = {{ {} = [{}] }}", names[0] + "_group", quoted));
    return false;
  }
  return true;
}

void StudyBuilder::read_sensitivity_inputs(const Table& table) {
  std::vector<SensitivitySettings::Input>& made = study_.sensitivity->inputs;
  const Field groups = table["groups"], inputs = table["inputs"];
  std::set<std::size_t> used;
  const auto add = [&](const Field& field, const std::string& name, std::vector<std::size_t> parameters) {
    for (const std::size_t i : parameters)
      if (!used.insert(i).second)
        reader_.report_found(field, "an input is listed twice", "'" + study_.parameters[i].name + "'",
                             "every input once");
    if (!check_joints(field, parameters)) {
      inputs_broken_ = true;
      return;
    }
    SensitivitySettings::Input one{name, std::move(parameters), ""};
    for (const std::size_t i : one.parameters)
      if (depends_on_draws(pool(), study_, study_.parameters[i]))
        one.note =
            "of the underlying uniform number: the arguments of its distribution depend on other draws";
    made.push_back(std::move(one));
  };
  if (groups && groups.value->kind != Value::Kind::table)
    reader_.report(groups, "not a table", R"(groups = { start = ["x0", "v0"] })");
  else if (groups)
    for (const Entry& entry : groups.value->entries) {
      const Field item{&entry.value, groups.place + ", " + printable(entry.key)};
      add(item, entry.key, read_draws(item));
    }
  if (inputs) {
    for (const std::size_t i : read_draws(inputs)) add(inputs, study_.parameters[i].name, {i});
    return;
  }
  // By default every draw, and the names of a [[joint]] together.
  for (const std::size_t i : drawn_parameters(study_)) {
    if (used.contains(i)) continue;
    const ParameterRule& rule = study_.parameters[i];
    std::vector<std::size_t> together = {i};
    std::string name = rule.name;
    if (rule.joint) {
      together.clear();
      name.clear();
      for (std::size_t k = 0; k < study_.parameters.size(); ++k)
        if (study_.parameters[k].joint == rule.joint) together.push_back(k);
      for (const std::string& part : study_.joints[*rule.joint].names)
        name += (name.empty() ? "" : "+") + part;
    }
    add(fields_.sensitivity, name, together);
  }
}

// With the ensemble's settings known.
void StudyBuilder::check_sensitivity() {
  const std::optional<UntilSettings>& until = study_.ensemble.until;
  const bool by_index = until && !until->index.empty();
  if (by_index && !study_.sensitivity)
    reader_.report(fields_.until_index, "there are no indices", "[sensitivity], which defines them");
  if (!study_.sensitivity) return;
  const Field& field = fields_.sensitivity;
  const SensitivitySettings& made = *study_.sensitivity;
  std::set<std::string> names;
  for (const SensitivitySettings::Input& input : made.inputs)
    if (!names.insert(input.name).second)
      reader_.report_found(field, "two inputs have the same name", "'" + input.name + "'",
                           "another name for the group");
  if (made.inputs.size() < 2 && !inputs_broken_)
    reader_.report_found(field, "needs two inputs or more, use the plain run",
                         fmt::format("{} input{}", made.inputs.size(), made.inputs.size() == 1 ? "" : "s"),
                         "two draws or groups of draws");
  if (double(made.base) * double(made.blocks()) > most_members_of_rows)
    reader_.report_found(field, "too many members",
                         fmt::format("{} rows of {} members", made.base, made.blocks()),
                         "at most 1e12 in all");
  for (const ParameterRule& rule : study_.parameters) {
    if (!rule.distribution) continue;
    if (rule.distribution->kind == Distribution::Kind::file)
      reader_.report_found(field, "the rows of a file are joint, Sobol' indices need independent inputs",
                           "'" + rule.name + "' from a file", "distributions");
    if (rule.distribution->kind == Distribution::Kind::grid)
      reader_.report_found(field, "a grid is no random input", "'" + rule.name + "' on a grid",
                           "distributions");
  }
  if (study_.ensemble.consistency == Consistency::reject)
    reader_.report_found(field, "rejection makes inputs dependent, Sobol' indices need independent inputs",
                         "consistency = \"reject\"", "\"project\" or \"error\"");
  if (study_.ensemble.include_nominal)
    reader_.report_found(field, "the nominal member is no draw", "include_nominal = true",
                         "include_nominal = false");
  const std::size_t draws = 2 * dimension_names(study_).size();
  if (study_.ensemble.sampler == SamplerKind::sobol && draws > sobol_dimensions)
    reader_.report_found(field, "\"sobol\" does not have enough dimensions: every draw needs two",
                         fmt::format("{} dimensions", draws), fmt::format("at most {}", sobol_dimensions));
  if (!by_index) return;
  const std::string& index = until->index;
  std::vector<std::string> known;
  for (const SensitivitySettings::Input& input : made.inputs)
    for (const char* kind : {"S.", "T."}) known.push_back(kind + input.name);
  if (std::find(known.begin(), known.end(), index) == known.end())
    reader_.report(fields_.until_index, "there is no such index", "one of: " + list_text(known),
                   suggestion(index, known));
  if (until->measure.empty()) return;
  const std::vector<std::string> measures = names_of_measures();
  const auto place = static_cast<std::size_t>(std::find(measures.begin(), measures.end(), until->measure) -
                                              measures.begin());
  if (place < measures.size() && std::find(made.of.begin(), made.of.end(), place) == made.of.end())
    reader_.report_found(fields_.until_index, "the measure has no indices", "'" + until->measure + "'",
                         "a measure that [sensitivity] of lists");
}

// members is N (k + 2) and may be left out.
void StudyBuilder::check_members_of_sensitivity(const Field& members) {
  const SensitivitySettings& made = *study_.sensitivity;
  study_.ensemble.members = made.base;
  if (!members) return;
  const auto given = reader_.integer(members, 1, most_base_rows);
  const auto wanted = made.base * static_cast<long long>(made.blocks());
  if (given && *given != wanted)
    reader_.report(members, "not the number of members of [sensitivity]",
                   fmt::format("{}: base times the number of inputs and 2", wanted),
                   "leave it out, and change it by --set sensitivity.base=N");
}

}  // namespace zwang
