// The reductions without a GPU: the same functions in a plain loop, over members made up or integrated on the processor.
#pragma once

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "host/reducer.h"
#include "kernels/reduce_list.h"

namespace zwang {

class HostMachine : public ReduceMachine {
 public:
  std::size_t room = std::size_t{4} << 30;  // bytes

  std::optional<Address> reserve(std::size_t bytes) override {
    if (bytes > room) return std::nullopt;
    // What is not written must not be read: no zeros by chance.
    memory_.assign(bytes / 8 + 1, 0xa5a5a5a5a5a5a5a5ULL);
    return reinterpret_cast<Address>(memory_.data());
  }
  void copy_in(Address to, const void* from, std::size_t bytes) override {
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  }
  void copy_out(void* to, Address from, std::size_t bytes) override {
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    brought += bytes;
  }
  void clear(Address at, std::size_t bytes) override { std::memset(reinterpret_cast<void*>(at), 0, bytes); }
  void run(const char* reduction, const ReduceJob& job, long long count) override {
#define ZWANG_TRY(name)                                      \
  if (std::string(reduction) == #name) {                     \
    for (long long i = count; i-- > 0;) zwang::name(job, i); \
    return;                                                  \
  }
    ZWANG_REDUCTIONS(ZWANG_TRY)
#undef ZWANG_TRY
    throw std::logic_error("no such reduction: " + std::string(reduction));
  }

  std::size_t brought = 0;  // bytes

 private:
  std::vector<unsigned long long> memory_;
};

}  // namespace zwang
