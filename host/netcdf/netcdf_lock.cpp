#include "host/netcdf/netcdf_lock.h"

#include <dlfcn.h>

namespace zwang {

namespace {

// HDF5, which NetCDF uses, cleans up when the program ends and crashes there after a failed write (observed
// with 1.10.8 and a full disk; h5py's issue 914 is the same). All files are closed explicitly, so the
// clean-up is not needed. H5dont_atexit must be called before the first use of the library; it is looked up
// by name because the library's file name differs between systems.
void disable_hdf5_exit_handler() {
  static const bool done = [] {
    if (void* function = ::dlsym(RTLD_DEFAULT, "H5dont_atexit")) {
      using DontAtExit = int (*)();
      reinterpret_cast<DontAtExit>(function)();
    }
    return true;
  }();
  static_cast<void>(done);
}

std::recursive_mutex& netcdf_guard() {
  static std::recursive_mutex one;
  return one;
}

}  // namespace

NetcdfLock::NetcdfLock() : lock_(netcdf_guard()) { disable_hdf5_exit_handler(); }

}  // namespace zwang
