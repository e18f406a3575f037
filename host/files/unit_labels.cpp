#include "host/files/unit_labels.h"

#include <algorithm>

namespace zwang {

std::string common_unit(const Study& study, const std::vector<std::string>& names) {
  const std::string unit = names.empty() ? "" : study.unit(names.front());
  const bool same = std::all_of(names.begin(), names.end(),
                                [&](const std::string& name) { return study.unit(name) == unit; });
  return same ? unit : "";
}

void add_units(NetcdfFile& file, const Study& study, const std::string& name, NetcdfFile::Dimension dimension,
               std::vector<std::string> names, std::vector<UnitLabels>& units) {
  for (std::string& one : names) one = study.unit(one);
  if (std::all_of(names.begin(), names.end(), [](const std::string& unit) { return unit.empty(); })) return;
  units.push_back({file.variable(name + "_units", NetcdfFile::Type::text, {.dimensions = {dimension}},
                                 "unit, a label given in the study"),
                   std::move(names)});
}

void put_units(NetcdfFile& file, const std::vector<UnitLabels>& units) {
  for (const UnitLabels& one : units) file.put(one.variable, one.labels);
}

}  // namespace zwang
