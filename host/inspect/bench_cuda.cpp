// `zwang bench --backend cuda`: throughput by number of members, register use and share of the peak.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "host/backend/backend.h"
#include "host/backend/batch.h"
#include "host/backend/cuda/backend_cuda.h"
#include "host/backend/cuda/worker.h"
#include "host/inspect/bench.h"
#include "host/platform/private_files.h"
#include "host/study/study.h"
#include "kernels/integrator/runge_kutta.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// Operations of one step: the accelerations of its stages and the sums over stages; a fused multiply-add
// counts as two. Work done once per step (error estimate, projection onto the conditions, event detection,
// audit) is not counted.
template <class Method>
double step_operations(const System& system, long long motion_operations) {
  double sums = 0;
  const auto n = static_cast<double>(system.size());
  for (int i = 1; i <= Method::last; ++i)
    for (int j = 0; j < i; ++j) {
      double through = 0;
      for (int l = j + 1; l < i; ++l) through += Method::a(i, l) * Method::a(l, j);
      sums += 2 * n * ((Method::a(i, j) != 0) + (through != 0));
    }
  return sums + Method::last * static_cast<double>(motion_operations);
}

double step_operations(const std::string& method, const System& system, long long motion_operations) {
  if (method == "dop853") return step_operations<Dop853>(system, motion_operations);
  if (method == "rk4") return step_operations<Rk4>(system, motion_operations);
  return step_operations<Tsit5>(system, motion_operations);
}

BenchLine best_of(const Study& study, BackendCuda& backend, std::size_t count, double seconds) {
  const Batch batch = bench_members(study, count, 0);
  const Wanted wanted{.observables = !study.system->observables.empty()};
  BenchLine best;
  const auto started = std::chrono::steady_clock::now();
  const auto since = [](auto begun) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  };
  for (int round = 0; round < 3 || (since(started) < seconds && round < 20); ++round) {
    const auto begun = std::chrono::steady_clock::now();
    const BatchResults results = backend.run(batch, wanted);
    const double taken = since(begun);
    if (round > 0 && backend.device_seconds >= best.device_seconds) continue;
    best = bench_line(backend, count, taken, results);
    best.device_seconds = backend.device_seconds;
  }
  best.method = backend.method();
  return best;
}

}  // namespace

void bench_cuda(const Study& study, const BenchOptions& options, BenchReport& report) {
  const TemporaryFolder fresh;
  {
    const BackendCuda cold(study, options.devices, fresh.path());
    report.compile_cold_s = cold.compile_seconds;
  }
  BackendCuda backend(study, options.devices, fresh.path());
  report.compile_cached_s = backend.compile_seconds;
  report.motion_operations = backend.motion_operations();
  std::vector<std::size_t> counts{1'000, 10'000, 100'000, 1'000'000};
  if (options.members > 0) counts = {static_cast<std::size_t>(options.members)};
  for (const std::size_t count : counts) {
    options.note(fmt::format("measuring {} members", count));
    backend.members_at_once = count;
    report.lines.push_back(best_of(study, backend, count, options.seconds));
  }

  const CudaOccupation taken = backend.occupation();
  const BenchLine& last = report.lines.back();
  BenchDevice gpu;
  gpu.name = backend.device();
  gpu.registers = taken.registers;
  gpu.local_bytes = taken.local_bytes;
  gpu.threads_per_processor = taken.threads_per_processor;
  gpu.processors = taken.processors;
  gpu.step_flops = backend.series_operations() > 0
                       ? static_cast<double>(backend.series_operations())
                       : step_operations(backend.method(), *study.system, backend.motion_operations());
  gpu.peak_flops = backend.measure_peak();
  const double steps = (last.steps_per_member + last.rejected_per_member) * static_cast<double>(last.members);
  gpu.share_of_peak = steps * gpu.step_flops / last.device_seconds / gpu.peak_flops;
  gpu.busy_lanes = backend.busy_lanes;
  report.gpu = gpu;
}

}  // namespace zwang
