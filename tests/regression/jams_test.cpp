// Disks that fill the width of a box: contacts without a gap, in which shocks follow each other at one instant
// without end. No closed form is known; the laws of shocks must hold and reference and kernels must agree.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"
#include "tests/support/batch_runs.h"

namespace zwang::jams_test {
namespace {

// `count` disks of diameter 1 side by side between two walls, with random velocities.
Study jam(int count, const std::string& restitution) {
  std::string text = "title = \"Jam\"\n", contacts;
  const auto require = [&](const std::string& name, const std::string& condition) {
    contacts += "[[constraint]]\nname = \"" + name + "\"\nrequire = \"" + condition +
                "\"\nrestitution = " + restitution + "\n";
  };
  const std::string draw = "{ normal = { mean = 0, std = 1 } }";
  for (int i = 0; i < count; ++i) {
    const std::string number = std::to_string(i), name = "p" + number;
    text += "[[point]]\nname = \"" + name + "\"\nmass = " + std::to_string(1 + i % 3) + "\nposition = [" +
            number + ".5, 2]\nvelocity = [" + draw + ", " + draw + "]\n";
    for (int j = 0; j < i; ++j)
      require("pair" + std::to_string(j) + "_" + number,
              "distance(p" + std::to_string(j) + ", " + name + ") >= 1");
    require("bottom" + number, name + ".y >= 0.5");
    require("top" + number, name + ".y <= 3.5");
  }
  require("left", "p0.x >= 0.5");
  require("right", "p" + std::to_string(count - 1) + ".x <= " + std::to_string(count) + " - 0.5");
  return read_study(text + contacts +
                        "[ensemble]\nmembers = 1000\nseed = 5\n[time]\nend = 3\nsamples = 2\n"
                        "[measure]\nfastest = \"maximum(abs(p0.x'))\"\n",
                    "jam.toml", {});
}

// Of energies of a few units; what a shock may create by rounding.
constexpr double created_by_rounding = 1e-11;
// Disks in the row keep their velocities along it to the accuracy of the shock, and rebounds magnify that.
constexpr double alike = 1e-6;

void expect_lawful(const BatchResults& results, const std::string& backend) {
  for (std::size_t k = 0; k < results.status.size(); ++k) {
    EXPECT_EQ(results.status[k], Status::ok) << backend << ", member " << k;
    EXPECT_LE(results.audits[k].energy_created, created_by_rounding) << backend << ", member " << k;
    EXPECT_LE(results.audits[k].energy_drift, created_by_rounding) << backend << ", member " << k;
  }
}

void expect_agreement(int disks, const std::string& restitution, std::size_t members) {
  const Study study = jam(disks, restitution);
  BackendReference reference(study, 2);
  BackendCpu cpu(study, *HostCompiler::find(), 2, LaneChoice::best);
  const BatchResults expected = run_members(study, reference, members),
                     found = run_members(study, cpu, members);
  expect_lawful(expected, "reference");
  expect_lawful(found, "cpu");
  EXPECT_EQ(found.event_counts, expected.event_counts);
  const std::size_t size = expected.end_state.size() / members;
  for (std::size_t k = 0; k < members; ++k) {
    for (std::size_t i = 0; i < size; ++i)
      EXPECT_NEAR(found.end_state[k * size + i], expected.end_state[k * size + i], alike) << "member " << k;
  }
}

TEST(Jams, OfFiveDisksEndAtRestAlongTheRow) { expect_agreement(5, "0.5", 128); }
TEST(Jams, OfFourDisksThatHardlyLoseEnergy) { expect_agreement(4, "0.8", 128); }
TEST(Jams, OfThreeElasticDisks) { expect_agreement(3, "1", 128); }

}  // namespace
}  // namespace zwang::jams_test
