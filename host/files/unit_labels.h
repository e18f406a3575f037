// Labels of [units] in NetCDF files. Nothing is converted.
#pragma once

#include <string>
#include <vector>

#include "host/netcdf/netcdf_file.h"
#include "host/study/study.h"

namespace zwang {

// The label that all names share; empty if they differ or have none.
std::string common_unit(const Study& study, const std::vector<std::string>& names);

// A variable with the label of each name along a dimension, since the series of one variable may have
// different ones.
struct UnitLabels {
  NetcdfFile::Variable variable;
  std::vector<std::string> labels;
};

// Adds NAME_units; nothing if no name has a label.
void add_units(NetcdfFile& file, const Study& study, const std::string& name, NetcdfFile::Dimension dimension,
               std::vector<std::string> names, std::vector<UnitLabels>& units);
void put_units(NetcdfFile& file, const std::vector<UnitLabels>& units);

}  // namespace zwang
