// Every study compiles for old and new GPUs. This needs NVRTC, but no GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "host/backend/cuda/compiler.h"
#include "host/backend/cuda/library.h"
#include "host/platform/machine_error.h"
#include "host/platform/private_files.h"
#include "host/program/kernel_program.h"
#include "host/study_file/load_study.h"

namespace zwang::cuda_compile_test {
namespace {

bool has_nvrtc() {
  try {
    cuda::Nvrtc::get();
    return true;
  } catch (const MachineError&) {
    return false;
  }
}

std::vector<std::string> config_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(ZWANG_SOURCE_DIR) + "/configs"))
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

class CudaCompile : public testing::TestWithParam<std::string> {};

// All kernels in one unit, so that the model is compiled once instead of three times: without the directives at the head of
// each unit, which include the model and may roll the loops of one kernel.
ProgramText in_one_unit(ProgramText text) {
  std::string& all = text.sources["all.cu"];
  all = "#include \"program.h\"\n";
  for (const std::string& unit : text.units) {
    std::istringstream part(text.sources.at(unit));
    for (std::string line; std::getline(part, line);)
      if (!line.starts_with('#')) all += line + "\n";
  }
  text.units = {"all.cu"};
  return text;
}

// Runs ptxas without optimisation. Returns its messages when it fails.
std::string assemble(const std::filesystem::path& ptx, int architecture,
                     const std::filesystem::path& target) {
  const std::filesystem::path log = target.string() + ".log";
  const std::string command = std::string(ZWANG_PTXAS) + " --Ofast-compile=max -arch=sm_" +
                              std::to_string(architecture) + " '" + ptx.string() + "' -o '" +
                              target.string() + "' > '" + log.string() + "' 2>&1";
  const int code = std::system(command.c_str());
  std::stringstream said;
  said << std::ifstream(log).rdbuf();
  return code == 0 ? "" : "exit code " + std::to_string(code) + ": " + said.str().substr(0, 3000);
}

// Tests that the text compiles; registers are tested below. The text is the same for all architectures (next
// test), so NVRTC compiles it once, for the oldest, and ptxas assembles it for each.
TEST_P(CudaCompile, EveryConfigCompilesForEveryArchitecture) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC on this machine";
  if (std::string(ZWANG_PTXAS).empty()) GTEST_SKIP() << "no ptxas on this machine";
  const Study study = load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/" + GetParam() + ".toml");
  ProgramText text = in_one_unit(cuda_program(study).text);
  text.flags.push_back("--Ofast-compile=mid");
  const TemporaryFolder folder;
  const std::filesystem::path ptx = folder.path() / "all.ptx";
  std::ofstream(ptx) << CudaCompiler(80).ptx(text);
  for (const int architecture : {80, 90, 120}) {
    const auto target = folder.path() / std::to_string(architecture);
    ASSERT_EQ(assemble(ptx, architecture, target), "") << "sm_" << architecture;
    EXPECT_GT(std::filesystem::file_size(target), 10000U);
  }
}

// The kernels may test whether they are compiled for a GPU and whether it is older than all architectures
// above, but not for any other architecture.
TEST(CudaText, IsTheSameForEveryArchitecture) {
  const std::string name = "__CUDA_ARCH__", asked = "defined(" + name + ")", older = name + " >= 800\n";
  int files = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::string(ZWANG_SOURCE_DIR) + "/kernels")) {
    if (!entry.is_regular_file()) continue;
    ++files;
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const std::string all = text.str();
    for (std::size_t at = all.find(name); at != std::string::npos; at = all.find(name, at + 1))
      EXPECT_TRUE(all.compare(at - std::min<std::size_t>(at, 8), asked.size(), asked) == 0 ||
                  all.compare(at, older.size(), older) == 0)
          << entry.path();
  }
  EXPECT_GT(files, 50);
}

// 7.5 is the oldest architecture of NVRTC 13; its doubles are slow, so single precision is compiled.
TEST(CudaText, CompilesForTheOldestArchitecture) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC on this machine";
  for (const char* name : {"impact_oscillator", "double_string"}) {
    const Study study = load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/" + name + ".toml",
                                   {"integrator.precision=\"single\""});
    const TemporaryFolder folder;
    EXPECT_NO_THROW(CudaCompiler(75).compile(cuda_program(study).text, folder.path() / "made")) << name;
  }
}

