// Reads sweeps: { sweep = [from, to, count] }, { sweep = { from, to, count, scale } } and
// { sweep = { values = [..] } }.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "host/sample/distribution.h"
#include "host/study/study.h"
#include "host/study_file/builder.h"
#include "host/toml/document.h"
#include "host/toml/reader.h"
#include "src/base/error.h"
#include "src/expression/interval.h"

namespace zwang {

namespace {

constexpr long long most_points = 1'000'000;

const char* const sweep_form =
    "[from, to, count], { from = a, to = b, count = n, scale = \"log\" } or { values = [..] }";

// The value itself, or the number of 15 digits next to it if that differs by rounding alone: 0.8 instead of
// 0.7999999999999999.
double without_rounding(double value, double a, double b) {
  const double rounded = std::strtod(fmt::format("{:.15g}", value).c_str(), nullptr);
  const double size = std::max(std::abs(a), std::abs(b)) * std::numeric_limits<double>::epsilon();
  return std::abs(rounded - value) <= 2 * size ? rounded : value;
}

// Points with equally spaced logarithms; both ends are exact.
double log_value(double a, double b, long long index, long long points) {
  if (index == 0) return a;
  if (index == points - 1) return b;
  const double low = std::log10(a), high = std::log10(b);
  return std::pow(10.0, low + (high - low) * static_cast<double>(index) / static_cast<double>(points - 1));
}

double linear_value(double a, double b, long long index, long long points) {
  if (index == 0) return a;
  if (index == points - 1) return b;
  return without_rounding(grid_value(a, b, index, points), a, b);
}

}  // namespace

bool StudyBuilder::is_sweep(const Field& field) {
  return field.value->kind == Value::Kind::table && field.value->find("sweep") != nullptr;
}

// The parameter that is defined next takes its values from the sweep.
std::optional<std::size_t> StudyBuilder::sweep(const Field& field, const std::string& name) {
  const Table table(reader_, field, {"sweep"});
  Sweep made;
  made.name = name;
  made.parameter = study_.parameters.size();
  parameters_.has_sweep = true;
  if (!read_sweep(table["sweep"], made)) {
    parameters_.sweep_broken = true;
    return {};
  }
  study_.sweeps.push_back(std::move(made));
  if (study_.sweeps.size() > most_sweeps) {
    reader_.report_found(field, "too many sweeps", std::to_string(study_.sweeps.size()),
                         "at most " + std::to_string(most_sweeps));
    parameters_.sweep_broken = true;
  }
  return study_.sweeps.size() - 1;
}

bool StudyBuilder::read_sweep(const Field& field, Sweep& made) {
  if (field.value->kind == Value::Kind::array) {
    const auto items = reader_.array(field, sweep_form);
    if (items && items->size() == 3) return read_sweep_ends((*items)[0], (*items)[1], (*items)[2], made);
    if (items)
      reader_.report_found(field, "wrong number of entries", std::to_string(items->size()), sweep_form,
                           "single values stand in { sweep = { values = [..] } }");
    return false;
  }
  if (field.value->kind != Value::Kind::table) {
    reader_.report(field, "not a sweep", sweep_form);
    return false;
  }
  if (field.value->find("values")) {
    const Table table(reader_, field, {"values"});
    return read_sweep_values(table["values"], made);
  }
  const Table table(reader_, field, {"from", "to", "count", "scale", "values"});
  if (const Field scale = table["scale"]) {
    const auto word = reader_.choice(scale, {"linear", "log"});
    if (!word) return false;
    made.logarithmic = *word == "log";
  }
  const Field from = table.require("from", "the first value"), to = table.require("to", "the last value"),
              count = table.require("count", "the number of values");
  return from && to && count && read_sweep_ends(from, to, count, made);
}

bool StudyBuilder::read_sweep_ends(const Field& from, const Field& to, const Field& count, Sweep& made) {
  const auto a = constant(from, is_finite, "a finite number"), b = constant(to, is_finite, "a finite number");
  const Value& written = *count.value;
  if (written.kind != Value::Kind::integer &&
      !(written.kind == Value::Kind::real && written.number == std::floor(written.number))) {
    reader_.report(count, "not a whole number", "a count from 2 to " + std::to_string(most_points));
    return false;
  }
  const auto points =
      reader_.integer(count, std::numeric_limits<long long>::min(), std::numeric_limits<long long>::max());
  if (!a || !b || !points) return false;
  if (*points < 2) {
    reader_.report_found(count, "a sweep needs two points or more", std::to_string(*points), "a count >= 2");
    return false;
  }
  if (*points > most_points) {
    reader_.report_found(count, "too many points", std::to_string(*points),
                         "at most " + std::to_string(most_points));
    return false;
  }
  if (*a == *b) {
    reader_.report_found(to, "from and to are equal", number_text(*b), "two different ends",
                         "a single value needs no sweep");
    return false;
  }
  if (made.logarithmic && (*a <= 0 || *b <= 0)) {
    reader_.report_found(*a <= 0 ? from : to, "a log sweep needs positive ends",
                         number_text(*a <= 0 ? *a : *b), "a number > 0");
    return false;
  }
  if (!std::isfinite(*b - *a)) {
    reader_.report_found(to, "the ends are too far apart", number_text(*a) + " to " + number_text(*b),
                         "a finite distance");
    return false;
  }
  for (long long i = 0; i < *points; ++i)
    made.values.push_back(made.logarithmic ? log_value(*a, *b, i, *points)
                                           : linear_value(*a, *b, i, *points));
  return true;
}

bool StudyBuilder::read_sweep_values(const Field& field, Sweep& made) {
  const auto items = reader_.array(field, "an array of numbers");
  if (!items) return false;
  if (items->size() < 2) {
    reader_.report_found(field, "a sweep needs two points or more", std::to_string(items->size()),
                         "two values or more");
    return false;
  }
  bool ok = true;
  for (const Field& item : *items) {
    const auto value = constant(item, is_finite, "a finite number");
    ok = ok && value;
    made.values.push_back(value.value_or(0));
  }
  return ok;
}

// The number of points, at most most_points; nothing if a sweep is wrong or there are too many.
std::optional<long long> StudyBuilder::count_points() {
  if (parameters_.sweep_broken) return {};
  double points = 1;
  std::vector<std::string> factors;
  for (const Sweep& sweep : study_.sweeps) {
    points *= static_cast<double>(sweep.values.size());
    factors.push_back(std::to_string(sweep.values.size()));
  }
  if (points > static_cast<double>(most_points)) {
    reader_.report({study_.path, 0, 0}, "the sweeps have too many points",
                   fmt::format("{} = {}", fmt::join(factors, " x "), number_text(points)),
                   fmt::format("at most {}", most_points));
    return {};
  }
  return static_cast<long long>(points);
}

}  // namespace zwang
