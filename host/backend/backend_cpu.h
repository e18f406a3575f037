// CPU backend: the kernels compiled for the study by the host compiler, on a given number of threads.
#pragma once

#include "host/backend/backend.h"
#include "host/backend/kernel_buffers.h"
#include "host/program/host_compiler.h"
#include "host/program/kernel_program.h"
#include "host/program/loaded_program.h"
#include "host/program/program_cache.h"
#include "host/study/study.h"
#include "kernels/base/layout.h"
#include "src/system/system.h"

namespace zwang {

class BackendCpu : public Backend {
 public:
  // Compiles the study's program or loads it from the cache. Throws MachineError if the compiler fails.
  BackendCpu(const Study& study, const HostCompiler& compiler, unsigned threads,
             LaneChoice lanes = LaneChoice::best,
             std::filesystem::path cache = ProgramCache::default_folder());
  // With a given program, for tests and benchmarks.
  BackendCpu(const Study& study, const KernelProgram& program, const HostCompiler& compiler, unsigned threads,
             std::filesystem::path cache = ProgramCache::default_folder());

  std::string name() const override { return "cpu"; }
  std::string device() const override;
  unsigned threads() const override { return threads_; }
  BatchResults run(const Batch& batch, const Wanted& wanted) override;

  int lanes() const { return lanes_; }
  const std::string& method() const { return method_; }
  bool compiled() const { return compiled_; }              // not found in the cache
  const std::string& cache_note() const { return note_; }  // why the cache was not used; empty if it was
  void set_threads(unsigned threads);
  long long motion_operations() const { return motion_operations_; }

  // Fractions of a batch's time on one thread: events and outputs, starts and ends.
  struct Shares {
    double events = 0, starts = 0;
  };
  Shares measure_shares(const Batch& batch);

 private:
  void integrate(const KernelBatch& batch, unsigned threads) const;

  std::shared_ptr<const System> system_;
  std::vector<double> outputs_;
  KernelShape shape_;
  KernelSettings settings_;
  unsigned threads_;
  std::string method_;
  long long motion_operations_ = 0;
  std::string note_;
  bool compiled_ = false;
  std::optional<LoadedProgram> program_;
  int lanes_ = 1;
  long long stack_bytes_ = 0;
  void (*work_)(const KernelSettings*, const KernelBatch*, long long*) = nullptr;
};

}  // namespace zwang
