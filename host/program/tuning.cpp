#include "host/program/tuning.h"

#include <algorithm>
#include <cstddef>

#include "kernels/base/layout.h"
#include "src/emit/emitted_model.h"
#include "src/emit/solve.h"
#include "src/emit/text.h"

namespace zwang {

namespace {

using Method = IntegratorSettings::Method;

// --- Thresholds --------------------------------------------------------------------------------------------

// Method "auto".
//
// An eighth-order step pays at tolerances up to this one; measured in bench/results. It pays at 1e-6 too, but
// steps are then so long that its error estimate misses an event in one member of a thousand
// (docs/testing.md, seeds 129, 8009, 8018).
constexpr double coarsest_rtol_for_dop853 = 3e-7;
// Sums over earlier terms, and other operations per term, up to which a series is cheaper than twelve stages.
constexpr long long cheap_series_sums = 2, cheap_series_operations = 60;

// Order of the series, by tolerance. More terms allow longer steps, up to the length at which events are
// missed within a step (bench/results/neoverse_n1/accuracy.csv).
struct SeriesOrder {
  double rtol_above;
  int order;
};
constexpr SeriesOrder series_orders[] = {{3e-5, 8}, {3e-8, 12}, {3e-12, 16}};
constexpr int finest_series_order = 20;

// Text lengths of the emitted model in bytes, a proxy for compile time: a change in the formatting of emitted
// text shifts these decisions. The limits keep compilation within six seconds on two slow cores
// (bench/results/neoverse_n1/runs.csv).
//
// Up to here pairs of packs and the last optimisations are affordable. Events are rare compared with steps, and their code
// is long: for longer models they are compiled at -O1.
constexpr std::size_t light_model = 13'000;
// Beyond these lengths -O3, and then -O2, takes too long for the steps. Long straight-line code gains little
// from -O3, which also unrolls the loops over inequalities: that takes most of its time, hence the charge for
// each.
constexpr std::size_t longest_steps_for_o3 = 75'000, charge_per_inequality = 3'000;
constexpr std::size_t longest_steps_for_o2 = 120'000;

// GPU: stages written out one after the other, their rates in registers. Measured on an H200, strings in
// double are faster by a sixth, impact oscillators by a fourth; with long right-hand sides warps stall on
// instruction fetches (bench/results/h200/variants.csv).
constexpr std::size_t most_rates_in_registers = 4;
constexpr long long longest_unrolled_motion = 64, operations_per_function = 20;

// GPU: with more output times, or with extremes, steps are recorded by a kernel of their own. Events inside the
// stepping kernel pay only without: with 401 output times impact oscillators took as long, with a hundred
// bouncing balls too (0.306 against 0.321 s, 0.331 against 0.336 s of integration for a million members).
constexpr std::size_t few_outputs = 2;

// GPU: blocks of four warps of the slow path on a multiprocessor, with friction or bounds. With 128 registers a function
// four fit, with 96, 80 and 64 five, six and eight; each of these is slower (docs/decisions.md).
constexpr int slow_path_blocks_with_friction = 3;

// --- Properties of a study ---------------------------------------------------------------------------------

// Quantities whose rates a stage stores.
std::size_t integrated_quantities(const System& system) {
  return system.size() + system.auxiliaries.size() + system.integrands.size() + system.does_work();
}

bool has_cheap_series(const System& system, const EmittedModel& model) {
  if (model.series.text.empty() || model.series.sums > cheap_series_sums ||
      model.series.linear > cheap_series_operations)
    return false;
  // A system that rebounds moves freely most of the time. One that does not comes to rest on its constraints,
  // and constrained motion is integrated by stages.
  return std::all_of(system.constraints.begin(), system.constraints.end(), [&](const Constraint& constraint) {
    return !system.pool->is_zero(constraint.restitution);
  });
}

// Minima and maxima are located within steps.
bool measures_extremes(const System& system) {
  return std::any_of(system.reductions.begin(), system.reductions.end(), is_extreme);
}

// --- Decisions ---------------------------------------------------------------------------------------------

const char* optimisation_of_steps(const System& system, const EmittedModel& model) {
  const auto is_inequality = [](const Constraint& constraint) { return !constraint.equation; };
  const auto inequalities = static_cast<std::size_t>(
      std::count_if(system.constraints.begin(), system.constraints.end(), is_inequality));
  const std::size_t length = model.text.size();
  if (length > longest_steps_for_o2) return "-O1";
  return length + charge_per_inequality * inequalities > longest_steps_for_o3 ? "-O2" : "-O3";
}

bool unrolls_stages(const System& system, const EmittedModel& model, Method method) {
  const Operations& count = model.motion_by_kind;
  return method == Method::dop853 && model.masked &&
         integrated_quantities(system) <= most_rates_in_registers &&
         count.total() + operations_per_function * count.functions <= longest_unrolled_motion;
}

bool handles_events_in_registers(const Study& study, Method method) {
  return method == Method::taylor && study.system->size() == 1 && study.time.outputs.size() <= few_outputs &&
         !measures_extremes(*study.system) && study.system->records.empty();
}

// As many blocks as small systems leave registers for.
int blocks_of_steps(const System& system, const EmittedModel& model, Method method,
                    const CudaTuning& tuning) {
  const bool tiny =
      system.size() == 1 && system.constraints.size() <= 1 && integrated_quantities(system) <= 2;
  if (method == Method::taylor) return tiny && !tuning.events_in_registers ? 3 : 2;
  if (!tuning.unroll_stages || !tiny || model.drives > 1) return 2;
  return 4;
}

}  // namespace

Method automatic_method(const Study& study, const EmittedModel& model) {
  if (has_cheap_series(*study.system, model)) return Method::taylor;
  return study.integrator.within_precision().rtol <= coarsest_rtol_for_dop853 ? Method::dop853
                                                                              : Method::tsit5;
}

int series_order(const IntegratorSettings& settings) {
  const double rtol = settings.within_precision().rtol;
  for (const SeriesOrder& choice : series_orders)
    if (rtol > choice.rtol_above) return choice.order;
  return finest_series_order;
}

// Two operations per product in a sum over earlier terms; five per quantity and term for the sums of the
// state's own terms at the end and the middle of the step.
long long operations_of_series(const System& system, const EmittedSeries& series, long long order) {
  const auto quantities = static_cast<long long>(integrated_quantities(system) + system.size());
  return order * (series.linear + 5 * quantities) + series.sums * order * (order + 1);
}

CpuTuning cpu_tuning(const System& system, const EmittedModel& model) {
  const bool light = model.text.size() <= light_model;
  return {.pack_pairs = light,
          .optimise_steps = optimisation_of_steps(system, model),
          .optimise_events = light ? "-O2" : "-O1",
          .optimise_fast_events = light ? "-O3" : "-O1",
          .optimise_records = "-O2"};
}

CudaTuning cuda_tuning(const Study& study, const EmittedModel& model, Method method) {
  CudaTuning tuning;
  tuning.record_steps = study.time.outputs.size() > few_outputs || measures_extremes(*study.system);
  tuning.unroll_stages = unrolls_stages(*study.system, model, method);
  tuning.events_in_registers = handles_events_in_registers(study, method);
  tuning.step_blocks = blocks_of_steps(*study.system, model, method, tuning);
  if (study.system->bounds_forces()) tuning.slow_path_blocks = slow_path_blocks_with_friction;
  return tuning;
}

}  // namespace zwang
