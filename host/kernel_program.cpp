#include "host/kernel_program.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "host/kernel_text.h"
#include "kernels/portable.h"
#include "src/emit.h"
#include "src/emit_solve.h"

namespace zwang {

namespace {

using Method = IntegratorSettings::Method;

// Where an eighth-order step pays; measured in bench/results. At 1e-6 it does too, but steps are then so long that its error
// estimate misses what matters in one member of a thousand (docs/testing.md, seeds 129, 8009, 8018).
constexpr double coarsest_for_dop853 = 3e-7;

Method chosen_method(const IntegratorSettings& settings) {
  if (settings.method != Method::automatic) return settings.method;
  return settings.within_precision().rtol <= coarsest_for_dop853 ? Method::dop853 : Method::tsit5;
}

const char* method_name(Method method) {
  return method == Method::dop853 ? "dop853" : method == Method::rk4 ? "rk4" : "tsit5";
}

const char* method_type(Method method) {
  return method == Method::dop853 ? "Dop853" : method == Method::rk4 ? "Rk4" : "Tsit5";
}

std::string real_type(const IntegratorSettings& settings) { return settings.single ? "float" : "double"; }

// Numbers whose rates a stage keeps.
std::size_t numbers_kept(const System& system) {
  return system.size() + system.auxiliaries.size() + system.integrands.size() + does_work(system);
}

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

// How many blocks of stepping lanes should fit on a processor: as many as small systems leave registers for. Extremes of
// measures are compared at every step, and need some of their own.
int blocks_of_steps(const System& system, const EmittedModel& model, bool written_out) {
  const bool tiny = system.size() == 1 && system.constraints.size() <= 1 && numbers_kept(system) <= 2;
  if (!written_out || !tiny || model.drives > 1) return 2;
  const bool extremes =
      std::any_of(system.measures.begin(), system.measures.end(), [](const Measure& measure) {
        return measure.pattern == EventPattern::none &&
               (measure.reduction == Reduction::minimum || measure.reduction == Reduction::maximum);
      });
  return extremes ? 3 : 4;
}

// For the machine at hand. Fused multiply-adds are welcome: a member's steps are always taken by the same instructions,
// so its bits do not depend on threads or neighbours. No errno and no traps: nobody reads them. On 64-bit Arm the plain
// instruction set has all we use, and "native" can promise more than a virtual machine keeps.
std::vector<std::string> compiler_flags(const EmittedModel& model) {
  // Long straight lines gain little from the last optimisations, and compile long.
  const char* effort = model.text.size() > 120'000 ? "-O1" : model.text.size() > 80'000 ? "-O2" : "-O3";
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
KernelProgram begin_program(const Study& study, const EmittedModel& model, const std::string& unit_name,
                            const std::string& entry_header) {
  KernelProgram program;
  program.method = method_name(chosen_method(study.integrator));
  program.motion_operations = model.motion_operations;
  for (const KernelFile& file : kernel_files()) program.text.sources[std::string(file.name)] = file.text;
  program.text.sources[unit_name] =
      "#include \"kernels/" + entry_header + "\"\n\nnamespace zwang {\n" + model.text + "}\n\n";
  program.text.units = {unit_name};
  return program;
}

// A classical Runge-Kutta step leaves out what goes with the fifth power of its length: that shall be a hundredth of the
// tolerance. Nobody listens to what other conditions do on that last bit of way; a hundredth of the step is well within the
// margin by which lanes hear them beforehand (kernels/listen.h).
double landing_reach(const IntegratorSettings& settings) {
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
  KernelProgram program = begin_program(study, model, "program.h", "entry_cpu.h");
  // Rows taken from a list differ from member to member: nothing for a pack to share.
  const bool packed = lanes == LaneChoice::best && model.masked;
  const std::string real = real_type(study.integrator);
  std::string& common = program.text.sources["program.h"];
  common += "using Number = " + (packed ? "zwang::Pack<" + real + ">" : real) + ";\n";
  common += "using Entry = zwang::CpuEntry<zwang::Model, zwang::" +
            std::string(method_type(chosen_method(study.integrator))) + ", " + real + ", Number>;\n";
  program.text.sources["steps.cpp"] =
      "#include \"program.h\"\nZWANG_CPU_EVENTS(extern template, Entry)\nZWANG_CPU_ENTRANCES(Entry)\n";
  program.text.sources["events.cpp"] = "#include \"program.h\"\nZWANG_CPU_EVENTS(template, Entry)\n";
  program.text.units = {"steps.cpp", "events.cpp"};
  program.text.flags = compiler_flags(model);
  // Events are rare beside steps, and their text is long.
  if (program.text.flags.at(1) == "-O3") program.text.unit_flags["events.cpp"] = {"-O2"};
  program.emission_seconds = seconds_since(begun);
  return program;
}

KernelProgram cuda_program(const Study& study) {
  const auto begun = std::chrono::steady_clock::now();
  const EmittedModel model = emit_model(*study.system);
  KernelProgram program = begin_program(study, model, "program.h", "entry_cuda.h");
  const Method method = chosen_method(study.integrator);
  std::string steps = "zwang::" + std::string(method_type(method));
  const bool written_out = writes_stages_out(*study.system, model, method);
  if (written_out) steps = "zwang::WrittenOut<" + steps + ">";
  program.text.sources["program.h"] +=
      "using Entry = zwang::CudaEntry<zwang::Model, " + steps + ", " + real_type(study.integrator) + ">;\n";
  const auto add = [&](const std::string& name, const char* entrance, int blocks) {
    program.text.sources[name] = "#include \"program.h\"\n" + std::string(entrance) + "(Entry, " +
                                 std::to_string(cuda_threads) + ", " + std::to_string(blocks) + ")\n";
  };
  add("step.cu", "ZWANG_CUDA_STEP", blocks_of_steps(*study.system, model, written_out));
  add("land.cu", "ZWANG_CUDA_LAND", 2);
  add("tend.cu", "ZWANG_CUDA_TEND", 4);
  program.text.units = {"step.cu", "land.cu", "tend.cu"};
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
          .landing_reach = landing_reach(from),
          .max_steps = from.max_steps,
          .max_events = from.max_events,
          .outputs = static_cast<int>(study.time.outputs.size())};
}

}  // namespace zwang
