// NetCDF and HDF5 keep lists of open files and of their objects that are not protected against other threads.
// A program that embeds the library may write and read the files of several runs at the same time: every call
// is made while this lock is held. Within one run there is no other thread that wants it for long.
#pragma once

#include <mutex>

namespace zwang {

class NetcdfLock {
 public:
  NetcdfLock() : lock_(guard()) {}

 private:
  static std::recursive_mutex& guard() {
    static std::recursive_mutex one;
    return one;
  }
  std::scoped_lock<std::recursive_mutex> lock_;
};

}  // namespace zwang
