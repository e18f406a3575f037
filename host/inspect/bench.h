// Throughput of a study: how long to compile, how many members and steps a second, by number of threads and lanes.
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
  std::string backend = "auto";    // "cuda", "cpu" or "reference"; "auto": the fastest there is
  double seconds = 1;              // at least so long for each line
  long long members = 0;           // in one batch; 0: as many as fill the time
  unsigned threads = 0;            // the largest number tried; 0: all cores
  std::vector<int> devices = {0};  // GPUs by number; none: all there are
  std::function<void(const std::string&)> note = [](const std::string&) {};
};

// One way of running the study.
struct BenchLine {
  std::string backend;
  unsigned threads = 1;
  int lanes = 1;
  std::string method;
  long long members = 0;
  double seconds = 0;
  double members_per_second = 0, steps_per_second = 0;
  double steps_per_member = 0, rejected_per_member = 0, events_per_member = 0;
  double speedup = 1;         // over the first line
  double device_seconds = 0;  // of a GPU: the kernel alone; the rest of the time goes into copies
};

// What a kernel takes of a GPU, and gives.
struct BenchDevice {
  std::string name;
  int registers = 0, local_bytes = 0, threads_per_processor = 0, processors = 0;
  double peak_flops = 0;     // measured: independent fused multiply-adds, all lanes
  double step_flops = 0;     // of one step, counted from the emitted code and the method's table
  double share_of_peak = 0;  // of the largest batch
  double busy_lanes = 0;     // share of the lanes' time spent on members, same batch: the rest is stragglers
};

struct BenchReport {
  std::string study;
  double compile_cold_s = 0;    // text to a loaded program, nothing in the cache
  double compile_cached_s = 0;  // the same when the cache has it
  double sample_members_per_second = 0;
  long long motion_operations = 0;  // arithmetic of one evaluation of the accelerations; 0: row by row
  double event_share = 0, start_share = 0;  // of the time of one thread: events and outputs; starts and ends
  std::vector<BenchLine> lines;
  std::optional<BenchDevice> gpu;
};

// For host/inspect/bench_cuda.cpp.
Batch bench_members(const Study& study, std::size_t count, unsigned threads);
BenchLine bench_line(const Backend& backend, std::size_t count, double seconds, const BatchResults& results);
void bench_cuda(const Study& study, const BenchOptions& options, BenchReport& report);

BenchReport bench(const Study& study, const BenchOptions& options);

std::string bench_table(const BenchReport& report);
std::string bench_json(const BenchReport& report);

}  // namespace zwang
