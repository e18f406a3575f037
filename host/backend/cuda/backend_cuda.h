// CUDA backend: the kernels compiled for the study by NVRTC, one member per thread, on one or several GPUs.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "host/backend/backend.h"
#include "host/backend/cuda/compilations.h"
#include "host/backend/cuda/device_program.h"
#include "host/backend/cuda/reduction_device.h"
#include "host/backend/cuda/thrust_module.h"
#include "host/backend/cuda/worker.h"
#include "host/backend/kernel_buffers.h"
#include "host/estimators/rank_correlation.h"
#include "host/program/host_compiler.h"
#include "host/program/kernel_program.h"
#include "host/program/program_cache.h"
#include "host/statistics/deferred_plan.h"
#include "host/statistics/reduction_plan.h"
#include "host/study/study.h"
#include "kernels/base/layout.h"
#include "src/system/system.h"

namespace zwang {

class BackendCuda : public Backend {
 public:
  // `devices`: ordinals; empty: all devices. Throws MachineError if a device, the driver or NVRTC is missing.
  explicit BackendCuda(const Study& study, std::vector<int> devices = {0},
                       std::filesystem::path cache = ProgramCache::default_folder());
  // With a given program, for tests and benchmarks.
  BackendCuda(const Study& study, const KernelProgram& program, std::vector<int> devices,
              std::filesystem::path cache = ProgramCache::default_folder());
  ~BackendCuda() override;

  // Floating-point operations per second that the first device reaches with independent fused multiply-adds.
  double measure_peak();

  std::string name() const override { return "cuda"; }
  std::string device() const override { return device_; }
  unsigned threads() const override { return threads_; }
  void retire() override;
  ColumnRanker column_ranker() const override { return thrust_ranker(first_device_); }
  BatchResults run(const Batch& batch, const Wanted& wanted) override;
  bool reduces() const override { return statistics_on_device; }
  bool draws() const override { return statistics_on_device; }
  ReducedBatch run_reduced(const Batch& batch, long long first, DeferredPlan& plan,
                           const RecordTarget& records) override;
  std::size_t batches_at_once() const override;

  const std::string& method() const { return method_; }
  bool compiled() const { return compiled_; }  // not found in the cache
  const std::string& cache_note() const { return note_; }
  long long motion_operations() const { return motion_operations_; }
  long long series_operations() const { return series_operations_; }

  CudaOccupation occupation() const;  // of the stepping kernel

  double device_seconds = 0;         // time of the kernels in the last run, by the devices' clocks
  double busy_lanes = 0;             // utilisation of the stepping lanes in the last batch, 0 to 1
  bool statistics_on_device = true;  // false: members are copied to the host for statistics
  std::size_t members_at_once = 0;   // limit per launch; 0: as memory allows

 private:
  struct Chunk;
  struct ReducedChunk;
  std::string device_names() const;
  void start(const KernelProgram& program, std::vector<int> devices, const std::filesystem::path& cache);
  void compile_and_load(const ProgramText& text, const std::filesystem::path& cache);
  CudaBinaries take(CudaCompilations compilations);
  void work(CudaWorker& worker, std::vector<Chunk>& chunks, std::atomic<std::size_t>& next,
            const Batch& batch, const Wanted& wanted);
  std::size_t chunk_size(const Batch& batch, const Wanted& wanted) const;
  void prepare_reductions(const std::map<int, CudaBinaries>& by_architecture);
  std::size_t reduced_chunk_size(std::size_t members, const ReductionPlan& plan);
  // The batch of one call of run_reduced.
  struct ReducedCall {
    const Batch& batch;
    long long first;
    DeferredPlan& plan;
    const RecordTarget& records;
  };
  void work_reduced(std::size_t worker, std::vector<ReducedChunk>& chunks, std::atomic<std::size_t>& next,
                    const ReducedCall& call);
  void work_as_team(std::size_t team, std::vector<ReducedChunk>& chunks, const ReducedCall& call);

  std::shared_ptr<const System> system_;
  std::vector<double> outputs_;
  KernelShape shape_;
  KernelSettings settings_;
  std::string method_, note_, device_;
  unsigned threads_ = 0;
  int first_device_ = 0;
  long long motion_operations_ = 0, series_operations_ = 0;
  bool compiled_ = false;
  // Two per device: one computes while the other copies. Those of a device follow each other.
  static constexpr std::size_t workers_per_device = 2;
  std::vector<std::unique_ptr<CudaWorker>> workers_;
  std::vector<std::unique_ptr<CudaReductionDevice>> reduction_devices_;  // one per worker
  // A team has one worker of each device and runs one batch at a time.
  std::mutex teams_guard_;
  std::condition_variable team_is_free_;
  std::vector<std::size_t> free_teams_;
  std::size_t reduced_share_ = 0;  // bytes of device memory per worker
  std::thread retiring_;
};

}  // namespace zwang
