// Reads [ensemble] until and [statistics] exceedance.
#include <algorithm>

#include "host/study/study.h"
#include "host/study_file/builder.h"
#include "host/toml/document.h"
#include "host/toml/raw_text.h"
#include "host/toml/reader.h"
#include "src/base/error.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr long long point_limit = 100'000;  // of one exceedance curve

}  // namespace

std::vector<std::string> StudyBuilder::names_of_measures() const {
  std::vector<std::string> names;
  for (const Measure& measure : description_.measures) names.push_back(measure.name);
  return names;
}

void StudyBuilder::read_until(const Field& field) {
  const std::string form = R"({ measure = "NAME", relative_stderr = 0.01 })";
  if (field.value->kind != Value::Kind::table) {
    reader_.report(field, "not a table", form);
    return;
  }
  // The first members of a grid are one corner of it, not a sample.
  if (parameters_.has_grid)
    reader_.report_found(field, "a grid must be run completely", "until with a grid",
                         "no 'until', or no grid");
  const Table table(reader_, field,
                    {"measure", "index", "relative_stderr", "relative_halfwidth", "absolute_halfwidth"});
  UntilSettings made;
  if (const Field index = table["index"]) {
    if (const auto word = reader_.string(index, "an index such as \"T.mass\", in quotes")) made.index = *word;
    fields_.until_index = index;
  }
  const Field measure = made.index.empty() ? table.require("measure", "the name of a measure, as in " + form)
                                           : table["measure"];
  if (measure)
    if (const auto word = reader_.string(measure, "the name of a measure, in quotes")) {
      const std::vector<std::string> names = names_of_measures();
      made.measure = *word;
      if (std::find(names.begin(), names.end(), *word) == names.end())
        reader_.report(
            measure, "there is no such measure",
            names.empty() ? "a name from [measure], which is empty" : "one of: " + list_text(names),
            suggestion(*word, names));
    }
  read_until_error(field, table, made);
  study_.ensemble.until = made;
}

// One of the three ways to state how well something is to be known.
void StudyBuilder::read_until_error(const Field& field, const Table& table, UntilSettings& made) {
  using Error = UntilSettings::Error;
  std::size_t given = 0;
  const auto read = [&](const char* key, Error error) {
    const Field limit = table[key];
    if (!limit) return;
    ++given;
    made.error = error;
    made.limit = constant(limit, is_positive, "a finite number > 0").value_or(made.limit);
  };
  read("relative_stderr", Error::relative_stderr);
  read("relative_halfwidth", Error::relative_halfwidth);
  read("absolute_halfwidth", Error::absolute_halfwidth);
  if (given != 1)
    reader_.report_found(field, given == 0 ? "how well it is to be known is missing" : "more than one limit",
                         given == 0 ? "" : std::to_string(given) + " limits",
                         "one of relative_stderr, relative_halfwidth and absolute_halfwidth");
  else if (!made.index.empty() && made.error == Error::relative_stderr)
    reader_.report(field, "an index is judged by its interval", "relative_halfwidth or absolute_halfwidth");
}

void StudyBuilder::read_exceedances(const Field& field) {
  if (field.value->kind != Value::Kind::table) {
    reader_.report(field, "not a table", "exceedance.NAME = { points = 60 }");
    return;
  }
  const std::vector<std::string> names = names_of_measures();
  for (const Entry& entry : field.value->entries) {
    const std::string& path = entry.value.set_path;
    const Field item{&entry.value, path.empty() ? field.place + "." + printable(entry.key) : path};
    if (std::find(names.begin(), names.end(), entry.key) == names.end())
      reader_.report(reader_.document().locate(entry.mark), item.place + ": there is no measure of that name",
                     "'" + printable(entry.key) + "'",
                     names.empty() ? "a name from [measure], which is empty" : "one of: " + list_text(names),
                     suggestion(entry.key, names));
    const Table table(reader_, item, {"at", "points"});
    if (!table.ok()) continue;
    ExceedanceSettings made;
    const Field at = table["at"], points = table["points"];
    if (at && points) reader_.report(item, "at and points cannot be combined", "one of them");
    if (points) made.points = reader_.integer(points, 1, point_limit).value_or(made.points);
    if (at) read_levels(at, made.at);
    study_.statistics.exceedances.emplace(entry.key, std::move(made));
  }
}

void StudyBuilder::read_levels(const Field& field, std::vector<double>& levels) {
  const auto items = reader_.array(field, "an array of numbers, ascending");
  if (!items) return;
  if (items->empty()) reader_.report(field, "no values", "at least one number");
  if (items->size() > static_cast<std::size_t>(point_limit))
    reader_.report_found(field, "too many values", std::to_string(items->size()),
                         "at most " + std::to_string(point_limit));
  for (const Field& item : *items) {
    const auto level = constant(item, is_finite, "a finite number");
    if (!level) continue;
    if (!levels.empty() && *level <= levels.back())
      reader_.report(item, "the values are not ascending", "a number > " + number_text(levels.back()));
    levels.push_back(*level);
  }
}

}  // namespace zwang
