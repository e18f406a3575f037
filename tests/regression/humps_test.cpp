// Points in straight flight over small humps of tall tall_curves: a hump of 0.001 above zero on a curve with values of
// thousands within one step. Polynomials, so that the crossings are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"
#include "tests/support/batch_runs.h"

namespace zwang::humps_test {
namespace {

constexpr double flight_time = 10, flight_start = 0.1;

// The hump is at x = b; g is the distance to what else the curve does.
struct TallCurve {
  std::string text;
  std::function<double(double x, double g)> of;  // x from b
};

const std::vector<TallCurve> tall_curves = {
    {"0.001 + (p.x - b)^2*(p.x - b - 1 - abs(g))",
     [](double x, double g) { return 0.001 + x * x * (x - 1 - std::abs(g)); }},
    {"0.001 - (p.x - b)^2*((p.x - b - g)^2 + 0.25)",
     [](double x, double g) { return 0.001 - x * x * ((x - g) * (x - g) + 0.25); }},
    {"0.001 - (p.x - b)^2*((p.x - b - g)^2 + 0.25)^2",
     [](double x, double g) { return 0.001 - x * x * std::pow((x - g) * (x - g) + 0.25, 2); }},
    {"0.001 + (p.x - b)^2*((p.x - b - g)^2 + 0.25)*(p.x - b - 40)",
     [](double x, double g) { return 0.001 + x * x * ((x - g) * (x - g) + 0.25) * (x - 40); }},
    {"0.001*(1 - 100*(p.x - b)^2) - 8000*(p.x - b)^4",
     [](double x, double) { return 0.001 * (1 - 100 * x * x) - 8000 * std::pow(x, 4); }},
};

Study over_hump(const std::string& declared, const std::string& measure,
                const std::vector<std::string>& overrides = {}) {
  return read_study(R"toml(title = "Humps"
[parameters]
vx = { uniform = [0.5, 3.0] }
b = { uniform = [2, 20] }
g = { uniform = [-3, 3] }
[[point]]
name = "p"
mass = 1
position = [0.1]
velocity = ["vx"]
)toml" + declared + R"toml([ensemble]
members = 20000
seed = 3
[time]
end = 10
samples = 2
[measure]
vx = "initial(vx)"
b = "initial(b)"
g = "initial(g)"
sought = ")toml" + measure +
                        "\"\n",
                    "humps.toml", overrides);
}

// Crossings in flight, by samples that are dense around the hump; -1 where the flight ends near one.
int crossings_of_hump(const TallCurve& curve, double vx, double b, double g) {
  const double last = flight_start + vx * flight_time - b;
  if (std::abs(last) < 0.5 || std::abs(last - 1 - std::abs(g)) < 0.5) return -1;
  int count = 0;
  bool above = curve.of(flight_start - b, g) > 0;
  const auto visit = [&](double x) {
    const bool now = curve.of(x, g) > 0;
    count += now != above;
    above = now;
  };
  for (double x = flight_start - b; x < std::min(last, -0.25); x += 0.05) visit(x);
  for (double x = -0.25; x < std::min(last, 0.25); x += 0.0005) visit(x);
  for (double x = 0.25; x < last; x += 0.05) visit(x);
  return count;
}

std::string missed(const Study& study, Backend& backend, std::size_t members, const TallCurve& curve,
                   bool first) {
  const BatchResults results = run_members(study, backend, members);
  std::size_t judged = 0, off = 0;
  for (std::size_t k = 0; k < members; ++k) {
    const double* m = &results.measures[4 * k];
    const int truth = crossings_of_hump(curve, m[0], m[1], m[2]);
    if (truth < 0) continue;
    ++judged;
    off += first ? std::isnan(m[3]) != (truth == 0) : m[3] != truth;
  }
  return off == 0 ? "" : std::to_string(off) + " of " + std::to_string(judged) + " are wrong";
}

void expect_all_seen(const std::string& declared, const std::string& measure, const TallCurve& curve,
                     bool first) {
  const Study study = over_hump(declared, measure);
  BackendReference reference(study, 2);
  EXPECT_EQ(missed(study, reference, 2000, curve, first), "") << "reference, " << curve.text;
  for (const LaneChoice lanes : {LaneChoice::single, LaneChoice::best}) {
    BackendCpu cpu(study, *HostCompiler::find(), 2, lanes);
    EXPECT_EQ(missed(study, cpu, 20000, curve, first), "") << cpu.device() << ", " << curve.text;
  }
}

TEST(Humps, AreSeenByWatchedFunctions) {
  for (const TallCurve& curve : tall_curves)
    expect_all_seen("[[event]]\nname = \"close\"\nwhen = \"" + curve.text + "\"\n", "count(event(close))",
                    curve, false);
}

TEST(Humps, AreSeenByConstraints) {
  for (const TallCurve& curve : tall_curves)
    expect_all_seen(
        "[[constraint]]\nname = \"close\"\nrequire = \"" + curve.text + " <= 0\"\nrestitution = 1\n",
        "first(contact(close))", curve, true);
}

}  // namespace
}  // namespace zwang::humps_test
