// Heuristics that tune a study's program: integration method, optimisation levels and launch bounds. None of
// them changes what a study computes within its tolerances; all thresholds are in one table in tuning.cpp.
#pragma once

#include "host/study/study.h"
#include "src/base/settings.h"
#include "src/emit/emit.h"
#include "src/emit/emitted_model.h"
#include "src/emit/taylor_series.h"
#include "src/system/system.h"

namespace zwang {

// The method used for method = "auto".
IntegratorSettings::Method automatic_method(const Study& study, const EmittedModel& model);

// Order of the power series of the Taylor method.
int series_order(const IntegratorSettings& settings);

// Arithmetic operations of one whole step by power series.
long long operations_of_series(const System& system, const EmittedSeries& series, long long order);

struct CpuTuning {
  bool pack_pairs = false;  // interleave two packs
  // -O options of the units
  const char* optimise_steps = nullptr;
  const char* optimise_events = nullptr;       // the slow path
  const char* optimise_fast_events = nullptr;  // events in registers
  const char* optimise_records = nullptr;      // outputs and extremes inside steps
};
CpuTuning cpu_tuning(const System& system, const EmittedModel& model);

struct CudaTuning {
  bool unroll_stages = false;        // stages of a step written out, their rates in registers
  bool events_in_registers = false;  // lanes handle common events inside the stepping kernel
  bool record_steps = false;         // outputs and extremes inside steps are left to a kernel of their own
  // Blocks per multiprocessor that the compiler must leave registers for.
  int step_blocks = 2, event_blocks = 2, slow_path_blocks = 4, record_blocks = 2;
};
CudaTuning cuda_tuning(const Study& study, const EmittedModel& model, IntegratorSettings::Method method);

}  // namespace zwang