// With all optimisations the compiler did not get to the end of it: loops over the links were unrolled.
TEST(CudaText, CompilesTheRecordsOfALongChain) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC on this machine";
  ProgramText text =
      cuda_program(load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/falling_chain.toml")).text;
  text.units = {"record.cu"};
  const TemporaryFolder folder;
  EXPECT_NO_THROW(CudaCompiler(90).compile(text, folder.path() / "made"));
}

// The PTX of one unit.
std::string ptx_of(const std::string& study, const std::string& unit) {
  ProgramText text = cuda_program(load_study(std::string(ZWANG_SOURCE_DIR) + "/" + study + ".toml")).text;
  text.units = {unit};
  return CudaCompiler(90).ptx(text);
}

// Events of an inequality on velocities are handled in memory. Their kernel contains none of the
// functions of the slow path, which take ten times as long to compile as the kernel: they are linked.
TEST(CudaText, EventsInMemoryAreLinkedToTheFunctionsOfTheSlowPath) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC on this machine";
  const std::regex undefined("\\.extern \\.func[^;{]*try_event_at_step_end"),
      defined("\\.func[^;{]*try_event_at_step_end[^;{]*\\{");
  const std::string event = ptx_of("configs/oneway_clutch", "event.cu"),
                    slow_path = ptx_of("configs/oneway_clutch", "slow_path.cu");
  EXPECT_TRUE(std::regex_search(event, undefined));
  EXPECT_FALSE(std::regex_search(event, defined));
  EXPECT_TRUE(std::regex_search(slow_path, defined));
  EXPECT_LT(10 * event.size(), slow_path.size());
}

// Many members in single precision fit into shared memory, and each kernel then has few registers. It must
// have as many as the functions that it calls; otherwise ptxas refuses the program.
TEST(CudaText, KernelsHaveTheRegistersOfTheirFunctions) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC on this machine";
  const Study study = load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/impact_oscillator.toml",
                                 {"integrator.precision=\"single\""});
  ProgramText text = cuda_program(study).text;
  text.units = {"slow_path.cu"};
  const TemporaryFolder folder;
  EXPECT_NO_THROW(CudaCompiler(90).compile(text, folder.path() / "made"));
}

INSTANTIATE_TEST_SUITE_P(Configs, CudaCompile, testing::ValuesIn(config_names()),
                         [](const auto& one) { return one.param; });

// Bytes a kernel spills from registers, from the compiler's report; -1 if the report does not have the
// kernel.
long long spilled(const std::string& report, const std::string& kernel) {
  const std::size_t at = report.find("Function properties for " + kernel);
  if (at == std::string::npos) return -1;
  const std::size_t line = report.find_first_of("0123456789", report.find('\n', at));
  long long frame = 0, stores = 0, loads = 0;
  if (std::sscanf(report.c_str() + line, "%lld bytes stack frame, %lld bytes spill stores, %lld", &frame,
                  &stores, &loads) != 3)
    return -1;
  return stores + loads;
}

// Small systems keep a whole step in registers. Where steps are recorded inside (outputs, extremes), values
// are moved to local memory around that.
class CudaRegisters : public testing::TestWithParam<std::string> {};
TEST_P(CudaRegisters, AStepSpillsNothing) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC on this machine";
  const bool config = GetParam().find("configs/") == 0;
  const Study study =
      load_study(std::string(ZWANG_SOURCE_DIR) + "/" + GetParam() + ".toml",
                 config ? std::vector<std::string>{"time.samples=2"} : std::vector<std::string>{});
  KernelProgram program = cuda_program(study);
  program.text.flags.push_back("--ptxas-options=--verbose");
  program.text.units = {"step.cu"};
  const TemporaryFolder folder;
  const std::string report = CudaCompiler(90).compile(program.text, folder.path() / "made");
  EXPECT_EQ(spilled(report, "zwang_step"), 0) << report.substr(0, 3000);
}
INSTANTIATE_TEST_SUITE_P(Small, CudaRegisters,
                         testing::Values("configs/bouncing_ball", "bench/gpu_impact", "bench/string",
                                         "bench/gpu_smooth"),
                         [](const auto& one) { return one.param.substr(one.param.find('/') + 1); });

