// Messages if a GPU is missing, old, out of memory or lost during a run; and that several GPUs give the files
// of one.
#include <gtest/gtest.h>

#include "host/backend/cuda/library.h"
#include "tests/support/run_program.h"
#include "tests/support/run_results.h"

namespace zwang::cuda_troubles_test {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;
using Variables = std::vector<std::pair<const char*, std::string>>;

class CudaTroubles : public ::testing::Test {
 protected:
  CudaTroubles() { environment.set("ZWANG_CUDA_DRIVER", ZWANG_STAND_IN); }

  ProgramRun run(const Variables& feigned, const Arguments& more = {}) const {
    Environment set;
    for (const auto& [name, value] : feigned) set.set(name, value);
    return run_program(
        folder, with_options({"run", std::string(ZWANG_SOURCE_DIR) + "/configs/impact_oscillator.toml",
                              "--backend", "cuda", "--members", "5000", "--batch", "512", "--checkpoint", "0",
                              "--quiet", "--out", "out"},
                             more));
  }
  static std::string error_in(const ProgramRun& run) { return run.err.substr(0, 2000); }

  Environment environment;
  Scratch scratch;
  fs::path folder = scratch.path();
};

bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

bool has_nvrtc() {
  try {
    cuda::Nvrtc::get();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

TEST_F(CudaTroubles, ADriverTooOldIsToBeUpdated) {
  const ProgramRun made = run({{"STAND_IN_START", "803"}});
  EXPECT_EQ(made.code, 2);
  EXPECT_TRUE(has(made.err, "update the NVIDIA driver") && has(made.err, "--backend cpu")) << error_in(made);
  EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST_F(CudaTroubles, AFileThatIsNotADriverIsNamed) {
  write_text(folder / "none.so", "not a library");
  const ProgramRun made = run({{"ZWANG_CUDA_DRIVER", (folder / "none.so").string()}});
  EXPECT_EQ(made.code, 2);
  EXPECT_TRUE(has(made.err, "the NVIDIA driver could not be loaded") && has(made.err, "none.so"))
      << error_in(made);
}

TEST_F(CudaTroubles, AnEmptyDriverNameCountsAsNotSet) {
  const ProgramRun made = run({{"ZWANG_CUDA_DRIVER", ""}, {"CUDA_VISIBLE_DEVICES", "-1"}});
  EXPECT_EQ(made.code, 2);
  EXPECT_FALSE(has(made.err, "no function")) << error_in(made);
}

TEST_F(CudaTroubles, AMissingDeviceIsReportedWithTheExistingOnes) {
  const ProgramRun none = run({{"STAND_IN_DEVICES", "0"}}),
                   two = run({{"STAND_IN_DEVICES", "2"}}, {"--device", "1,2"});
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(has(none.err, "no GPU that the driver can use")) << error_in(none);
  EXPECT_EQ(two.code, 2);
  EXPECT_TRUE(has(two.err, "device 2") && has(two.err, "0 to 1")) << error_in(two);
  EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST_F(CudaTroubles, AnUnsupportedArchitectureIsReportedWithTheSupportedOnes) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC on this device";
  const ProgramRun old = run({{"STAND_IN_CAPABILITY", "50"}}), late = run({{"STAND_IN_CAPABILITY", "990"}});
  EXPECT_EQ(old.code, 2);
  EXPECT_TRUE(has(old.err, "compute capability 5.0") && has(old.err, "an older CUDA toolkit"))
      << error_in(old);
  EXPECT_EQ(late.code, 2);
  EXPECT_TRUE(has(late.err, "compute capability 99.0") && has(late.err, "a newer CUDA toolkit"))
      << error_in(late);
}

TEST_F(CudaTroubles, ADeviceWithoutMemoryForABlockIsReported) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC on this device";
  const ProgramRun made = run({{"STAND_IN_ROOM", "100"}});
  EXPECT_EQ(made.code, 2);
  EXPECT_TRUE(has(made.err, "the GPU has no memory left")) << error_in(made);
}

// Without a device kernels do nothing and the results mean nothing, but the run ends as it should.
TEST_F(CudaTroubles, ALostDeviceEndsARunWithAMessageAtAnyPoint) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC on this device";
  int ends = 0;
  for (const int launches : {0, 1, 3, 10, 20, 30, 40, 50, 60}) {
    const ProgramRun made = run({{"STAND_IN_LOST_AFTER", std::to_string(launches)}}, {"--overwrite"});
    if (made.code == 0) break;
    ++ends;
    ASSERT_EQ(made.code, 2) << launches << " launches: " << error_in(made);
    EXPECT_TRUE(has(made.err, "the GPU failed while")) << error_in(made);
    EXPECT_FALSE(fs::exists(folder / "out" / "statistics.nc"));
  }
  EXPECT_GT(ends, 5);
}

// With a device: after a loss and a resume, on one or on two equal devices, the files are those of an
// undisturbed run.
class GpuTroubles : public CudaTroubles {
 protected:
  void SetUp() override {
    environment.set("ZWANG_CUDA_DRIVER", nullptr);
    if (const std::string why = cuda::why_no_device(); !why.empty()) GTEST_SKIP() << why;
    environment.set("ZWANG_CUDA_DRIVER", ZWANG_STAND_IN);
    environment.set("STAND_IN_REAL", "libcuda.so.1");
    const ProgramRun made = run({}, {"--out", "whole"});
    ASSERT_EQ(made.code, 0) << error_in(made);
  }
  void expect_whole(const std::string& out) const {
    for (const char* name : {"statistics.nc", "members.nc"})
      EXPECT_TRUE(read_text(folder / out / name) == read_text(folder / "whole" / name)) << out << "/" << name;
  }
};

TEST_F(GpuTroubles, SeveralDevicesGiveTheFilesOfOne) {
  for (const char* devices : {"all", "1", "2,0"}) {
    const std::string out = std::string("on ") + devices;
    const ProgramRun made = run({{"STAND_IN_DEVICES", "3"}}, {"--device", devices, "--out", out});
    ASSERT_EQ(made.code, 0) << error_in(made);
    expect_whole(out);
  }
}

TEST_F(GpuTroubles, ALostDeviceLeavesARunThatCanBeResumed) {
  int resumed = 0;
  for (int launches = 50; launches < 100'000; launches = launches * 3 / 2) {
    const std::string out = "lost after " + std::to_string(launches);
    const ProgramRun made = run({{"STAND_IN_LOST_AFTER", std::to_string(launches)}}, {"--out", out});
    if (made.code == 0) break;
    ASSERT_EQ(made.code, 2) << error_in(made);
    if (!fs::exists(folder / out / ".checkpoint")) continue;
    ++resumed;
    const ProgramRun again = run({}, {"--out", out, "--resume"});
    ASSERT_EQ(again.code, 0) << error_in(again);
    expect_whole(out);
  }
  EXPECT_GT(resumed, 0);
}

}  // namespace
}  // namespace zwang::cuda_troubles_test
