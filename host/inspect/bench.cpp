// Measurements on the CPU, and the table and JSON of a benchmark.
#include "host/inspect/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "host/backend/backend.h"
#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/backend/batch.h"
#include "host/backend/batch_size.h"
#include "host/backend/cuda/library.h"
#include "host/platform/parallel.h"
#include "host/platform/private_files.h"
#include "host/platform/schema_version.h"
#include "host/platform/table.h"
#include "host/program/host_compiler.h"
#include "host/program/kernel_program.h"
#include "host/study/study.h"

namespace zwang {

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begun) { return std::chrono::duration<double>(Clock::now() - begun).count(); }

// Runs batches of at most the size a run uses until the time is over. The fastest batch counts, since other
// load on the machine can only slow it down.
BenchLine measure(const Study& study, Backend& backend, double seconds, long long members, unsigned threads) {
  std::size_t count = members > 0 ? static_cast<std::size_t>(members) : 64;
  Batch batch = bench_members(study, count, threads);
  const Wanted wanted;
  const auto most = static_cast<std::size_t>(BatchSize(study, threads, 0).most());
  // Grow the batch until it takes a substantial part of the time.
  for (double taken = 0; members == 0 && taken < seconds / 5 && count < most;) {
    const auto begun = Clock::now();
    backend.run(batch, wanted);
    taken = since(begun);
    if (taken >= seconds / 5) break;
    const double factor = std::clamp(seconds / 4 / std::max(taken, 1e-6), 2.0, 16.0);
    count = std::min(most, static_cast<std::size_t>(static_cast<double>(count) * factor));
    batch = bench_members(study, count, threads);
  }
  BenchLine line;
  line.seconds = std::numeric_limits<double>::infinity();
  const auto started = Clock::now();
  for (int round = 0; round < 2 || since(started) < seconds; ++round) {
    const auto begun = Clock::now();
    const BatchResults results = backend.run(batch, wanted);
    const double taken = since(begun);
    if (taken >= line.seconds) continue;
    line = bench_line(backend, count, taken, results);
    line.threads = threads;
  }
  return line;
}

void bench_cpu(const Study& study, const HostCompiler& compiler, const BenchOptions& options,
               BenchReport& report) {
  const unsigned most = thread_count(options.threads);
  // A separate cache folder, so that the first compilation is not cached.
  const TemporaryFolder fresh;
  {
    const BackendCpu cold(study, compiler, 1, LaneChoice::best, fresh.path());
    report.compile_cold_s = cold.compile_seconds;
  }
  BackendCpu packed(study, compiler, 1, LaneChoice::best, fresh.path());
  report.compile_cached_s = packed.compile_seconds;
  report.motion_operations = packed.motion_operations();
  const auto add = [&](BackendCpu& backend, unsigned threads) {
    options.note(fmt::format("measuring {} thread{}, {} lane{}", threads, threads == 1 ? "" : "s",
                             backend.lanes(), backend.lanes() == 1 ? "" : "s"));
    backend.set_threads(threads);
    BenchLine line = measure(study, backend, options.seconds, options.members, threads);
    line.lanes = backend.lanes();
    line.method = backend.method();
    if (!report.lines.empty()) line.speedup = line.members_per_second / report.lines[0].members_per_second;
    report.lines.push_back(line);
  };
  if (packed.lanes() > 1) {
    BackendCpu single(study, compiler, 1, LaneChoice::single, fresh.path());
    add(single, 1);
  }
  for (unsigned threads = 1; threads < most; threads *= 2) add(packed, threads);
  add(packed, most);
  const BackendCpu::Shares shares = packed.measure_shares(bench_members(study, 2000, most));
  report.event_share = shares.events;
  report.start_share = shares.starts;
}

}  // namespace

Batch bench_members(const Study& study, std::size_t count, unsigned threads) {
  std::vector<unsigned long long> numbers(count);
  const auto all = static_cast<unsigned long long>(study.ensemble.members);
  // After the last member of the ensemble, members repeat.
  for (std::size_t i = 0; i < count; ++i) numbers[i] = i % all;
  return prepare_batch(study, numbers, threads);
}

BenchLine bench_line(const Backend& backend, std::size_t count, double seconds, const BatchResults& results) {
  const auto total = [](const std::vector<long long>& list) {
    return static_cast<double>(std::accumulate(list.begin(), list.end(), 0LL));
  };
  const auto members = static_cast<double>(count);
  BenchLine line;
  line.backend = backend.name();
  line.members = static_cast<long long>(count);
  line.seconds = seconds;
  line.members_per_second = members / seconds;
  line.steps_per_second = total(results.steps) / seconds;
  line.steps_per_member = total(results.steps) / members;
  line.rejected_per_member = total(results.rejected) / members;
  line.events_per_member = total(results.event_counts) / members;
  return line;
}

BenchReport bench(const Study& study, const BenchOptions& options) {
  BenchReport report;
  report.study = study.name;
  const auto begun = Clock::now();
  constexpr std::size_t drawn = 20000;
  bench_members(study, drawn, 1);
  report.sample_members_per_second = static_cast<double>(drawn) / since(begun);

  if (options.backend == "cuda" || (options.backend == "auto" && cuda::why_no_device().empty())) {
    bench_cuda(study, options, report);
    return report;
  }
  const std::optional<HostCompiler> compiler =
      options.backend == "reference" ? std::nullopt : HostCompiler::find();
  if (compiler) {
    bench_cpu(study, *compiler, options, report);
  } else {
    if (options.backend != "reference")
      options.note("WARNING: no C++ compiler found; only the reference is measured");
    BackendReference reference(study, options.threads);
    BenchLine line =
        measure(study, reference, options.seconds, options.members, thread_count(options.threads));
    line.method = "tsit5";
    report.lines.push_back(line);
  }
  return report;
}

