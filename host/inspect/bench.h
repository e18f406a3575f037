// Measures the throughput of a study: compile time, members and steps per second, by number of threads and
// lanes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/backend/backend.h"
#include "host/run/backend_factory.h"
#include "host/study/study.h"

namespace zwang {

struct BenchOptions {
  std::string backend = "auto";    // "cuda", "cpu" or "reference"; "auto": the fastest available
  double seconds = 1;              // minimum duration of each measurement
  long long members = 0;           // per batch; 0: enough to fill the time
  unsigned threads = 0;            // largest number measured; 0: all cores
  std::vector<int> devices = {0};  // GPUs by number; empty: all
  std::function<void(const std::string&)> note = [](const std::string&) {};
};

// One configuration of backend, threads and lanes.
struct BenchLine {
  std::string backend;
  unsigned threads = 1;
  int lanes = 1;
  std::string method;
  long long members = 0;
  double seconds = 0;
  double members_per_second = 0, steps_per_second = 0;
  double steps_per_member = 0, rejected_per_member = 0, events_per_member = 0;
  double speedup = 1;         // relative to the first line
  double device_seconds = 0;  // GPU: time of the kernels alone; the remaining time is spent on copies
};

// Resources used by the kernel on a GPU, and its efficiency.
struct BenchDevice {
  std::string name;
  int registers = 0, local_bytes = 0, threads_per_processor = 0, processors = 0;
  double peak_flops = 0;     // measured with independent fused multiply-adds on all lanes
  double step_flops = 0;     // per step, counted from the emitted code and the method's coefficients
  double share_of_peak = 0;  // for the largest batch
  // share of lane time spent on members, for the largest batch; the rest is waiting for the slowest members
  double busy_lanes = 0;
};

struct BenchReport {
  std::string study;
  double compile_cold_s = 0;    // from source text to a loaded program, with an empty cache
  double compile_cached_s = 0;  // the same with a filled cache
  double sample_members_per_second = 0;
  // arithmetic operations per evaluation of the accelerations; 0: not unrolled, computed row by row
  long long motion_operations = 0;
  // share of one thread's time spent on events and outputs, and on starts and ends
  double event_share = 0, start_share = 0;
  std::vector<BenchLine> lines;
  std::optional<BenchDevice> gpu;
};

// Shared with host/inspect/bench_cuda.cpp.
Batch bench_members(const Study& study, std::size_t count, unsigned threads);
BenchLine bench_line(const Backend& backend, std::size_t count, double seconds, const BatchResults& results);
void bench_cuda(const Study& study, const BenchOptions& options, BenchReport& report);

BenchReport bench(const Study& study, const BenchOptions& options);

std::string bench_table(const BenchReport& report);
std::string bench_json(const BenchReport& report);

}  // namespace zwang