// Registers that a function of the assembly reads but never writes, each with the name of the function.
std::vector<std::string> read_but_never_written(const std::string& ptx) {
  static const std::regex a_register("%(?:fd|f|rd|rs|r|p)[0-9]+"),
      a_function("^(?:\\.visible |\\.weak )*\\.(?:func|entry)");
  std::vector<std::string> found;
  std::set<std::string> read, written;
  std::string function;
  const auto collect = [&] {
    for (const std::string& name : read)
      if (!written.count(name)) found.push_back(function + " " + name);
    read.clear();
    written.clear();
  };
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, a_function)) {
      collect();
      function = line;
    }
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos || line[first] == '.' || line.compare(first, 2, "//") == 0) continue;
    // An instruction writes the operand before its first comma, or the operands in braces there. A guard may
    // precede the instruction, and the instructions below write no register.
    std::size_t from = line[first] == '@' ? line.find_first_of(" \t", first) : first;
    from = line.find_first_not_of(" \t", from);
    // A function stores an object that it returns with its padding, byte by byte; padding has no value.
    if (line.compare(from, 10, "st.param.v") == 0 && line.find(".b8", from) != std::string::npos) continue;
    bool writes = true;
    for (const char* reader : {"st.", "bra", "call", "ret", "red.", "bar", "prefetch"})
      writes = writes && line.compare(from, std::strlen(reader), reader) != 0;
    const std::size_t brace = line.find('{', from), comma = line.find(',', from);
    const std::size_t end = brace < comma ? line.find('}', brace) : std::min(comma, line.size());
    for (std::sregex_iterator one(line.begin(), line.end(), a_register), none; one != none; ++one) {
      const auto at = static_cast<std::size_t>(one->position());
      (writes && at >= from && at < end ? written : read).insert(one->str());
    }
  }
  collect();
  return found;
}

TEST(CudaAssembly, RegistersThatAreNeverWrittenAreFound) {
  const std::string good =
      ".func one()\n{\n.reg .b32 %r<4>;\nld.v2.u32 {%r1, %r2}, [p];\n@%p1 bra $L;\nsetp.eq.s32 %p1, %r1, "
      "%r2;\n}\n";
  EXPECT_TRUE(read_but_never_written(good).empty());
  const std::string bad =
      good + ".visible .entry two()\n{\nadd.f64 %fd1, %fd2, %fd1;\nst.f64 [p], %fd3;\n}\n";
  EXPECT_EQ(read_but_never_written(bad).size(), 2U);
}

// A value that the compiler treats as undefined is arbitrary on a GPU but not on a CPU. Tests of results do
// not detect a first step size computed from it, because step control corrects it.
struct StudyInPrecision {
  std::string study, precision = "double";
};
class CudaUndefined : public testing::TestWithParam<StudyInPrecision> {};
TEST_P(CudaUndefined, EveryRegisterIsWrittenBeforeItIsRead) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC on this machine";
  ProgramText text = cuda_program(load_study(std::string(ZWANG_SOURCE_DIR) + "/" + GetParam().study + ".toml",
                                             {"integrator.precision=\"" + GetParam().precision + "\""}))
                         .text;
  const std::vector<std::string> units = text.units;
  for (const std::string& unit : units) {
    text.units = {unit};
    const std::vector<std::string> found = read_but_never_written(CudaCompiler(90).ptx(text));
    EXPECT_TRUE(found.empty()) << unit << ": " << found.size() << " registers, as in " << found.front();
  }
}
INSTANTIATE_TEST_SUITE_P(
    Studies, CudaUndefined,
    testing::Values(StudyInPrecision{"bench/gpu_smooth"}, StudyInPrecision{"bench/gpu_impact"},
                    StudyInPrecision{"configs/string_pendulum"}, StudyInPrecision{"configs/slung_load"},
                    StudyInPrecision{"configs/knife_edge"}, StudyInPrecision{"configs/tumbling_box"},
                    StudyInPrecision{"configs/gate_stops", "single"}),
    [](const auto& one) {
      const std::string& study = one.param.study;
      return study.substr(study.find('/') + 1) + (one.param.precision == "single" ? "_single" : "");
    });

TEST(CudaCompiler, NamesTheFileAndTheLineOfAnError) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC on this machine";
  ProgramText program;
  program.sources["kernels/broken.h"] = "\nint nonsense = ;\n";
  program.sources["program.cu"] = "#include \"kernels/broken.h\"\n";
  program.units = {"program.cu"};
  const TemporaryFolder folder;
  try {
    CudaCompiler(90).compile(program, folder.path() / "made");
    FAIL() << "compiled";
  } catch (const MachineError& error) {
    EXPECT_NE(std::string(error.what()).find("kernels/broken.h(2)"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "made"));
}

}  // namespace
}  // namespace zwang::cuda_compile_test
