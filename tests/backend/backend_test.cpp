// One test source for all backends: each study in batches of several sizes, compared with the reference.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <numeric>

#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/backend/batch.h"
#include "host/check/check.h"
#include "host/run/backend_factory.h"
#include "host/study_file/load_study.h"

namespace zwang::backend_test {
namespace {

struct Subject {
  std::string backend, config;
};

void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.backend << " " << subject.config; }

std::vector<Subject> subjects(const std::vector<std::string>& backends) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(ZWANG_SOURCE_DIR) + "/configs"))
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  std::vector<Subject> list;
  for (const std::string& backend : backends)
    for (const std::string& name : names) list.push_back({backend, name});
  return list;
}

Study study_of(const Subject& subject) {
  return load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/" + subject.config + ".toml");
}

// `count` members from `first` on, also beyond the end of the ensemble.
Batch members(const Study& study, unsigned long long first, std::size_t count) {
  std::vector<unsigned long long> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return prepare_batch(study, numbers, 2);
}

// The same bits: NaN equals NaN, 0 differs from -0.
template <class T>
void expect_same_bits(const std::vector<T>& part, const std::vector<T>& whole, std::size_t first,
                      std::size_t count, const char* what) {
  ASSERT_EQ(part.size() % count, 0u) << what;
  const std::size_t width = part.size() / count;
  EXPECT_EQ(std::memcmp(part.data(), whole.data() + first * width, part.size() * sizeof(T)), 0) << what;
}

void expect_same(const BatchResults& part, const BatchResults& whole, std::size_t first, std::size_t count) {
  expect_same_bits(part.status, whole.status, first, count, "status");
  expect_same_bits(part.end_time, whole.end_time, first, count, "end_time");
  expect_same_bits(part.end_state, whole.end_state, first, count, "end_state");
  expect_same_bits(part.measures, whole.measures, first, count, "measures");
  expect_same_bits(part.observables, whole.observables, first, count, "observables");
  expect_same_bits(part.records, whole.records, first, count, "records");
  expect_same_bits(part.steps, whole.steps, first, count, "steps");
  expect_same_bits(part.event_counts, whole.event_counts, first, count, "event_counts");
}

class EveryBackend : public testing::TestWithParam<Subject> {
  void SetUp() override {
    if (GetParam().backend != "cuda") return;
    if (const std::string why = cuda::why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

TEST_P(EveryBackend, GivesTheSameBitsInBatchesOfAnySizeOnAnyNumberOfThreads) {
  const Study study = study_of(GetParam());
  // The reference is slow and has no lanes: three members are enough.
  const bool slow = GetParam().backend == "reference";
  const std::size_t all = slow ? 3 : 1000;
  const auto together = make_backend(GetParam().backend, study, {.threads = 2});
  const BatchResults whole = together->run(members(study, 0, all), {});
  const auto alone = make_backend(GetParam().backend, study, {.threads = 1});
  struct Part {
    std::size_t first, count;
  };
  const std::vector<Part> parts =
      slow ? std::vector<Part>{{0, 1}, {1, 2}} : std::vector<Part>{{0, 1}, {517, 1}, {0, 31}, {300, 33}};
  for (const Part& part : parts) {
    SCOPED_TRACE(testing::Message() << part.count << " members from " << part.first);
    expect_same(alone->run(members(study, part.first, part.count), {}), whole, part.first, part.count);
  }
}

TEST_P(EveryBackend, AgreesWithTheReference) {
  const Study study = study_of(GetParam());
  if (GetParam().backend == "reference")
    GTEST_SKIP() << "tests/host/check/check_test.cpp has the reference on itself";
  const auto backend = make_backend(GetParam().backend, study, {.threads = 2});
  if (GetParam().config.starts_with("cone_apex")) {
    // From a singular start there is no motion to compare: every member stops at once.
    const BatchResults results = backend->run(members(study, 0, 3), {});
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(results.status[k], Status::singular);
      EXPECT_EQ(results.end_time[k], 0);
    }
    return;
  }
  const CheckReport report = check(study, *backend, {.sample = 3, .threads = 2});
  EXPECT_EQ(report.verdict(), CheckVerdict::pass) << report.verdict_text();
}

std::string subject_name(const testing::TestParamInfo<Subject>& subject) {
  return subject.param.backend + "_" + subject.param.config;
}
INSTANTIATE_TEST_SUITE_P(Configs, EveryBackend, testing::ValuesIn(subjects({"reference", "cpu"})),
                         subject_name);
// Tests with Gpu in their names get the label `gpu`.
INSTANTIATE_TEST_SUITE_P(Gpu, EveryBackend, testing::ValuesIn(subjects({"cuda"})), subject_name);

TEST(CpuBackend, OneByOneIsAsRightAsInPacks) {
  const Study study = study_of({"cpu", "slung_load"});
  BackendCpu single(study, *HostCompiler::find(), 2, LaneChoice::single);
  EXPECT_EQ(single.lanes(), 1);
  EXPECT_EQ(check(study, single, {.sample = 4, .threads = 2}).verdict(), CheckVerdict::pass);
}

// The other methods; "auto" is dop853 at this config's tolerances.
TEST(CpuBackend, EveryMethodAgreesWithTheReference) {
  for (const char* method :
       {"integrator.method=\"tsit5\"", "integrator.method=\"dop853\"", "integrator.method=\"taylor\""}) {
    const Study study = load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/slung_load.toml", {method});
    BackendCpu backend(study, *HostCompiler::find(), 2);
    EXPECT_EQ(check(study, backend, {.sample = 4, .threads = 2}).verdict(), CheckVerdict::pass) << method;
  }
}

// Multipliers of redundant constraints have the least norm, in integrals too: equal slings share the load.
TEST(CpuBackend, SharesTheLoadOfRedundantStringsAlsoInIntegrals) {
  const Study study = read_study(R"toml(
title = "A load on two equal slings under a hook that moves"
[parameters]
v = { uniform = [0.5, 4.5] }
[[anchor]]
name = "hook"
position = ["0.1*sin(4*t)", 0]
[[point]]
name = "load"
mass = 2
position = [0, -1]
velocity = ["v", 0]
[system]
gravity = [0, -9.81]
[[constraint]]
name = "a"
require = "distance(load, hook) <= 1"
[[constraint]]
name = "b"
require = "distance(load, hook) <= 1"
[ensemble]
members = 16
[time]
end = 2
samples = 11
[measure]
pull = "integral(multiplier(a))"
size = "integral(abs(multiplier(b)))"
)toml",
                                 "slings.toml");
  BackendCpu backend(study, *HostCompiler::find(), 2);
  const CheckReport report = check(study, backend, {.sample = 4, .threads = 2});
  EXPECT_EQ(report.verdict(), CheckVerdict::pass) << report.verdict_text();
}

// The projection onto the length of the rod moves an end that has just hit the table slightly below it.
TEST(CpuBackend, ARodThatFallsOnATableLosesNoEvent) {
  const Study study = read_study(R"toml(
title = "Two points on a rod above a table"
[parameters]
vx = { normal = { mean = 1, std = 0.2 } }
vy = { normal = { mean = 0, std = 0.3 } }
vz = { exponential = { mean = 0.5 } }
m = { lognormal = { mean = 0, std = 0.1 } }
[[point]]
name = "p"
mass = 1
position = [0, 0, 0.2]
velocity = ["vx", "vy", 0]
[[point]]
name = "q"
mass = "m"
position = [0.3, 0, 0.2]
velocity = [0, 0, "vz"]
[system]
gravity = [0, 0, -9.81]
[[constraint]]
name = "rod"
require = "distance(p, q) == 0.3"
[[constraint]]
name = "left"
require = "p.z >= 0"
[[constraint]]
name = "right"
require = "q.z >= 0"
restitution = 0.3
[ensemble]
consistency = "project"
members = 20000
[time]
at = [0.1, 0.5, 1]
)toml",
                                 "rod.toml");
  BackendCpu backend(study, *HostCompiler::find(), 2);
  const BatchResults results = backend.run(members(study, 0, 20000), {});
  EXPECT_EQ(std::count(results.status.begin(), results.status.end(), Status::ok), 20000);
  EXPECT_EQ(check(study, backend, {.sample = 8, .threads = 2}).verdict(), CheckVerdict::pass);
}

