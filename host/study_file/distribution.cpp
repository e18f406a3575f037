// Reads distributions: { uniform = [a, b] } and the seven other kinds.
#include <algorithm>
#include <cmath>

#include "host/study/study.h"
#include "host/study_file/builder.h"
#include "host/study_file/csv_columns.h"
#include "host/study_file/input_columns.h"
#include "host/toml/reader.h"
#include "src/base/error.h"
#include "src/expression/expression.h"
#include "src/expression/interval.h"
#include "src/system/equations.h"

namespace zwang {

namespace {

using Kind = Distribution::Kind;

struct KindName {
  const char* name;
  Kind kind;
  const char* form;
};
constexpr KindName kinds[] = {
    {"uniform", Kind::uniform, "uniform = [a, b]"},
    {"normal", Kind::normal, "normal = { mean = m, std = s }"},
    {"lognormal", Kind::lognormal, "lognormal = { mean = m, std = s }"},
    {"triangular", Kind::triangular, "triangular = [a, m, b]"},
    {"exponential", Kind::exponential, "exponential = { mean = m }"},
    {"choice", Kind::choice, "choice = [..]"},
    {"grid", Kind::grid, "grid = [a, b, k] with k points"},
    {"file", Kind::file, "file = \"states.csv\", column = \"x\""},
};

// Upper bound on the points of one grid, equal to the limit on members.
constexpr long long grid_limit = 1'000'000'000'000;

}  // namespace

std::optional<Distribution> StudyBuilder::distribution(const Field& field) {
  std::vector<std::string> known, present;
  for (const KindName& kind : kinds) {
    known.emplace_back(kind.name);
    if (field.value->find(kind.name)) present.emplace_back(kind.name);
  }
  const std::string choices = "one of: " + list_text(known, "or") + "; or sweep = [from, to, count]";
  known.emplace_back("column");
  const std::size_t before = reader_.problems().size();
  const Table table(reader_, field, known);
  if (present.size() != 1) {
    // An unknown key has been reported already; it is probably a misspelt kind.
    if (present.size() > 1)
      reader_.report_found(field, "more than one distribution", list_text(present), "one distribution");
    else if (reader_.problems().size() == before)
      reader_.report(field, "not a distribution", choices);
    return {};
  }
  const auto* kind = std::find_if(std::begin(kinds), std::end(kinds),
                                  [&](const KindName& one) { return one.name == present.front(); });
  Distribution made;
  made.kind = kind->kind;
  const Field inside = table[kind->name];
  if (const Field column = table["column"]; column && made.kind != Kind::file) {
    reader_.report(column, "only a file has columns", "no column, or file = \"...\"");
    return {};
  }
  bool ok = false;
  switch (made.kind) {
    case Kind::normal:
    case Kind::lognormal:
      ok = read_moments(inside, true, made);
      break;
    case Kind::exponential:
      ok = read_moments(inside, false, made);
      break;
    case Kind::grid:
      ok = read_grid(inside, made);
      break;
    case Kind::file:
      ok = read_file(table, inside, made);
      break;
    default:
      ok = read_arguments(inside, made);
  }
  if (!ok || !check_arguments(inside, made)) return {};
  return made;
}

// uniform, triangular, choice: a list of numbers and expressions.
bool StudyBuilder::read_arguments(const Field& field, Distribution& made) {
  const auto* kind = std::find_if(std::begin(kinds), std::end(kinds),
                                  [&](const KindName& one) { return one.kind == made.kind; });
  const auto items = reader_.array(field, kind->form);
  if (!items) return false;
  const std::size_t wanted = made.kind == Kind::uniform ? 2 : made.kind == Kind::triangular ? 3 : 0;
  if (items->empty() || (wanted > 0 && items->size() != wanted)) {
    const std::string count = std::to_string(items->size());
    reader_.report_found(field, "wrong number of entries", count, kind->form);
    return false;
  }
  bool ok = true;
  for (const Field& item : *items) {
    const std::optional<Expr> argument = formula(item, allow_parameters);
    made.arguments.push_back(argument.value_or(pool().zero()));
    ok = ok && argument;
  }
  return ok;
}

// normal, lognormal, exponential.
bool StudyBuilder::read_moments(const Field& field, bool with_std, Distribution& made) {
  std::vector<std::string> keys = {"mean"};
  if (with_std) keys.emplace_back("std");
  const Table table(reader_, field, keys);
  bool ok = table.ok();
  for (const std::string& key : keys) {
    const Field item = table.require(key, "a number or a formula for '" + key + "'");
    const std::optional<Expr> argument = item ? formula(item, allow_parameters) : std::nullopt;
    made.arguments.push_back(argument.value_or(pool().zero()));
    ok = ok && argument;
  }
  return ok;
}

bool StudyBuilder::read_grid(const Field& field, Distribution& made) {
  parameters_.has_grid = true;
  const auto items = reader_.array(field, "[a, b, k] with k points");
  if (!items || items->size() != 3) {
    parameters_.grid_members = std::nan("");
    if (items)
      reader_.report_found(field, "wrong number of entries", std::to_string(items->size()),
                           "[a, b, k] with k points");
    return false;
  }
  const std::optional<Expr> a = formula((*items)[0], allow_parameters),
                            b = formula((*items)[1], allow_parameters);
  const std::optional<long long> points = reader_.integer((*items)[2], 1, grid_limit);
  made.arguments = {a.value_or(pool().zero()), b.value_or(pool().zero())};
  made.grid_points = points.value_or(1);
  parameters_.grid_members *= points ? static_cast<double>(*points) : std::nan("");
  return a && b && points;
}

bool StudyBuilder::read_file(const Table& table, const Field& field, Distribution& made) {
  const Field column = table.require("column", "the name of a column of the file");
  const auto file = reader_.string(field, "the path of a CSV file in quotes");
  const auto wanted = column ? reader_.string(column, "the name of a column in quotes") : std::nullopt;
  if (!file || !wanted) return false;
  if (*file == given_columns_name) return take_column(field, *wanted, made);
  const Field* at_fault = &field;
  try {
    const CsvTable* csv = csv_files_.open(*file);
    if (!csv) return false;
    at_fault = &column;
    made.file = *file;
    made.column = *wanted;
    made.file_values = csv->column(*wanted);
    parameters_.file_uses.push_back({field, made.file_values.size()});
    return true;
  } catch (const Error& error) {
    const Problem& problem = error.problems().front();
    reader_.report_found(*at_fault, problem.message, problem.found, problem.expected, problem.hint);
    return false;
  }
}

// A column that the caller gave beside the text.
bool StudyBuilder::take_column(const Field& field, const std::string& name, Distribution& made) {
  const auto column = std::find_if(columns_.begin(), columns_.end(),
                                   [&](const InputColumn& one) { return one.name == name; });
  if (column == columns_.end()) {
    reader_.report_found(field, "no columns were given beside the study", name, "the path of a CSV file");
    return false;
  }
  made.file = given_columns_name;
  made.column = name;
  made.file_values = column->values;
  parameters_.file_uses.push_back({field, made.file_values.size()});
  return true;
}

// Checks arguments that are the same for every member. Others are checked when a member is drawn.
bool StudyBuilder::check_arguments(const Field& field, const Distribution& made) {
  std::vector<double> x;
  std::string list;
  for (const Expr argument : made.arguments) {
    const Evaluated evaluated = evaluate(argument);
    if (evaluated.state != State::constant) return true;
    x.push_back(evaluated.value);
    list += (list.empty() ? "" : ", ") + number_text(evaluated.value);
  }
  std::string message, expected;
  if (!std::all_of(x.begin(), x.end(), [](double value) { return std::isfinite(value); })) {
    message = "not finite";
    expected = "finite numbers";
  } else if (made.kind == Kind::uniform && x[0] > x[1]) {
    message = "the ends are in the wrong order";
    expected = "[a, b] with a <= b";
  } else if ((made.kind == Kind::normal || made.kind == Kind::lognormal) && x[1] < 0) {
    message = "a negative standard deviation";
    expected = "mean, std with std >= 0";
  } else if (made.kind == Kind::triangular && !(x[0] <= x[1] && x[1] <= x[2])) {
    message = "the numbers are in the wrong order";
    expected = "[a, m, b] with a <= m <= b";
  } else if (made.kind == Kind::exponential && x[0] <= 0) {
    message = "the mean is not positive";
    expected = "mean > 0";
  }
  if (message.empty()) return true;
  reader_.report_found(field, message, list, expected);
  return false;
}

Interval StudyBuilder::range(const Distribution& made) {
  if (made.kind != Kind::uniform && made.kind != Kind::triangular && made.kind != Kind::grid)
    return Interval::everything();
  const Interval a = range(made.arguments.front()), b = range(made.arguments.back());
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

}  // namespace zwang
