#include "host/kernel_program.h"

#include <chrono>

#include "host/kernel_text.h"
#include "src/emit.h"

namespace zwang {

namespace {

using Method = IntegratorSettings::Method;

// Where an eighth-order step begins to pay; measured in bench/results.
constexpr double coarsest_for_dop853 = 1e-6;

Method chosen_method(const IntegratorSettings& settings) {
  if (settings.method != Method::automatic) return settings.method;
  return settings.rtol <= coarsest_for_dop853 ? Method::dop853 : Method::tsit5;
}

const char* method_name(Method method) {
  return method == Method::dop853 ? "dop853" : method == Method::rk4 ? "rk4" : "tsit5";
}

const char* method_type(Method method) {
  return method == Method::dop853 ? "Dop853" : method == Method::rk4 ? "Rk4" : "Tsit5";
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

KernelProgram cpu_program(const Study& study, LaneChoice lanes) {
  const auto begun = std::chrono::steady_clock::now();
  const EmittedModel model = emit_model(*study.system);
  const Method method = chosen_method(study.integrator);
  KernelProgram program;
  program.method = method_name(method);
  program.motion_operations = model.motion_operations;
  for (const KernelFile& file : kernel_files()) program.text.sources[std::string(file.name)] = file.text;
  // Rows taken from a list differ from member to member: nothing for a pack to share.
  const bool packed = lanes == LaneChoice::best && model.masked;
  std::string unit = "#include \"kernels/entry_cpu.h\"\n\nnamespace zwang {\n" + model.text + "}\n\n";
  unit += "using Number = " + std::string(packed ? "zwang::Pack<double>" : "double") + ";\n";
  unit += "using Entry = zwang::CpuEntry<zwang::Model, zwang::" + std::string(method_type(method)) +
          ", double, Number>;\n";
  unit += "ZWANG_CPU_ENTRANCES(Entry)\n";
  program.text.sources["program.cpp"] = unit;
  program.text.units = {"program.cpp"};
  program.text.flags = compiler_flags(model);
  program.emission_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return program;
}

KernelSettings kernel_settings(const Study& study) {
  const IntegratorSettings& from = study.integrator;
  return {.step = from.step,
          .rtol = from.rtol,
          .atol = from.atol,
          .max_step = from.max_step,
          .contact_tolerance = from.contact_tolerance,
          .rest_speed = from.rest_speed,
          .accumulation_gap = from.accumulation_gap,
          .end = study.time.end,
          .max_steps = from.max_steps,
          .max_events = from.max_events,
          .outputs = static_cast<int>(study.time.outputs.size())};
}

}  // namespace zwang
