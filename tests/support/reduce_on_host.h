// The device reductions without a GPU: the same functions in a loop, over generated members or members
// integrated on the CPU.
#pragma once

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "host/backend/device_reduction.h"
#include "kernels/reduce/reduction_list.h"

namespace zwang {

class HostMachine : public ReductionDevice {
 public:
  std::size_t room = std::size_t{4} << 30;  // bytes

  std::optional<Address> reserve(std::size_t bytes) override {
    if (bytes > room) return std::nullopt;
    // Filled, so that memory which is read before it is written does not happen to be zero.
    memory_.assign(bytes / 8 + 1, 0xa5a5a5a5a5a5a5a5ULL);
    return reinterpret_cast<Address>(memory_.data());
  }
  void make_current() override {}
  std::optional<Address> allocate(std::size_t bytes) override {
    auto* made = new unsigned char[bytes + 1];
    std::memset(made, 0xa5, bytes + 1);
    ++kept;
    return reinterpret_cast<Address>(made);
  }
  void release(Address at) override {
    delete[] reinterpret_cast<unsigned char*>(at);
    --kept;
  }
  void copy_in(Address to, const void* from, std::size_t bytes) override {
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  }
  void copy_out(void* to, Address from, std::size_t bytes) override {
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    brought += bytes;
  }
  // Copies are delayed as long as the interface allows.
  void copy_out_later(void* to, Address from, std::size_t bytes) override {
    finish_copies();
    later_ = {to, from, bytes};
  }
  void finish_copies() override {
    if (later_.bytes > 0) copy_out(later_.to, later_.from, later_.bytes);
    later_ = {};
  }
  void clear(Address at, std::size_t bytes) override { std::memset(reinterpret_cast<void*>(at), 0, bytes); }
  void run(const char* reduction, const void* job, std::size_t job_bytes, long long count) override {
#define ZWANG_TRY(name, Job)                                                           \
  if (std::string(reduction) == #name && job_bytes == sizeof(Job)) {                   \
    for (long long i = count; i-- > 0;) zwang::name(*static_cast<const Job*>(job), i); \
    return;                                                                            \
  }
#define ZWANG_TRY_REDUCTION(name) ZWANG_TRY(name, ReduceJob)
// Each group is one thread. Its counters are filled, as memory is in reserve().
#define ZWANG_TRY_GROUP(name, Group)                                                          \
  if (std::string(reduction) == #name && job_bytes == sizeof(ReduceJob)) {                    \
    for (long long group = count / group_lanes; group-- > 0;) {                               \
      std::vector<unsigned> counters(group_counters, 0xa5a5a5a5U);                            \
      const Group members(*static_cast<const ReduceJob*>(job), group, counters.data(), 0, 1); \
      members.clear();                                                                        \
      members.count();                                                                        \
      members.add();                                                                          \
    }                                                                                         \
    return;                                                                                   \
  }
#define ZWANG_TRY_DRAW(name) ZWANG_TRY(name, DrawJob)
#define ZWANG_TRY_KEPT(name) ZWANG_TRY(name, ResidentColumns)
#define ZWANG_TRY_RECORD(name) ZWANG_TRY(name, RecordJob)
    ZWANG_REDUCTIONS(ZWANG_TRY_REDUCTION)
    ZWANG_GROUP_REDUCTIONS(ZWANG_TRY_GROUP)
    ZWANG_RESIDENT_REDUCTIONS(ZWANG_TRY_KEPT)
    ZWANG_DRAWS(ZWANG_TRY_DRAW)
    ZWANG_RECORDS(ZWANG_TRY_RECORD)
#undef ZWANG_TRY
#undef ZWANG_TRY_GROUP
    throw std::logic_error("no such reduction: " + std::string(reduction));
  }

  std::size_t brought = 0;  // bytes
  int kept = 0;             // allocations not yet freed

 private:
  struct Copy {
    void* to = nullptr;
    Address from = 0;
    std::size_t bytes = 0;
  };
  Copy later_;
  std::vector<unsigned long long> memory_;
};

}  // namespace zwang
