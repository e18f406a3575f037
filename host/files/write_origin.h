// Attributes common to all NetCDF files of a run: where the data come from. No dates: the same input gives
// the same bytes.
#pragma once

#include "host/netcdf/netcdf_file.h"
#include "host/run/run_result.h"
#include "host/study/study.h"
#include "src/system/system.h"

namespace zwang {

void write_origin(NetcdfFile& file, const Study& study, const RunResult& origin, const std::string& content);

// Dimension and coordinate variable of the output times; the caller writes the values after the definitions.
struct TimeAxis {
  NetcdfFile::Dimension dimension;
  NetcdfFile::Variable variable;
};
TimeAxis add_time(NetcdfFile& file, const Study& study);

// The names of the sweeps as dimensions: load.x becomes load_x, load.x' becomes load_x_dot. A name that the
// files use themselves gets _swept at its end.
std::vector<std::string> sweep_dimensions(const Study& study);

// Names in the order of the system.
// The name of position or velocity number k of a start, positions before velocities: load.x, load.x'.
std::string start_name(const System& system, long long k);
std::vector<std::string> velocity_names(const System& system);
std::vector<std::string> observable_names(const System& system);
std::vector<std::string> measure_names(const System& system);
std::vector<std::string> condition_names(const System& system);

// Meanings of the flags.
std::vector<std::string> status_words();
std::vector<std::string> event_words();

}  // namespace zwang
