// The audit decides on the backends too: a program with a wrong formula ends its members as `inaccurate`, and
// sound members stay within the bound, in every study, at every tolerance.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "host/backend/backend_cpu.h"
#include "host/backend/batch.h"
#include "host/inspect/replay_backend.h"
#include "host/sample/member.h"
#include "host/study_file/load_study.h"
#include "kernels/base/status.h"
#include "src/reference/trajectory.h"

namespace zwang::audit_test {
namespace {

std::string path_of(const std::string& config) {
  return std::string(ZWANG_SOURCE_DIR) + "/configs/" + config + ".toml";
}

// A formula of the kernels, and something wrong in its place.
struct AuditFault {
  std::string name;  // of the test
  std::string file, formula, mistaken;
  double Audit::*share;  // of the law that shows it
  std::string cause;     // how its words begin
};

void PrintTo(const AuditFault& fault, std::ostream* out) { *out << fault.name; }

const AuditFault audit_faults[] = {
    // A force along the velocity that does no work by the equations.
    {"Acceleration", "kernels/dynamics/smooth_motion.h",
     "Model::motion(k, t, y, M::v_of(y), M::z_of(y), w, held, rate, lambda);",
     "Model::motion(k, t, y, M::v_of(y), M::z_of(y), w, held, rate, lambda);\n"
     "    for (int i = 0; i < M::n; ++i) rate[M::n + i] = rate[M::n + i] + R(1e-5) * y[M::n + i];",
     &Audit::energy_share, "the energy law is off by "},
    // Without any projection the rod would be off by a few tolerances, which they explain.
    {"Projection", "kernels/dynamics/smooth_motion.h", "x[i] = x[i] + move[i];",
     "x[i] = x[i] + move[i] + R(1e-5);", &Audit::condition_share, "a constraint is violated by "},
    {"NoDetection", "kernels/lanes/step_end.h", "detector.detect_conditions(middle);",
     "ZWANG_REGISTERS for (int i = 0; i < r; ++i) { flags.may_cross[i] = flags.first_if_at_end[i] = "
     "no_lanes<R>(); }",
     &Audit::condition_share, "a constraint is violated by "},
    // The ball rebounds with more energy than it had.
    {"Rebound", "kernels/lanes/event_point.h", "e = of_sought(restitution);",
     "e = Real(1.001) * of_sought(restitution);", &Audit::shock_share, "a shock violates its laws by "},
};

// A pendulum on a rod that is struck, and a ball that bounces, or falls through the floor if no contact is
// detected.
const char* const struck_pendulum = R"toml(
title = "A pendulum that is struck, and a ball above a floor"
[[point]]
name = "bob"
mass = 1
position = [1, 0]
[[point]]
name = "ball"
mass = 1
position = [5, 1]
[system]
gravity = [0, -9.81]
[[anchor]]
name = "nail"
position = [0, 0]
[[constraint]]
name = "rod"
require = "distance(bob, nail) == 1"
[[constraint]]
name = "floor"
require = "ball.y >= 0"
restitution = 1
[[impulse]]
on = "bob"
at = 0.3
velocity = [1, 1]
[time]
end = 2
samples = 3
[integrator]
method = "dop853"
[ensemble]
members = 1
)toml";

class PlantedFault : public testing::TestWithParam<AuditFault> {};

TEST_P(PlantedFault, EndsTheMemberAsInaccurateWithItsCause) {
  const AuditFault& fault = GetParam();
  const Study study = read_study(struck_pendulum, "struck_pendulum.toml");
  KernelProgram program = cpu_program(study, LaneChoice::best);
  const PreparedMember member = prepare_member(study, 0);
  const auto replayed = [&](const KernelProgram& text) {
    BackendCpu backend(study, text, *HostCompiler::find(), 1);
    return replay_by_backend(study, member, backend);
  };
  const Trajectory sound = replayed(program);
  EXPECT_EQ(sound.status, Status::ok) << sound.cause;
  EXPECT_LT(sound.audit.*fault.share, 0.2);

  std::string& text = program.text.sources.at(fault.file);
  const std::size_t place = text.find(fault.formula);
  ASSERT_NE(place, std::string::npos) << "the formula is no longer in " << fault.file;
  text.replace(place, fault.formula.size(), fault.mistaken);
  const Trajectory wrong = replayed(program);
  EXPECT_EQ(wrong.status, Status::inaccurate);
  EXPECT_GT(wrong.audit.*fault.share, 1);
  EXPECT_NE(wrong.cause.find(fault.cause), std::string::npos) << wrong.cause;
  EXPECT_EQ(wrong.last.state.t, 2);  // its numbers are kept
}

INSTANTIATE_TEST_SUITE_P(Formulas, PlantedFault, testing::ValuesIn(audit_faults),
                         [](const auto& fault) { return fault.param.name; });

std::vector<std::string> every_config() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(ZWANG_SOURCE_DIR) + "/configs"))
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

// Sound members stay well within the bound whatever the tolerance. Members of chaotic or ill-conditioned
// studies may end for other reasons at coarse tolerances; none may be inaccurate.
class SoundMembers : public testing::TestWithParam<std::string> {};

TEST_P(SoundMembers, StayWithinTheBoundAtEveryTolerance) {
  // The largest share measured in sound members is 0.02 (docs/numerics.md).
  constexpr double well_within = 0.2;
  for (const char* rtol : {"1e-4", "1e-6", "1e-8", "1e-10", "1e-12"}) {
    std::vector<std::string> overrides = {std::string("integrator.rtol=") + rtol,
                                          std::string("integrator.atol=") + rtol};
    // With a sweep the points determine the number of members.
    if (load_study(path_of(GetParam())).sweeps.empty()) overrides.emplace_back("ensemble.members=16");
    const Study study = load_study(path_of(GetParam()), overrides);
    BackendCpu backend(study, *HostCompiler::find(), 2, LaneChoice::best);
    std::vector<unsigned long long> members(
        std::min<std::size_t>(16, static_cast<std::size_t>(study.ensemble.members)));
    for (std::size_t k = 0; k < members.size(); ++k) members[k] = k;
    const BatchResults results = backend.run(prepare_batch(study, members, 2), {});
    for (std::size_t k = 0; k < members.size(); ++k) {
      EXPECT_NE(results.status[k], Status::inaccurate) << rtol << " member " << k;
      const Audit& audit = results.audits[k];
      EXPECT_LT(std::max({audit.energy_share, audit.condition_share, audit.shock_share}), well_within)
          << rtol << " member " << k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Configs, SoundMembers, testing::ValuesIn(every_config()),
                         [](const auto& config) { return config.param; });

}  // namespace
}  // namespace zwang::audit_test
