// Part of a report: the labels of members on two grids, as basins of attraction.
#include <algorithm>
#include <cmath>

#include "host/netcdf/netcdf_source.h"
#include "host/report/report_data.h"
#include "host/sample/sampler.h"
#include "host/study/study.h"

namespace zwang {

namespace {

constexpr std::size_t most_basin_cells = 250'000;

// The places of the grids among the drawn inputs, in the order of the study: the last one varies fastest.
std::vector<std::size_t> grids_among_inputs(const Study& study) {
  std::vector<std::size_t> made;
  const std::vector<std::size_t> drawn = drawn_inputs(study);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const auto& distribution = study.parameters[drawn[i]].distribution;
    if (distribution && distribution->kind == Distribution::Kind::grid) made.push_back(i);
  }
  return made;
}

}  // namespace

ReportJson report_basins(const ReportSource& source) {
  const Study& study = source.study;
  const std::vector<std::size_t> grids = grids_among_inputs(study), drawn = drawn_inputs(study);
  if (!source.has_members || !study.sweeps.empty() || grids.size() != 2 || !source.summary.contains("labels"))
    return nullptr;
  const auto points = [&](std::size_t grid) {
    return static_cast<std::size_t>(study.parameters[drawn[grids[grid]]].distribution->grid_points);
  };
  const std::size_t rows = points(0), columns = points(1), first = study.ensemble.include_nominal ? 1 : 0;
  const NetcdfSource file(source.folder / "members.nc");
  const std::vector<std::size_t> shape = file.shape("measures");
  if (rows * columns > most_basin_cells || shape.at(0) != rows * columns + first) return nullptr;

  const std::vector<double> inputs = file.numbers("inputs", first, rows * columns),
                            measures = file.numbers("measures", first, rows * columns);
  const auto axis = [&](std::size_t grid, std::size_t step) {
    ReportJson values = ReportJson::array();
    for (std::size_t k = 0; k < points(grid); ++k)
      values.push_back(rounded(inputs[k * step * drawn.size() + grids[grid]]));
    return ReportJson{{"name", study.parameters[drawn[grids[grid]]].name},
                      {"values", values},
                      {"of", points(grid)},
                      {"log", false}};
  };
  ReportJson made = {{"axes", {axis(0, columns), axis(1, 1)}}, {"measures", ReportJson::array()}};
  const auto& names = study.system->measures;
  for (std::size_t m = 0; m < names.size(); ++m) {
    if (!source.summary["labels"].contains(names[m].name)) continue;
    ReportJson labels = ReportJson::array();
    for (std::size_t k = 0; k < rows * columns; ++k) labels.push_back(rounded(measures[k * shape.at(1) + m]));
    made["measures"].push_back({{"name", names[m].name}, {"formula", ""}, {"mean", std::move(labels)}});
  }
  return made;
}

}  // namespace zwang
