// Addresses within one allocation on a device.
#pragma once

#include <cstddef>

#include "host/backend/cuda/library.h"

namespace zwang {

// Hands out consecutive ranges of one allocation, aligned to 256 bytes.
class DeviceArena {
 public:
  explicit DeviceArena(cuda::Pointer begin) : begin_(begin), at_(begin) {}
  cuda::Pointer take(std::size_t bytes) {
    const cuda::Pointer piece = at_;
    at_ += (bytes + 255) / 256 * 256;
    return piece;
  }
  std::size_t used() const { return at_ - begin_; }

 private:
  cuda::Pointer begin_, at_;
};

}  // namespace zwang
