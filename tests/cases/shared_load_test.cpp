// A plate that slides and spins on four corners, whose normal forces are not unique: contacts of equal compliance share
// the load [friction-15]. Compared with an integration of the plane motion that knows nothing of constraints.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "host/backend/batch.h"
#include "host/backend/cuda/library.h"
#include "host/run/backend_factory.h"
#include "host/run/run.h"
#include "host/study_file/load_study.h"
#include "kernels/base/status.h"
#include "tests/support/ensemble_study.h"
#include "tests/support/study_runs.h"

namespace zwang::shared_load_test {
namespace {

constexpr double plate_a = 0.3, plate_b = 0.2, plate_m = 2, plate_spin_inertia = 0.11, plate_mu = 0.25,
                 plate_g = 9.81;

// The height of the centre of mass is a parameter, so that one program serves all heights.
std::string plate_study(double height, double end) {
  return "[parameters]\nh = " + std::to_string(height) +
         "\n[[body]]\nname = \"p\"\nmass = 2\ninertia = [0.05, 0.07, 0.11]\nposition = [0, 0, \"h\"]\n"
         "velocity = [1.2, 0.5, 0]\nangular_velocity = [0, 0, 4]\n"
         "points = { a = [0.3, 0.2, \"-h\"], b = [-0.3, 0.2, \"-h\"], c = [-0.3, -0.2, \"-h\"], "
         "d = [0.3, -0.2, \"-h\"] }\nshape = { corners = [\"a\", \"b\", \"c\", \"d\"] }\n"
         "[[surface]]\nname = \"floor\"\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\n"
         "[[contact]]\nname = \"foot\"\nbetween = [\"p\", \"floor\"]\nfriction = 0.25\n"
         "[system]\ngravity = [0, 0, -9.81]\n[time]\nend = " +
         std::to_string(end) +
         "\n[measure]\nx = \"final(p.x)\"\ny = \"final(p.y)\"\nvx = \"final(p.x')\"\nvy = \"final(p.y')\"\n"
         "w = \"final(p.wz)\"\nload_a = \"final(reaction(foot.a))\"\nrest = \"first(sticks(foot.a))\"\n"
         "rest_c = \"first(sticks(foot.c))\"\n";
}

// x, y, angle, x', y', spin
using Plane = Eigen::Matrix<double, 6, 1>;

// The four normal forces carry the weight, balance the moment of the friction below the centre of mass, and are a
// linear function of the place of the corner, as those of equal springs below a rigid plate.
Plane plane_rate(const Plane& at, double height, Eigen::Vector4d& load) {
  const std::array<std::array<double, 2>, 4> corners = {
      {{plate_a, plate_b}, {-plate_a, plate_b}, {-plate_a, -plate_b}, {plate_a, -plate_b}}};
  Eigen::Matrix<double, 4, 2> place, direction;
  for (int i = 0; i < 4; ++i) {
    const double c = std::cos(at(2)), s = std::sin(at(2)), x = corners[i][0], y = corners[i][1];
    place.row(i) << c * x - s * y, s * x + c * y;
    const Eigen::RowVector2d slip(at(3) - at(5) * place(i, 1), at(4) + at(5) * place(i, 0));
    direction.row(i) = slip.normalized();
  }
  Eigen::Matrix4d balance;
  for (int i = 0; i < 4; ++i)
    balance.col(i) << 1, place(i, 0) - height * plate_mu * direction(i, 0),
        place(i, 1) - height * plate_mu * direction(i, 1), i % 2 == 0 ? 1 : -1;
  load = balance.fullPivLu().solve(Eigen::Vector4d(plate_m * plate_g, 0, 0, 0));
  Plane rate;
  rate.head(3) = at.tail(3);
  rate.tail(3).setZero();
  for (int i = 0; i < 4; ++i) {
    const Eigen::RowVector2d force = -plate_mu * load(i) * direction.row(i);
    rate(3) += force(0) / plate_m;
    rate(4) += force(1) / plate_m;
    rate(5) += (place(i, 0) * force(1) - place(i, 1) * force(0)) / plate_spin_inertia;
  }
  return rate;
}

Plane integrated_plane(double height, double end, Eigen::Vector4d& load) {
  Plane at;
  at << 0, 0, 0, 1.2, 0.5, 4;
  const int steps = 20'000;
  const double h = end / steps;
  for (int k = 0; k < steps; ++k) {
    const Plane a = plane_rate(at, height, load), b = plane_rate(at + h / 2 * a, height, load),
                c = plane_rate(at + h / 2 * b, height, load), d = plane_rate(at + h * c, height, load);
    at += h / 6 * (a + 2 * b + 2 * c + d);
  }
  plane_rate(at, height, load);
  return at;
}

class SharedLoad : public testing::TestWithParam<std::string> {
  void SetUp() override {
    if (GetParam() != "cuda") return;
    if (const std::string why = cuda::why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }

 protected:
  std::vector<double> measures(const Study& study) const {
    const auto made = make_backend(GetParam(), study, {.threads = 1});
    const BatchResults results = made->run(prepare_batch(study, std::vector<unsigned long long>{0}, 1), {});
    EXPECT_EQ(status_name(results.status[0]), std::string("ok"));
    return {results.measures.begin(), results.measures.end()};
  }
};

TEST_P(SharedLoad, OfASlidingAndSpinningPlateIsThatOfEqualSprings) {
  for (const double height : {0.05, 0.3}) {
    SCOPED_TRACE(height);
    const double end = 0.3;
    Eigen::Vector4d load;
    const Plane expected = integrated_plane(height, end, load);
    const std::vector<double> found = measures(written(plate_study(height, end)));
    const double values[] = {expected(0), expected(1), expected(3), expected(4), expected(5), load(0)};
    for (int k = 0; k < 6; ++k) EXPECT_NEAR(found[static_cast<std::size_t>(k)], values[k], 1e-8) << k;
  }
}

// Sliding and spinning end at the same instant, and the plate stays where it is.
TEST_P(SharedLoad, SlidingAndSpinningEndTogether) {
  const std::vector<double> early = measures(written(plate_study(0.05, 1))),
                            late = measures(written(plate_study(0.05, 3)));
  EXPECT_GT(early[6], 0.3);
  EXPECT_LT(early[6], 1);
  EXPECT_EQ(early[6], early[7]);
  for (const std::size_t k : {0, 1}) EXPECT_NEAR(early[k], late[k], 1e-13);
  for (const std::size_t k : {2, 3, 4}) EXPECT_NEAR(late[k], 0, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Reference, SharedLoad, testing::Values("reference"),
                         [](const auto&) { return std::string("reference"); });
INSTANTIATE_TEST_SUITE_P(Cpu, SharedLoad, testing::Values("cpu"),
                         [](const auto&) { return std::string("cpu"); });
INSTANTIATE_TEST_SUITE_P(Gpu, SharedLoad, testing::Values("cuda"),
                         [](const auto&) { return std::string("cuda"); });

}  // namespace
}  // namespace zwang::shared_load_test