TEST(CpuBackend, TakesFixedStepsWithRk4) {
  const Study study = load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/string_pendulum.toml",
                                 {"integrator.method=\"rk4\"", "integrator.step=1e-2"});
  BackendCpu backend(study, *HostCompiler::find(), 1);
  EXPECT_EQ(backend.method(), "rk4");
  BackendReference reference(study, 1);
  const BatchResults fast = backend.run(members(study, 0, 1), {}),
                     slow = reference.run(members(study, 0, 1), {});
  // The steps are the same; the methods for events and outputs inside a step differ.
  constexpr double same_steps = 1e-7;
  ASSERT_EQ(fast.end_state.size(), slow.end_state.size());
  for (std::size_t i = 0; i < fast.end_state.size(); ++i)
    EXPECT_NEAR(fast.end_state[i], slow.end_state[i], same_steps);
}

TEST(CpuBackend, WithoutACompilerTheReferenceRunsAndSaysSoLoudly) {
  const Study study = study_of({"cpu", "string_pendulum"});
  for (const char* kind : {"auto", "cpu"}) {
    std::vector<std::string> notes;
    BackendOptions options{.threads = 1, .note = [&](const std::string& text) { notes.push_back(text); }};
    options.find_compiler = [] { return std::optional<HostCompiler>(); };
    options.why_no_device = [] { return "there is none"; };
    EXPECT_EQ(make_backend(kind, study, options)->name(), "reference");
    ASSERT_EQ(notes.size(), 1u) << "once";
    EXPECT_NE(notes[0].find("WARNING"), std::string::npos);
    EXPECT_NE(notes[0].find("ZWANG_CXX"), std::string::npos);
  }
}

// The slow path of a die does not fit into the caches of a device; that of a box in the plane does.
TEST(AutoBackend, PrefersTheCpuForManyFrictionalContactsInSpace) {
  const auto prefers_cpu = [](const std::string& file) {
    return is_faster_on_cpu(*load_study(std::string(ZWANG_SOURCE_DIR) + file).system);
  };
  EXPECT_TRUE(prefers_cpu("/examples/tumbling_die.toml"));
  EXPECT_FALSE(prefers_cpu("/configs/tumbling_box.toml"));
  EXPECT_FALSE(prefers_cpu("/configs/bowling_ball.toml"));
}

}  // namespace
}  // namespace zwang::backend_test
