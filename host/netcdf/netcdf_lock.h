// NetCDF and HDF5 keep lists of open files and of their objects that are not protected against other threads.
// A program that embeds the library may write and read the files of several runs at the same time: every call
// is made while this lock is held. Within one run there is no other thread that wants it for long.
#pragma once

#include <mutex>

namespace zwang {

class NetcdfLock {
 public:
  // Before the first call HDF5 is told not to clean up when the program ends.
  NetcdfLock();

 private:
  std::scoped_lock<std::recursive_mutex> lock_;
};

}  // namespace zwang
