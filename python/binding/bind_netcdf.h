// Reads a NetCDF file whole, from its bytes or from its path.
#pragma once

#include <nanobind/nanobind.h>

namespace zwang::python {

void bind_netcdf(nanobind::module_& module);

}  // namespace zwang::python