namespace {

std::string gpu_text(const BenchReport& report) {
  const BenchDevice& gpu = *report.gpu;
  std::string text = fmt::format("  device          {}, {} processors\n", gpu.name, gpu.processors);
  text += fmt::format("  kernel          {} registers, {} bytes of local memory, {} threads per processor\n",
                      gpu.registers, gpu.local_bytes, gpu.threads_per_processor);
  text += fmt::format(
      "  arithmetic      {:.0f} operations per step; measured peak {:.1f} TFLOP/s, used {:.1f} %\n",
      gpu.step_flops, gpu.peak_flops * 1e-12, 100 * gpu.share_of_peak);
  text += fmt::format("  busy lanes      {:.1f} %\n\n", 100 * gpu.busy_lanes);
  TextTable table({"members", "method", "kernel s", "members/s", "steps/s", "with copies", "steps",
                   "rejected", "events"});
  for (const BenchLine& line : report.lines) {
    const double scale = line.seconds / line.device_seconds;
    table.add({std::to_string(line.members), line.method, fmt::format("{:.4f}", line.device_seconds),
               fmt::format("{:.4g}", line.members_per_second * scale),
               fmt::format("{:.4g}", line.steps_per_second * scale),
               fmt::format("{:.4g}", line.members_per_second), fmt::format("{:.1f}", line.steps_per_member),
               fmt::format("{:.1f}", line.rejected_per_member),
               fmt::format("{:.2f}", line.events_per_member)});
  }
  return text + table.text() +
         "\n  members/s and steps/s: kernels alone; with copies: members/s including copies to and from host "
         "memory\n";
}

}  // namespace

std::string bench_table(const BenchReport& report) {
  std::string text = fmt::format("bench of {}\n\n", report.study);
  if (report.compile_cold_s > 0)
    text += fmt::format("  compile         {:.2f} s cold, {:.3f} s from the cache\n", report.compile_cold_s,
                        report.compile_cached_s);
  text += fmt::format("  sampling        {:.3g} members/s on one thread\n", report.sample_members_per_second);
  if (report.motion_operations > 0)
    text += fmt::format("  accelerations   {} operations per evaluation\n", report.motion_operations);
  if (report.event_share + report.start_share > 0)
    text += fmt::format(
        "  time spent on   steps {:.0f} %, events and outputs {:.0f} %, starts and ends {:.0f} %\n",
        100 * (1 - report.event_share - report.start_share), 100 * report.event_share,
        100 * report.start_share);
  if (report.gpu) return text + gpu_text(report);
  text += "\n";
  TextTable table({"backend", "threads", "lanes", "method", "members/s", "steps/s", "steps", "rejected",
                   "events", "speed-up"});
  for (const BenchLine& line : report.lines)
    table.add({line.backend, std::to_string(line.threads), std::to_string(line.lanes), line.method,
               fmt::format("{:.0f}", line.members_per_second), fmt::format("{:.3g}", line.steps_per_second),
               fmt::format("{:.1f}", line.steps_per_member), fmt::format("{:.1f}", line.rejected_per_member),
               fmt::format("{:.2f}", line.events_per_member), fmt::format("{:.2f}", line.speedup)});
  return text + table.text() + "\n  steps, rejected steps and events are per member\n";
}

std::string bench_json(const BenchReport& report) {
  nlohmann::ordered_json made;
  made["schema_version"] = schema_version;
  made["study"] = report.study;
  made["compile"] = {{"cold_s", report.compile_cold_s}, {"cached_s", report.compile_cached_s}};
  made["sample_members_per_s"] = report.sample_members_per_second;
  made["motion_operations"] = report.motion_operations;
  made["share"] = {{"steps", 1 - report.event_share - report.start_share},
                   {"events", report.event_share},
                   {"starts", report.start_share}};
  made["lines"] = nlohmann::ordered_json::array();
  for (const BenchLine& line : report.lines)
    made["lines"].push_back({{"backend", line.backend},
                             {"threads", line.threads},
                             {"lanes", line.lanes},
                             {"method", line.method},
                             {"members", line.members},
                             {"seconds", line.seconds},
                             {"members_per_s", line.members_per_second},
                             {"steps_per_s", line.steps_per_second},
                             {"steps_per_member", line.steps_per_member},
                             {"rejected_per_member", line.rejected_per_member},
                             {"events_per_member", line.events_per_member},
                             {"speedup", line.speedup},
                             {"device_seconds", line.device_seconds}});
  if (report.gpu)
    made["gpu"] = {{"device", report.gpu->name},
                   {"registers", report.gpu->registers},
                   {"local_bytes", report.gpu->local_bytes},
                   {"threads_per_processor", report.gpu->threads_per_processor},
                   {"processors", report.gpu->processors},
                   {"peak_flops", report.gpu->peak_flops},
                   {"step_flops", report.gpu->step_flops},
                   {"share_of_peak", report.gpu->share_of_peak},
                   {"busy_lanes", report.gpu->busy_lanes}};
  return made.dump(2) + "\n";
}

}  // namespace zwang
