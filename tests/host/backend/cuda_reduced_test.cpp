// Statistics computed on a GPU give the bits of those computed on the host from the same members. Skipped
// without a device.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>

#include "host/backend/cuda/backend_cuda.h"
#include "host/backend/cuda/compiler.h"
#include "host/backend/device_sampling.h"
#include "host/platform/machine_error.h"
#include "host/platform/private_files.h"
#include "host/run/run.h"
#include "host/study_file/load_study.h"
#include "tests/support/awkward_members.h"
#include "tests/support/reduce_on_host.h"
#include "tests/support/run_fixture.h"
#include "tests/support/statistics_fixture.h"

namespace zwang::cuda_reduced_test {
namespace {

// --- Without a GPU -----------------------------------------------------------------------------------------

TEST(CudaReductions, CompileForEveryKindOfDevice) {
  const cuda::Nvrtc* nvrtc = nullptr;
  try {
    nvrtc = &cuda::Nvrtc::get();
  } catch (const MachineError& error) {
    GTEST_SKIP() << error.problem().message;
  }
  ASSERT_NE(nvrtc, nullptr);
  const TemporaryFolder folder;
  for (const int architecture : {80, 90, 120}) {
    const auto target = folder.path() / fmt::format("sm_{}", architecture);
    CudaCompiler(architecture).compile(reduction_program(), target);
    EXPECT_GT(std::filesystem::file_size(target), 1000U);
  }
}

// --- With a GPU --------------------------------------------------------------------------------------------

class GpuReductions : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why = cuda::why_no_device();
    if (!why.empty()) GTEST_SKIP() << why;
  }
};

RunResult run_on_gpu(const Study& study, bool statistics_on_device, RunOptions options = {},
                     std::size_t at_once = 0) {
  BackendCuda backend(study, {0});
  backend.statistics_on_device = statistics_on_device;
  backend.members_at_once = at_once;
  return run_ensemble(study, backend, std::move(options));
}

void expect_same(const RunResult& found, const RunResult& expected) {
  const auto a = bits_of(found.statistics), b = bits_of(expected.statistics);
  ASSERT_EQ(a.size(), b.size());
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double x = std::bit_cast<double>(a[k]), y = std::bit_cast<double>(b[k]);
    if ((std::isnan(x) && std::isnan(y)) || a[k] == b[k]) continue;
    if (++wrong <= 5)
      ADD_FAILURE() << "number " << k << " of " << a.size() << ": " << x << ", expected " << y;
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(found.tally.entered, expected.tally.entered);
  EXPECT_EQ(found.tally.status, expected.tally.status);
  EXPECT_EQ(found.tally.examples, expected.tally.examples);
  EXPECT_EQ(found.tally.events, expected.tally.events);
  EXPECT_EQ(found.tally.steps, expected.tally.steps);
  EXPECT_EQ(found.tally.rejected, expected.tally.rejected);
  EXPECT_EQ(found.tally.redundant, expected.tally.redundant);
  EXPECT_EQ(found.tally.worst.energy_drift, expected.tally.worst.energy_drift);
  EXPECT_EQ(found.tally.worst.kkt, expected.tally.worst.kkt);
}

Study config(const std::string& name, const std::vector<std::string>& overrides) {
  return load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/" + name + ".toml", overrides);
}

TEST_F(GpuReductions, GiveTheHostsBitsWithExactQuantiles) {
  const Study study = config("impact_oscillator", {"ensemble.members=20100", "time.samples=21"});
  expect_same(run_on_gpu(study, true), run_on_gpu(study, false));
}

TEST_F(GpuReductions, GiveTheHostsBitsWithBuckets) {
  const Study study = config("impact_oscillator", {"ensemble.members=50100", "time.samples=51"});
  const RunOptions options{.statistics_memory = std::size_t{8} << 20};
  expect_same(run_on_gpu(study, true, options), run_on_gpu(study, false, options));
}

TEST_F(GpuReductions, GiveTheHostsBitsForSobolsReplicates) {
  const Study study = config("slung_load", {"ensemble.members=20000", "ensemble.sampler=\"sobol\""});
  expect_same(run_on_gpu(study, true), run_on_gpu(study, false));
}

TEST_F(GpuReductions, GiveTheHostsBitsWithMembersThatFailOrAreNominal) {
  const Study study =
      read_study(troubles, "written.toml", {"ensemble.members=5000", "ensemble.include_nominal=true"});
  expect_same(run_on_gpu(study, true), run_on_gpu(study, false));
}

TEST_F(GpuReductions, DoNotDependOnPiecesOrBatches) {
  const Study study = config("impact_oscillator", {"ensemble.members=20100", "time.samples=21"});
  const RunOptions options{.statistics_memory = std::size_t{1} << 20};
  const RunResult expected = run_on_gpu(study, true, options);
  RunOptions small = options;
  small.batch = 3000;
  expect_same(run_on_gpu(study, true, small), expected);
  expect_same(run_on_gpu(study, true, options, 2048), expected);
}

// --- The reductions alone ----------------------------------------------------------------------------------

