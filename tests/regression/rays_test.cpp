// Points in straight flight among disks: the first hit of each is the first intersection of a ray with a
// circle. Steps end anywhere between two disks, and a disk may be hit between any two samples of a lane.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "host/backend/backend_cpu.h"
#include "host/backend/batch.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"
#include "kernels/rootfinding/first_root.h"

namespace zwang::rays_test {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
const double height = std::sqrt(3.0);  // of the cell

struct Ray {
  double x, y, vx, vy;
};

struct Hit {
  double t = infinite;
  bool plain = true;  // false: a disk is grazed so closely that rounding decides
};

// Disks of radius 0.45 at the corners and the centres of cells of width 1.
Hit first_hit(const Ray& ray) {
  constexpr double radius = 0.45, grazing = 1e-7;
  constexpr int cells = 4;
  Hit made;
  const auto meet = [&](double x, double y) {
    const double along = (ray.x - x) * ray.vx + (ray.y - y) * ray.vy;
    const double off = std::hypot(ray.x - x, ray.y - y);
    const double root = along * along - (off * off - radius * radius);
    if (along > 0 || root < -grazing) return;
    if (root < grazing) made.plain = false;
    if (root > 0) made.t = std::min(made.t, -along - std::sqrt(root));
  };
  for (int i = -cells; i <= cells; ++i)
    for (int j = -cells; j <= cells; ++j) {
      meet(i, j * height);
      meet(i + 0.5, (j + 0.5) * height);
    }
  return made;
}

TEST(Rays, MeetTheFirstDiskOnTheirWay) {
  const Study study = load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/lorentz_gas.toml",
                                 {"time.end=1.2", "time.samples=2", "measure.corner=\"first(shock(corner))\"",
                                  "measure.centre=\"first(shock(centre))\""});
  std::vector<unsigned long long> numbers(100'000);
  std::iota(numbers.begin(), numbers.end(), 0ULL);
  const Batch batch = prepare_batch(study, numbers, 2);
  BackendCpu backend(study, *HostCompiler::find(), 2, LaneChoice::best);
  const BatchResults results = backend.run(batch, {});
  const std::size_t measures = study.system->measures.size();
  std::size_t compared = 0;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const double* start = &batch.starts[4 * k];
    const Hit hit = first_hit({start[0], start[1], start[2], start[3]});
    if (!hit.plain) continue;
    ++compared;
    // The two measures come last.
    const double* last = &results.measures[(k + 1) * measures - 2];
    EXPECT_NEAR(std::fmin(last[0], last[1]), hit.t, 1e-6) << "member " << k;
  }
  EXPECT_GT(compared, numbers.size() * 9 / 10);
}

// In floats a value is often exactly zero, which does not count as above zero.
TEST(Rays, ARiseBeginsBelowZeroAndEndsAboveIt) {
  const auto curve = [](float x) {
    const float value = x - 1e-7F;
    return std::abs(value) < 2e-5F && value > 0 ? 0.0F : value;
  };
  float samples[sample_count];
  for (int s = 0; s < sample_count; ++s) samples[s] = curve(float(sample_fraction(s)));
  const Bracket<float> rise = first_rise(
      samples, 1e-7F, [](int) { return 1.0F; }, curve);
  ASSERT_TRUE(rise.found);
  EXPECT_LE(curve(rise.below), 0);
  EXPECT_GT(curve(rise.above), 0);
  EXPECT_LT(rise.above, 1e-4F);
}

}  // namespace
}  // namespace zwang::rays_test
