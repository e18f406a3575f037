#include "host/program/kernel_program.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "host/program/kernel_text.h"
#include "host/program/mass_ratio.h"
#include "host/program/tuning.h"
#include "host/toml/document.h"
#include "kernels/base/portable.h"
#include "src/base/error.h"
#include "src/base/settings.h"
#include "src/emit/emit.h"
#include "src/emit/emitted_model.h"
#include "src/emit/long_model.h"
#include "src/emit/solve.h"
#include "src/emit/taylor_series.h"
#include "src/emit/text.h"
#include "src/system/system.h"

namespace zwang {

namespace {

using Method = IntegratorSettings::Method;

// Where the study file, or --set, gives the integration method.
Location location_of_method(const Study& study) {
  const Entry* table = study.document ? study.document->find("integrator") : nullptr;
  const Entry* method = table ? table->value.find("method") : nullptr;
  if (!method) return {study.path, 0, 0};
  const Mark& mark = method->value.mark;
  return mark.line == 0 ? Location{"--set", 0, 0} : Location{study.path, mark.line, mark.column};
}

EmittedModel emit_for(const Study& study, std::size_t long_from) {
  return emit_model(
      *study.system,
      needs_orthogonal_elimination(study) ? Elimination::orthogonal : Elimination::straight_where_short,
      long_from);
}

Method chosen_method(const Study& study, const EmittedModel& model) {
  const IntegratorSettings& settings = study.integrator;
  if (settings.method == Method::taylor && model.series.text.empty())
    throw Error({.where = location_of_method(study),
                 .message = "method \"taylor\" cannot expand the motion of this system into power series",
                 .found = "method = \"taylor\", and " + model.series.obstacle,
                 .expected =
                     "sums, products, quotients, integer powers, sin, cos, exp and sqrt of the state, and no "
                     "constraint that is an equation",
                 .hint = "use method = \"auto\""});
  return settings.method == Method::automatic ? automatic_method(study, model) : settings.method;
}

const char* method_name(Method method) {
  switch (method) {
    case Method::dop853:
      return "dop853";
    case Method::rk4:
      return "rk4";
    case Method::taylor:
      return "taylor";
    default:
      return "tsit5";
  }
}

std::string method_type(Method method, const IntegratorSettings& settings) {
  switch (method) {
    case Method::dop853:
      return "zwang::Dop853";
    case Method::rk4:
      return "zwang::Rk4";
    case Method::taylor:
      return "zwang::Taylor<" + std::to_string(series_order(settings)) + ", zwang::Series>";
    default:
      return "zwang::Tsit5";
  }
}

std::string real_type(const IntegratorSettings& settings) { return settings.single ? "float" : "double"; }

// For the processor of this machine. Fused multiply-adds are allowed: every member goes through the same
// instructions, so its bits do not depend on threads or on other members. errno and traps are never read. On
// 64-bit Arm the base instruction set is sufficient, and -march=native may select instructions that a virtual
// machine does not support.
std::vector<std::string> compiler_flags(const char* optimisation) {
  std::vector<std::string> flags = {
      "-std=c++17",          optimisation, "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math",
      "-fvisibility=hidden", "-w"};
#if defined(__x86_64__) || defined(__i386__)
  flags.push_back("-march=native");
#endif
  return flags;
}

// Long arrays stay in memory (kernels/base/portable.h), and the model calls the elimination of the kernels.
constexpr const char* long_model_head =
    "#define ZWANG_LONG_MODEL 1\n#include \"kernels/dynamics/sparse_elimination.h\"\n";

// The part common to both kinds of program: the kernels and the header with the model.
KernelProgram begin_program(const EmittedModel& model, Method method, const std::string& unit_name,
                            const std::string& entry_header) {
  KernelProgram program;
  program.method = method_name(method);
  program.motion_operations = model.motion_operations;
  for (const KernelFile& file : kernel_files()) program.text.sources[std::string(file.name)] = file.text;
  program.text.sources[unit_name] = (model.is_long ? long_model_head : "") +
                                    std::string("#include \"kernels/entry/") + entry_header +
                                    "\"\n\nnamespace zwang {\n" + model.text +
                                    (method == Method::taylor ? "\n" + model.series.text : "") + "}\n\n";
  program.text.units = {unit_name};
  return program;
}

// Largest fraction of a step that a single classical Runge-Kutta step may cover on its way to an event. Its
// error goes with the fifth power of the length and shall be a hundredth of the tolerance. No event detection
// runs within this last fraction; 0.01 of the step is well within the margin of the detection
// (kernels/lanes/event_detection.h).
double crossing_reach(const IntegratorSettings& settings) {
  constexpr double largest_reach = 0.01;
  const double rounding = settings.single ? Precision<float>::epsilon : Precision<double>::epsilon;
  return std::min(largest_reach, std::pow(std::max(4 * rounding, 0.01 * settings.rtol), 0.2));
}

double seconds_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

}  // namespace

KernelProgram cpu_program(const Study& study, LaneChoice lanes) {
  const auto begun = std::chrono::steady_clock::now();
  const EmittedModel model = emit_for(study, long_on_cpu);
  const Method method = chosen_method(study, model);
  KernelProgram program = begin_program(model, method, "program.h", "entry_cpu.h");
  const CpuTuning tuning = cpu_tuning(*study.system, model);
  // Without masks the list of active constraints differs from member to member, so packs would share no work.
  const bool packed = lanes == LaneChoice::best && model.masked;
  const std::string real = real_type(study.integrator);
  std::string& common = program.text.sources["program.h"];
  const std::string pack = "zwang::Packing<" + real + (tuning.pack_pairs ? ", true>" : ", false>");
  common += "using Number = " + (packed ? pack : real) + ";\n";
  common += "using Entry = zwang::CpuEntry<zwang::Model, " + method_type(method, study.integrator) + ", " +
            real + ", Number>;\n";
  const bool fast_events =
      has_light_events(*study.system, model.masked) || has_free_impacts(*study.system, model.masked);
  const auto add = [&](const std::string& name, const std::string& text) {
    program.text.sources[name] = "#include \"program.h\"\n" + text;
    program.text.units.push_back(name);
  };
  program.text.units.clear();
  // The longest first: they are compiled side by side.
  add("events.cpp", "ZWANG_CPU_EVENTS(template, Entry)\n");
  add("steps.cpp", std::string(fast_events ? "ZWANG_CPU_FAST_EVENTS(extern template, Entry)\n" : "") +
                       "ZWANG_CPU_EVENTS(extern template, Entry)\nZWANG_CPU_RECORDS(extern template, "
                       "Entry)\nZWANG_CPU_ENTRIES(Entry)\n");
  if (fast_events)
    add("fast_events.cpp",
        "ZWANG_CPU_EVENTS(extern template, Entry)\nZWANG_CPU_FAST_EVENTS(template, Entry)\n");
  add("records.cpp", "ZWANG_CPU_RECORDS(template, Entry)\n");
  program.text.flags = compiler_flags(tuning.optimise_steps);
  program.text.unit_flags["events.cpp"] = {tuning.optimise_events};
  program.text.unit_flags["records.cpp"] = {tuning.optimise_records};
  if (fast_events) program.text.unit_flags["fast_events.cpp"] = {tuning.optimise_fast_events};
  program.emission_seconds = seconds_since(begun);
  return program;
}

KernelProgram cuda_program(const Study& study) {
  const auto begun = std::chrono::steady_clock::now();
  const EmittedModel model = emit_for(study, long_on_gpu);
  const Method method = chosen_method(study, model);
  KernelProgram program = begin_program(model, method, "program.h", "entry_cuda.h");
  std::string steps = method_type(method, study.integrator);
  if (method == Method::taylor)
    program.series_operations =
        operations_of_series(*study.system, model.series, series_order(study.integrator));
  const CudaTuning tuning = cuda_tuning(study, model, method);
  if (tuning.unroll_stages) steps = "zwang::UnrolledStages<" + steps + ">";
  if (tuning.record_steps) steps = "zwang::RecordingSteps<" + steps + ">";
  program.text.sources["program.h"] += "using Entry = zwang::CudaEntry<zwang::Model, " + steps + ", " +
                                       real_type(study.integrator) +
                                       (tuning.events_in_registers ? ", true" : ", false") + ">;\n";
  const auto add = [&](const std::string& name, const std::string& shared, const std::string& entry,
                       int blocks, const char* head = "") {
    program.text.sources[name] = head + std::string("#include \"program.h\"\n") + shared + entry +
                                 "(Entry, " + std::to_string(cuda_threads) + ", " + std::to_string(blocks) +
                                 ")\n";
  };
  const std::string shared = "ZWANG_CUDA_SHARED_EVENTS";
  add("step.cu", "", "ZWANG_CUDA_STEP", tuning.step_blocks);
  add("event.cu", shared + "(extern template, Entry)\n", "ZWANG_CUDA_EVENT", tuning.event_blocks);
  add("slow_path.cu", shared + "(template, Entry)\n", "ZWANG_CUDA_SLOW_PATH", tuning.slow_path_blocks,
      study.system->bounds_forces() ? "#define ZWANG_LOOPS_ROLLED 1\n" : "");
  program.text.units = {"step.cu", "event.cu", "slow_path.cu"};
  if (tuning.record_steps) {
    add("record.cu", "", "ZWANG_CUDA_RECORD", tuning.record_blocks);
    program.text.units.emplace_back("record.cu");
  }
  program.text.linked_units = {"event.cu", "slow_path.cu"};
  // A limit for functions: that of a kernel follows from its launch bounds.
  for (const std::string& unit : program.text.linked_units)
    program.text.unit_flags[unit] = {"--maxrregcount=" +
                                     std::to_string(cuda_function_registers(study.system->bounds_forces()))};
  // The loops of long models are long enough as they are. Unrolled, their slow path takes ten times as long to compile, and
  // their records did not end in ten minutes (a chain of 20 links).
  if (model.is_long)
    for (const std::string& unit : program.text.units)
      if (unit != "step.cu") program.text.unit_flags[unit].push_back("--Ofast-compile=min");
  program.text.flags = {"--std=c++17", "--device-as-default-execution-space", "--disable-warnings"};
  program.emission_seconds = seconds_since(begun);
  return program;
}

KernelSettings kernel_settings(const Study& study) {
  const IntegratorSettings from = study.integrator.within_precision();
  return {.step = from.step,
          .rtol = from.rtol,
          .atol = from.atol,
          .max_step = from.max_step,
          .contact_tolerance = from.contact_tolerance,
          .rest_speed = from.rest_speed,
          .accumulation_gap = from.accumulation_gap,
          .painleve_margin = from.painleve_margin,
          .end = study.time.end,
          .crossing_reach = crossing_reach(from),
          .max_steps = from.max_steps,
          .max_events = from.max_events,
          .outputs = static_cast<int>(study.time.outputs.size())};
}

}  // namespace zwang
