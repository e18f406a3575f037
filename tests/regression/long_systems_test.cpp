// Long systems, whose models are loops along tables: chains, ropes and trees of many links, held against a
// closed form, against the laws of conservation, and against the reference.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/program/host_compiler.h"
#include "host/program/kernel_program.h"
#include "host/run/backend_factory.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"
#include "kernels/base/status.h"
#include "src/emit/emit.h"
#include "src/reference/trajectory.h"
#include "tests/support/batch_runs.h"

namespace zwang::long_systems_test {
namespace {

constexpr double long_gravity = 9.81;

struct LongKnot {
  double x, y;
  int parent;  // -1: the nail
};

struct LongSystem {
  std::vector<LongKnot> knots;
  double length;         // of each link
  const char* relation;  // "==" or "<="
};

std::string number_text(double x) { return fmt::format("{}", x); }

// Gravity differs from member to member, so that the lanes of a pack do.
Study long_study(const LongSystem& system, double end, double tolerance, const std::string& more = "") {
  std::string
      text =
          "title = \"long\"\n[parameters]\ng = { grid = [9.81, 10.3, 5] }\n[[anchor]]\nname = \"nail\"\n"
          "position = [0, 0]\n",
      links;
  const auto name = [](int i) { return i < 0 ? std::string("nail") : "p" + std::to_string(i); };
  for (std::size_t i = 0; i < system.knots.size(); ++i) {
    const LongKnot& knot = system.knots[i];
    const std::string here = name(static_cast<int>(i));
    text += "[[point]]\nname = \"" + here + "\"\nmass = 0.1\nposition = [" + number_text(knot.x) + ", " +
            number_text(knot.y) + "]\n";
    links += "[[constraint]]\nname = \"link" + std::to_string(i) + "\"\nrequire = \"distance(" + here + ", " +
             name(knot.parent) + ") " + system.relation + " " + number_text(system.length) + "\"\n";
  }
  return read_study(text + links + more +
                        "[system]\ngravity = [0, \"-g\"]\n[ensemble]\nmembers = 5\n[time]\nend = " +
                        number_text(end) + "\nsamples = 2\n[integrator]\nrtol = " + number_text(tolerance) +
                        "\natol = " + number_text(tolerance) + "\n",
                    "long.toml");
}

LongSystem chain_of(int links) {
  LongSystem made{{}, 1.0 / links, "=="};
  for (int i = 0; i < links; ++i) made.knots.push_back({(i + 1) * made.length, 0, i - 1});
  return made;
}

// Two links hang from every knot, at angles that differ from level to level.
LongSystem tree_of(int links) {
  LongSystem made{{}, 0.2, "=="};
  for (int i = 0; i < links; ++i) {
    const int parent = i == 0 ? -1 : (i - 1) / 2;
    const double angle = -1.6 + (i % 2 == 1 ? 0.6 : -0.7) * (i > 0) + 0.1 * std::log2(i + 1);
    const LongKnot from = parent < 0 ? LongKnot{0, 0, 0} : made.knots[static_cast<std::size_t>(parent)];
    made.knots.push_back({from.x + 0.2 * std::cos(angle), from.y + 0.2 * std::sin(angle), parent});
  }
  return made;
}

// Strings folded up beside the nail: they fall freely, then tauten one after the other from the top.
LongSystem rope_of(int links) {
  LongSystem made{{}, 1.0 / links, "<="};
  for (int i = 0; i < links; ++i)
    made.knots.push_back({(0.05 + 0.1 * (i % 2)) * made.length, -0.03 * i * made.length, i - 1});
  return made;
}

double distance_off(const LongSystem& system, const double* q, std::size_t i) {
  const int parent = system.knots[i].parent;
  const double x = parent < 0 ? 0 : q[2 * parent], y = parent < 0 ? 0 : q[2 * parent + 1];
  return std::hypot(q[2 * i] - x, q[2 * i + 1] - y) - system.length;
}

// T + V of a member at its end, per mass, and at its start, where it rests.
double energy_per_mass(const std::size_t knots, const double* state, double g) {
  double sum = 0;
  for (std::size_t i = 0; i < 2 * knots; ++i) sum += 0.5 * state[2 * knots + i] * state[2 * knots + i];
  for (std::size_t i = 0; i < knots; ++i) sum += g * state[2 * i + 1];
  return sum;
}

BackendCpu cpu_for(const Study& study, LaneChoice lanes = LaneChoice::best) {
  return BackendCpu(study, *HostCompiler::find(), 2, lanes);
}

void expect_conserved(const LongSystem& system, const Study& study, const BatchResults& results,
                      double tolerance) {
  const std::size_t knots = system.knots.size();
  for (std::size_t member = 0; member < 5; ++member) {
    ASSERT_EQ(results.status[member], Status::ok) << "member " << member;
    const double g = long_gravity + 0.49 * static_cast<double>(member) / 4;
    const double* end = &results.end_state[member * 4 * knots];
    double start = 0, size = 0;
    for (const LongKnot& knot : system.knots) {
      start += g * knot.y;
      size += g * (1 + std::abs(knot.y));
    }
    // A few hundred steps, each off by the tolerance.
    EXPECT_NEAR(energy_per_mass(knots, end, g), start, 300 * tolerance * size) << "member " << member;
    for (std::size_t i = 0; i < knots; ++i)
      ASSERT_NEAR(distance_off(system, end, i), 0, 1e-13) << "link " << i << " of member " << member;
  }
  EXPECT_TRUE(emit_model(*study.system).is_long);
}

// A hanging chain of n equal links l in its k-th mode: point j from below moves by A L_j(x) cos(w t), where
// L_j are Laguerre's polynomials, L_n(x) = 0 and w^2 = x g/l.
std::vector<double> laguerre(int degree, double x) {
  std::vector<double> values = {1, 1 - x};
  for (int j = 1; j < degree; ++j)
    values.push_back(((2 * j + 1 - x) * values[static_cast<std::size_t>(j)] -
                      j * values[static_cast<std::size_t>(j - 1)]) /
                     (j + 1));
  return values;
}

double laguerre_root(int degree, int which) {
  const auto value = [&](double x) { return laguerre(degree, x).back(); };
  double low = 0, step = 0.1 / degree;
  for (int found = 0;; low += step) {
    if ((value(low) > 0) == (value(low + step) > 0)) continue;
    if (++found == which) break;
  }
  double high = low + step;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    ((value(low) > 0) == (value(middle) > 0) ? low : high) = middle;
  }
  return low;
}

TEST(LongSystems, AHangingChainSwingsInItsModes) {
  constexpr int n = 40;
  constexpr double l = 1.0 / n, amplitude = 1e-6;
  for (const int mode : {1, 4}) {
    const double root = laguerre_root(n, mode), w = std::sqrt(root * long_gravity / l);
    const std::vector<double> shape = laguerre(n, root);
    LongSystem system{{}, l, "=="};
    double x = 0, y = 0;
    for (int i = 0; i < n; ++i) {
      const double next = amplitude * shape[static_cast<std::size_t>(n - 1 - i)];
      y -= std::sqrt((l - (next - x)) * (l + (next - x)));
      x = next;
      system.knots.push_back({x, y, i - 1});
    }
    const double end = 0.7 * 2 * std::acos(-1) / w;
    const Study study = long_study(system, end, 1e-14);
    BackendCpu cpu = cpu_for(study);
    const BatchResults results = run_members(study, cpu, 1);
    ASSERT_EQ(results.status[0], Status::ok);
    for (int i = 0; i < n; ++i)
      // The next term of the expansion is (A/l)^2 of the amplitude; a step is off by 1e-14.
      EXPECT_NEAR(results.end_state[static_cast<std::size_t>(2 * i)],
                  system.knots[static_cast<std::size_t>(i)].x * std::cos(w * end), 2e-6 * amplitude)
          << "mode " << mode << ", point " << i;
  }
}

TEST(LongSystems, ChainsAndTreesKeepEnergyAndLengths) {
  constexpr double tolerance = 1e-9;
  for (const LongSystem& system : {chain_of(40), chain_of(160), tree_of(63)}) {
    const Study study = long_study(system, 0.2, tolerance);
    BackendCpu cpu = cpu_for(study);
    expect_conserved(system, study, run_members(study, cpu, 5), tolerance);
  }
}

TEST(LongSystems, KeepEnergyAndLengthsOnAGpu) {
  if (const std::string why = cuda::why_no_device(); !why.empty()) GTEST_SKIP() << why;
  constexpr double tolerance = 1e-9;
  for (const LongSystem& system : {chain_of(40), tree_of(63)}) {
    const Study study = long_study(system, 0.2, tolerance);
    const std::unique_ptr<Backend> backend = make_backend("cuda", study, {});
    expect_conserved(system, study, run_members(study, *backend, 5), tolerance);
  }
}

// Event by event: which strings jerk and go slack, and where the rope ends.
TEST(LongSystems, ARopeJerksAsInTheReference) {
  const LongSystem system = rope_of(20);
  const Study study = long_study(system, 0.25, 1e-10);
  BackendReference reference(study, 2);
  const BatchResults expected = run_members(study, reference, 5);
  for (const LaneChoice lanes : {LaneChoice::single, LaneChoice::best}) {
    BackendCpu cpu = cpu_for(study, lanes);
    const BatchResults actual = run_members(study, cpu, 5);
    EXPECT_EQ(actual.status, expected.status);
    EXPECT_EQ(actual.event_counts, expected.event_counts);
    for (std::size_t i = 0; i < expected.end_state.size(); ++i)
      // Jerks amplify differences of 1e-10 at most a thousandfold in this time.
      EXPECT_NEAR(actual.end_state[i], expected.end_state[i], 1e-7) << "component " << i;
  }
}

// A member's bits depend neither on the other lanes of its pack nor on threads.
TEST(LongSystems, AMemberIsTheSameInAnyCompany) {
  for (const LongSystem& system : {chain_of(20), rope_of(20)}) {
    const Study study = long_study(system, 0.2, 1e-8);
    BackendCpu cpu = cpu_for(study);
    const BatchResults all = run_members(study, cpu, 5);
    const std::size_t size = all.end_state.size() / 5;
    for (unsigned long long member = 0; member < 5; ++member) {
      const std::vector<unsigned long long> one = {member};
      const BatchResults alone = cpu.run(prepare_batch(study, one, 1), {});
      for (std::size_t i = 0; i < size; ++i)
        ASSERT_EQ(alone.end_state[i], all.end_state[member * size + i]) << "member " << member << ", " << i;
    }
  }
}

// A closed loop's rows may become dependent: its steps are long ones, its events those of short systems.
TEST(LongSystems, AChainHungUpAtBothEndsAgreesWithTheReference) {
  LongSystem system{{}, 0.05, "=="};
  const double along = 0.04, down = std::sqrt(0.05 * 0.05 - along * along);
  for (int i = 0; i < 19; ++i)
    system.knots.push_back({(i + 1) * along, -std::min(i + 1, 19 - i) * down, i - 1});
  const Study study =
      long_study(system, 0.1, 1e-10,
                 "[[anchor]]\nname = \"far\"\nposition = [" + number_text(20 * along) +
                     ", 0]\n[[constraint]]\nname = \"last\"\nrequire = \"distance(p18, far) == 0.05\"\n");
  ASSERT_TRUE(emit_model(*study.system).is_long);
  BackendReference reference(study, 2);
  BackendCpu cpu = cpu_for(study);
  const BatchResults expected = run_members(study, reference, 2), actual = run_members(study, cpu, 2);
  EXPECT_EQ(actual.status, expected.status);
  for (std::size_t i = 0; i < expected.end_state.size(); ++i)
    EXPECT_NEAR(actual.end_state[i], expected.end_state[i], 1e-7) << "component " << i;
}

}  // namespace
}  // namespace zwang::long_systems_test
