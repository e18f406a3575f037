// Every config compiles for GPUs old and new; no GPU is needed for that, only NVRTC.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "host/cuda_compiler.h"
#include "host/cuda_library.h"
#include "host/kernel_program.h"
#include "host/machine_error.h"
#include "host/private_files.h"

namespace zwang {
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

TEST_P(CudaCompile, EveryConfigCompilesForEveryArchitecture) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC on this machine";
  const Study study = load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/" + GetParam() + ".toml");
  const KernelProgram program = cuda_program(study);
  const TemporaryFolder folder;
  for (const int architecture : {80, 90, 120}) {
    const auto target = folder.path() / std::to_string(architecture);
    CudaCompiler(architecture).compile(program.text, target);
    EXPECT_GT(std::filesystem::file_size(target), 10000U);
  }
}

INSTANTIATE_TEST_SUITE_P(Configs, CudaCompile, testing::ValuesIn(config_names()),
                         [](const auto& one) { return one.param; });

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
}  // namespace zwang
