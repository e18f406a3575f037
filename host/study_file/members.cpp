// Reads the numbers of members: [ensemble] members, and members_per_point beside sweeps.
#include <fmt/format.h>

#include <cmath>

#include "host/study/study.h"
#include "host/study_file/builder.h"
#include "host/toml/document.h"
#include "host/toml/reader.h"
#include "src/base/error.h"

namespace zwang {

namespace {

constexpr long long most_members = 1'000'000'000'000;
// Numbers in statistics.nc: they are held in memory until the file is written.
constexpr double statistics_limit = 1e8;
// Numbers per column beside its quantiles, of which each has three (write_statistics.cpp).
constexpr std::size_t numbers_per_column = 12;
constexpr std::size_t numbers_per_index = 4;

}  // namespace

// With grids, the number of members is the product of their sizes. members_per_point may remain in a study
// whose sweep was replaced by one of its values: there is then one point.
void StudyBuilder::read_members(const Table& table) {
  EnsembleSettings& made = study_.ensemble;
  Field field = table["members"];
  if (study_.sensitivity) return check_members_of_sensitivity(field);
  const Field per_point = table["members_per_point"];
  if (!field) field = per_point;
  const double wanted = parameters_.grid_members + (made.include_nominal ? 1 : 0);
  std::optional<long long> members;
  if (field) {
    members = reader_.integer(field, 1, most_members);
    if (members && parameters_.has_grid && std::isfinite(wanted) && static_cast<double>(*members) != wanted)
      reader_.report(
          field, "not the number of points of the grids",
          number_text(wanted) + (made.include_nominal ? ": the product of all grids, and the nominal member"
                                                      : ": the product of all grids"),
          "leave it out: the grids determine it");
  } else if (parameters_.has_grid && wanted > static_cast<double>(most_members)) {
    reader_.report({study_.path, 0, 0}, "[ensemble]: the grids have too many points", number_text(wanted),
                   "at most " + std::to_string(most_members));
  } else if (parameters_.has_grid && std::isfinite(wanted)) {
    members = static_cast<long long>(wanted);
  }
  made.members = members.value_or(1);
  if (field && !members) return;
  // A number given on the command line replaces that of the file.
  if (per_point && per_point.value != field.value && field.value->set_path.empty() &&
      reader_.integer(per_point, 1, most_members).value_or(made.members) != made.members)
    reader_.report(per_point, "differs from members, and the study has no sweep",
                   fmt::format("{}, or one of the two keys", made.members));
  check_file_rows(made.members);
}

void StudyBuilder::check_file_rows(long long needed) {
  for (const FileUse& use : parameters_.file_uses)
    if (use.rows < static_cast<std::size_t>(needed))
      reader_.report_found(use.field, "the file has too few rows", std::to_string(use.rows) + " rows",
                           std::to_string(needed) + ", one for each member");
}

// Members at each point of the sweeps: given, or the product of the grids, or one where nothing is drawn.
// With [sensitivity] they are the rows of its block A.
std::optional<long long> StudyBuilder::members_per_point(const Field& field) {
  const EnsembleSettings& made = study_.ensemble;
  if (study_.sensitivity) {
    const long long base = study_.sensitivity->base;
    if (field && reader_.integer(field, 1, most_members).value_or(base) != base)
      reader_.report(field, "not the number of rows of [sensitivity]", fmt::format("{}: its base", base),
                     "leave it out: [sensitivity] base determines it");
    return base;
  }
  const double grid = parameters_.grid_members + (made.include_nominal ? 1 : 0);
  if (field) {
    const auto members = reader_.integer(field, 1, most_members);
    if (members && parameters_.has_grid && std::isfinite(grid) && static_cast<double>(*members) != grid)
      reader_.report(field, "not the number of points of the grids", number_text(grid),
                     "leave it out: the grids determine it");
    return members;
  }
  if (parameters_.has_grid) {
    if (!std::isfinite(grid) || grid > static_cast<double>(most_members)) return {};
    return static_cast<long long>(grid);
  }
  std::vector<std::string> drawn;
  for (const ParameterRule& rule : study_.parameters)
    if (rule.drawn()) drawn.push_back(rule.name);
  if (drawn.empty()) return made.include_nominal ? 2 : 1;
  reader_.report({study_.path, 0, 0},
                 fmt::format("members_per_point is missing: the study draws {}", fmt::join(drawn, ", ")), "",
                 "[ensemble] members_per_point = 1000, the members at each point of the sweep");
  return {};
}

void StudyBuilder::read_members_per_point(const Table& table) {
  EnsembleSettings& made = study_.ensemble;
  const std::optional<long long> points = count_points();
  const std::optional<long long> per_point = members_per_point(table["members_per_point"]);
  made.members_per_point = per_point.value_or(1);
  made.members = made.members_per_point * static_cast<long long>(points.value_or(1));
  const Field members = table["members"];
  const std::string key = study_.sensitivity ? "sensitivity.base" : "ensemble.members_per_point";
  if (members && !members.value->set_path.empty()) {
    reader_.report(members, "the study has a sweep, whose points have members of their own", key,
                   "--set " + key + "=" + shown(*members.value) + " sets their number");
    return;
  }
  if (!points || !per_point) return;
  const long long blocks = study_.sensitivity ? static_cast<long long>(study_.sensitivity->blocks()) : 1;
  const double all =
      static_cast<double>(*points) * static_cast<double>(*per_point) * static_cast<double>(blocks);
  const std::string product = fmt::format("{} points x {} members{}", *points, *per_point,
                                          blocks > 1 ? fmt::format(" x {} blocks", blocks) : "");
  if (all > static_cast<double>(most_members)) {
    reader_.report({study_.path, 0, 0}, "[ensemble]: too many members", product,
                   "at most " + std::to_string(most_members));
    made.members = made.members_per_point = 1;
    return;
  }
  if (members)
    if (const auto given = reader_.integer(members, 1, most_members);
        given && *given != made.members * blocks)
      reader_.report(members, "not the number of members of all points",
                     fmt::format("{} = {}", made.members * blocks, product),
                     "leave it out: the sweep and " + key + " determine it");
  check_file_rows(made.streams == Streams::common ? *per_point : made.members);
}

// Every number of statistics.nc exists once for each point.
void StudyBuilder::check_statistics_size() {
  if (study_.sweeps.empty()) return;
  const std::size_t quantiles = study_.statistics.quantiles.size();
  const auto real = [](std::size_t count) { return static_cast<double>(count); };
  std::size_t inputs = 0;
  for (const ParameterRule& rule : study_.parameters) inputs += rule.drawn() ? 1 : 0;
  const double outputs = real(study_.time.outputs.size()),
               points = static_cast<double>(study_.ensemble.points()),
               series = outputs * real(description_.observables.size()),
               measures = real(description_.measures.size()), related = measures + real(inputs);
  double each = (series + measures) * real(numbers_per_column + 3 * quantiles) +
                real(inputs) * real(numbers_per_column) + 2 * related * related + measures * measures;
  for (const auto& [name, histogram] : study_.statistics.histograms)
    each += static_cast<double>(histogram.bins) * outputs;
  if (study_.sensitivity)
    each += real(study_.sensitivity->of.size() * study_.sensitivity->inputs.size() * numbers_per_index);
  if (points * each <= statistics_limit) return;
  reader_.report(
      {study_.path, 0, 0}, "too many numbers in statistics.nc",
      fmt::format("{} points x {} numbers = {:.3g}", study_.ensemble.points(), each, points * each),
      fmt::format("at most {:.0f}", statistics_limit),
      "fewer [time] samples, fewer formulas in [observe], or fewer points");
}

}  // namespace zwang
