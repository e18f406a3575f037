#include "host/program/kernel_program.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "host/program/kernel_text.h"
#include "host/study_file/document.h"
#include "kernels/base/portable.h"
#include "src/base/error.h"
#include "src/base/settings.h"
#include "src/emit/emit.h"
#include "src/emit/solve.h"
#include "src/emit/taylor_series.h"
#include "src/emit/text.h"
#include "src/system/system.h"

namespace zwang {

namespace {

using Method = IntegratorSettings::Method;

// Where an eighth-order step pays; measured in bench/results. At 1e-6 it does too, but steps are then so long that its error
// estimate misses what matters in one member of a thousand (docs/testing.md, seeds 129, 8009, 8018).
constexpr double coarsest_for_dop853 = 3e-7;

// Sums over earlier terms, and other work for every term, a series may cost and still be cheaper than twelve stages.
bool expands_cheaply(const System& system, const EmittedModel& model) {
  constexpr long long few_sums = 2, few_operations = 60;
  if (model.series.text.empty() || model.series.sums > few_sums || model.series.linear > few_operations)
    return false;
  // What rebounds moves freely most of the time; what does not is held, and then there are stages all the same.
  return std::all_of(system.constraints.begin(), system.constraints.end(), [&](const Constraint& constraint) {
    return !system.pool->is_zero(constraint.restitution);
  });
}

// Where the study, or --set, says how to integrate.
Location place_of_method(const Study& study) {
  const Entry* table = study.document ? study.document->find("integrator") : nullptr;
  const Entry* method = table ? table->value.find("method") : nullptr;
  if (!method) return {study.path, 0, 0};
  const Mark& mark = method->value.mark;
  return mark.line == 0 ? Location{"--set", 0, 0} : Location{study.path, mark.line, mark.column};
}

Method chosen_method(const Study& study, const EmittedModel& model) {
  const IntegratorSettings& settings = study.integrator;
  if (settings.method == Method::taylor && model.series.text.empty())
    throw Error({.where = place_of_method(study),
                 .message = "the motion of this system is not expanded into power series",
                 .found = "method = \"taylor\", and " + model.series.obstacle,
                 .expected =
                     "sums, products, quotients, whole powers, sin, cos, exp and sqrt of the state, no "
                     "condition that always holds; or method = \"auto\""});
  if (settings.method != Method::automatic) return settings.method;
  if (expands_cheaply(*study.system, model)) return Method::taylor;
  return settings.within_precision().rtol <= coarsest_for_dop853 ? Method::dop853 : Method::tsit5;
}

// Numbers whose rates a stage keeps.
std::size_t numbers_kept(const System& system) {
  return system.size() + system.auxiliaries.size() + system.integrands.size() + does_work(system);
}

// Of a power series. More terms allow longer steps, up to where events hide in them (bench/results/neoverse_n1.txt).
int series_order(const IntegratorSettings& settings) {
  const double rtol = settings.within_precision().rtol;
  return rtol > 3e-5 ? 8 : rtol > 3e-8 ? 12 : rtol > 3e-12 ? 16 : 20;
}

// Two for every product in a sum over earlier terms; sums of the state's own terms, at the end and half-way.
long long operations_of_series(const System& system, const EmittedSeries& series, long long order) {
  const auto numbers = static_cast<long long>(numbers_kept(system) + system.size());
  return order * (series.linear + 5 * numbers) + series.sums * order * (order + 1);
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

// Of a GPU's step: may the stages be written out one after the other, their rates in registers? Measured on an H200, double
// strings are faster so by a sixth, impact oscillators by a fourth; long right sides make warps wait for instructions
// (bench/results/h200/arrangements.txt).
bool writes_stages_out(const System& system, const EmittedModel& model, Method method) {
  constexpr std::size_t registers_hold = 4;
  constexpr long long short_text = 64, text_of_a_function = 20;
  const Operations& count = model.motion_by_kind;
  return method == Method::dop853 && model.masked && numbers_kept(system) <= registers_hold &&
         count.total() + text_of_a_function * count.functions <= short_text;
}

// Largest and smallest values are looked for within steps, and take members away from their lanes.
bool seeks_extremes(const System& system) {
  return std::any_of(system.measures.begin(), system.measures.end(), [](const Measure& measure) {
    return measure.pattern == EventPattern::none &&
           (measure.reduction == Reduction::minimum || measure.reduction == Reduction::maximum);
  });
}

// Shall lanes land in their stride (kernels/entry/entry_cuda.h)? Where little else than events takes members away from them. With
// many outputs or extremes, more lanes that hand over sooner are better (bench/results/h200/arrangements.txt).
bool lands_in_stride(const Study& study, Method method) {
  constexpr std::size_t few = 2;
  return method == Method::taylor && study.system->size() == 1 && study.time.outputs.size() <= few &&
         !seeks_extremes(*study.system);
}

// How many blocks of stepping lanes should fit on a processor: as many as small systems leave registers for. Extremes are
// compared at every step, and need some of their own.
int blocks_of_steps(const System& system, const EmittedModel& model, Method method, bool written_out,
                    bool strides) {
  const bool tiny = system.size() == 1 && system.constraints.size() <= 1 && numbers_kept(system) <= 2;
  if (method == Method::taylor) return tiny && !strides ? 3 : 2;
  if (!written_out || !tiny || model.drives > 1) return 2;
  return seeks_extremes(system) ? 3 : 4;
}

// A model so short that two packs and the last optimisations may be afforded: with them, longer ones take more than six
// seconds to compile on two slow cores (bench/results/neoverse_n1.txt).
bool is_light(const EmittedModel& model) { return model.text.size() <= 13'000; }

// How hard to try: what is tried longer compiles for more than six seconds on two slow cores. Long straight lines gain little
// from the last optimisations. They also write out loops over conditions, which takes most of their time.
const char* effort_of_steps(const System& system, const EmittedModel& model) {
  const auto open = [](const Constraint& constraint) { return !constraint.equation; };
  const auto conditions =
      static_cast<std::size_t>(std::count_if(system.constraints.begin(), system.constraints.end(), open));
  const std::size_t length = model.text.size();
  return length > 120'000 ? "-O1" : length + 3'000 * conditions > 75'000 ? "-O2" : "-O3";
}
// Events are rare beside steps, and their text is long.
const char* effort_of_events(const EmittedModel& model) {
  return model.text.size() > 100'000 ? "-O1" : "-O2";
}

// For the machine at hand. Fused multiply-adds are welcome: a member's steps are always taken by the same instructions,
// so its bits do not depend on threads or neighbours. No errno and no traps: nobody reads them. On 64-bit Arm the plain
// instruction set has all we use, and "native" can promise more than a virtual machine keeps.
std::vector<std::string> compiler_flags(const char* effort) {
  std::vector<std::string> flags = {
      "-std=c++17",          effort, "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math",
      "-fvisibility=hidden", "-w"};
#if defined(__x86_64__) || defined(__i386__)
  flags.push_back("-march=native");
#endif
  return flags;
}

}  // namespace

namespace {

// What both kinds of program have in common: the kernels, and the unit with the model in it.
KernelProgram begin_program(const EmittedModel& model, Method method, const std::string& unit_name,
                            const std::string& entry_header) {
  KernelProgram program;
  program.method = method_name(method);
  program.motion_operations = model.motion_operations;
  for (const KernelFile& file : kernel_files()) program.text.sources[std::string(file.name)] = file.text;
  program.text.sources[unit_name] = "#include \"kernels/entry/" + entry_header + "\"\n\nnamespace zwang {\n" +
                                    model.text + (method == Method::taylor ? "\n" + model.series.text : "") +
                                    "}\n\n";
  program.text.units = {unit_name};
  return program;
}

// A classical Runge-Kutta step leaves out what goes with the fifth power of its length: that shall be a hundredth of the
// tolerance. Nobody listens to what other conditions do on that last bit of way; a hundredth of the step is well within the
// margin by which lanes hear them beforehand (kernels/lanes/event_detection.h).
double crossing_reach(const IntegratorSettings& settings) {
  constexpr double unheard = 0.01;
  const double rounding = settings.single ? Precision<float>::epsilon : Precision<double>::epsilon;
  return std::min(unheard, std::pow(std::max(4 * rounding, 0.01 * settings.rtol), 0.2));
}

double seconds_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

}  // namespace

KernelProgram cpu_program(const Study& study, LaneChoice lanes) {
  const auto begun = std::chrono::steady_clock::now();
  const EmittedModel model = emit_model(*study.system);
  const Method method = chosen_method(study, model);
  KernelProgram program = begin_program(model, method, "program.h", "entry_cpu.h");
  // Rows taken from a list differ from member to member: nothing for a pack to share.
  const bool packed = lanes == LaneChoice::best && model.masked;
  const std::string real = real_type(study.integrator);
  std::string& common = program.text.sources["program.h"];
  const std::string pack = "zwang::Packing<" + real + (is_light(model) ? ", true>" : ", false>");
  common += "using Number = " + (packed ? pack : real) + ";\n";
  common += "using Entry = zwang::CpuEntry<zwang::Model, " + method_type(method, study.integrator) + ", " +
            real + ", Number>;\n";
  const bool touches = has_light_events(*study.system, model.masked);
  const auto add = [&](const std::string& name, const std::string& text) {
    program.text.sources[name] = "#include \"program.h\"\n" + text;
    program.text.units.push_back(name);
  };
  program.text.units.clear();
  add("steps.cpp", std::string(touches ? "ZWANG_CPU_FAST_EVENTS(extern template, Entry)\n" : "") +
                       "ZWANG_CPU_EVENTS(extern template, Entry)\nZWANG_CPU_ENTRIES(Entry)\n");
  add("events.cpp", "ZWANG_CPU_EVENTS(template, Entry)\n");
  if (touches)
    add("fast_events.cpp", "ZWANG_CPU_EVENTS(extern template, Entry)\nZWANG_CPU_FAST_EVENTS(template, Entry)\n");
  program.text.flags = compiler_flags(effort_of_steps(*study.system, model));
  program.text.unit_flags["events.cpp"] = {effort_of_events(model)};
  if (touches && !is_light(model)) program.text.unit_flags["fast_events.cpp"] = {"-O2"};
  program.emission_seconds = seconds_since(begun);
  return program;
}

KernelProgram cuda_program(const Study& study) {
  const auto begun = std::chrono::steady_clock::now();
  const EmittedModel model = emit_model(*study.system);
  const Method method = chosen_method(study, model);
  KernelProgram program = begin_program(model, method, "program.h", "entry_cuda.h");
  std::string steps = method_type(method, study.integrator);
  if (method == Method::taylor)
    program.series_operations =
        operations_of_series(*study.system, model.series, series_order(study.integrator));
  const bool written_out = writes_stages_out(*study.system, model, method);
  if (written_out) steps = "zwang::UnrolledStages<" + steps + ">";
  const bool strides = lands_in_stride(study, method);
  program.text.sources["program.h"] += "using Entry = zwang::CudaEntry<zwang::Model, " + steps + ", " +
                                       real_type(study.integrator) + (strides ? ", true" : ", false") +
                                       ">;\n";
  const auto add = [&](const std::string& name, const char* entrance, int blocks) {
    program.text.sources[name] = "#include \"program.h\"\n" + std::string(entrance) + "(Entry, " +
                                 std::to_string(cuda_threads) + ", " + std::to_string(blocks) + ")\n";
  };
  add("step.cu", "ZWANG_CUDA_STEP", blocks_of_steps(*study.system, model, method, written_out, strides));
  add("event.cu", "ZWANG_CUDA_EVENT", 2);
  add("slow_path.cu", "ZWANG_CUDA_SLOW_PATH", 4);
  program.text.units = {"step.cu", "event.cu", "slow_path.cu"};
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
          .end = study.time.end,
          .crossing_reach = crossing_reach(from),
          .max_steps = from.max_steps,
          .max_events = from.max_events,
          .outputs = static_cast<int>(study.time.outputs.size())};
}

}  // namespace zwang
