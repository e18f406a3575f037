// Starts the driver and the contexts of devices beside other work: together they take a fifth of a second.
#pragma once

#include <thread>
#include <vector>

#include "host/backend/cuda/library.h"

namespace zwang::cuda {

class EarlyStart {
 public:
  // ordinals of the devices; empty: all
  explicit EarlyStart(std::vector<int> devices);
  // When a backend has been made, which then holds the contexts; or without one. What fails here is reported
  // when a backend is made.
  ~EarlyStart();
  EarlyStart(const EarlyStart&) = delete;
  EarlyStart& operator=(const EarlyStart&) = delete;

 private:
  void start();

  std::vector<int> devices_;
  std::vector<Device> held_;
  std::thread thread_;
};

}  // namespace zwang::cuda