// A reduction device on the first GPU, and tables copied to it.
class GpuReductionDevice : public GpuReductions {
 protected:
  void SetUp() override {
    GpuReductions::SetUp();
    if (IsSkipped()) return;
    worker_.emplace(0);
    const TemporaryFolder folder;
    CudaCompiler(worker_->architecture()).compile(reduction_program(), folder.path() / "reduce");
    device_.emplace(worker_->context(), worker_->stream(), worker_->processors(),
                    read_whole(folder.path() / "reduce").value_or(""));
  }
  void TearDown() override {
    for (const auto room : rooms_) device_->release(room);
  }

  template <class T>
  void send(T*& to, const std::vector<std::remove_const_t<T>>& values) {
    rooms_.push_back(device_->allocate(values.size() * sizeof(T)).value());
    device_->copy_in(rooms_.back(), values.data(), values.size() * sizeof(T));
    to = reinterpret_cast<T*>(rooms_.back());
  }
  KernelBatch send(const AwkwardMembers& given) {
    KernelBatch there{};
    send(there.parameters, given.parameters);
    send(there.status, given.status);
    send(there.measures, given.measures);
    send(there.observables, given.observables);
    send(there.steps, given.steps);
    send(there.event_counts, given.event_counts);
    send(there.audits, given.audits);
    send(there.redundant, given.redundant);
    return there;
  }

  std::optional<CudaWorker> worker_;
  std::optional<CudaReductionDevice> device_;
  std::vector<ReductionDevice::Address> rooms_;
};

TEST_F(GpuReductionDevice, ReducesAwkwardValuesToTheHostsBits) {
  AwkwardMembers given(10'100, 27, 3);
  const KernelBatch there = send(given);
  for (const std::size_t memory : {std::size_t{512} << 20, std::size_t{20'000}})
    for (const int replicates : {0, 16}) {
      StatisticsPlan plan = plan_of(given, 9, memory);
      plan.replicates = replicates;
      plan.replicate_of = [](long long member) { return static_cast<int>(member % 16); };
      Statistics found =
          by_blocks(*device_, given, plan, {.cuts = {512, 3072, 8960, 10'100}, .there = there});
      Statistics expected = by_rows(given, plan, false);
      expect_same(found, expected, fmt::format("{} bytes, {} replicates", memory, replicates));
    }
}

TEST_F(GpuReductionDevice, DrawsTheHostsBits) {
  const Study study = read_study(R"toml(
[parameters]
a = { uniform = [-1, 1] }
b = { triangular = [-1, 0.25, 3] }
c = { choice = [1, 5, 2.5] }
d = { normal = { mean = 3, std = 0.2 } }
e = "sqrt(abs(b))/c - a^2 + min(a, d) - sign(b)*floor(3*a) + wrap(7*a, 0.3)"
[[point]]
name = "ball"
mass = 1
position = [0.5]
velocity = ["e"]
[ensemble]
members = 1000
[time]
end = 1
)toml",
                                 "written.toml");
  const Sampler sampler(study);
  const std::optional<DrawPlan> plan = draw_plan(study, sampler);
  ASSERT_TRUE(plan);
  constexpr std::size_t count = 100'000;
  const auto draw = [&](ReductionDevice& device, KernelBatch there) {
    there.count = count;
    EXPECT_TRUE(draw_on_device(device, *plan, there, 12'345));
  };
  std::vector<double> parameters(5 * count), starts(2 * count), found_parameters(5 * count),
      found_starts(2 * count);
  std::vector<int> prepared(count);
  KernelBatch there{}, here{};
  send(there.parameters, parameters);
  send(there.starts, starts);
  send(there.prepared, prepared);
  here.parameters = parameters.data();
  here.starts = starts.data();
  here.prepared = prepared.data();
  HostMachine host;
  draw(host, here);
  draw(*device_, there);
  device_->copy_out(found_parameters.data(), rooms_[0], found_parameters.size() * sizeof(double));
  device_->copy_out(found_starts.data(), rooms_[1], found_starts.size() * sizeof(double));
  EXPECT_EQ(found_parameters, parameters);
  EXPECT_EQ(found_starts, starts);
}

// --- Speed -------------------------------------------------------------------------------------------------

// Prints the times; must be faster than copying members to the host.
TEST_F(GpuReductions, AreFasterThanCopyingMembersToTheHost) {
  const Study study =
      config("impact_oscillator", {"ensemble.members=1048576", "time.samples=101", "time.end=20"});
  const auto timed = [&](bool there) {
    BackendCuda backend(study, {0});
    backend.statistics_on_device = there;
    const auto begun = std::chrono::steady_clock::now();
    const RunResult result = run_ensemble(study, backend, {});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    const RunPerformance& p = result.performance;
    fmt::print(
        "statistics {}: {:.3f} s; drawing {:.3f}, integrating {:.3f}, statistics {:.3f}, compiling {:.3f}\n",
        there ? "on the GPU" : "on the host", seconds, p.sample_s, p.integrate_s, p.statistics_s,
        p.compile_s);
    return seconds;
  };
  timed(true);  // warms caches up
  const double there = timed(true), here = timed(false);
  EXPECT_LT(there, here);
}

}  // namespace
}  // namespace zwang::cuda_reduced_test
