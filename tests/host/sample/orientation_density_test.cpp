// The density of drawn orientations, over the angles of small turns, against closed forms and against sampling.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "host/sample/prepared_member.h"
#include "host/sample/sampler.h"
#include "host/sample/start_density.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"

namespace zwang::orientation_density_test {
namespace {

constexpr double pi = std::numbers::pi;

// A body in space whose place and velocities are uniform on intervals of length 1, and so have the density 1.
Study body_turned_by(const std::string& parameters, const std::string& orientation) {
  const std::string unit = "{ uniform = [0, 1] }", three = "[" + unit + ", " + unit + ", " + unit + "]";
  return read_study("[parameters]\n" + parameters +
                        "\n[[body]]\nname = \"b\"\nmass = 1\ninertia = [1, 1.5, 2]\nposition = " + three +
                        "\nvelocity = " + three + "\nangular_velocity = " + three +
                        "\norientation = " + orientation + "\n[time]\nend = 1\n",
                    "written.toml");
}

std::string four_normals(const std::string& w, const std::string& x, const std::string& y,
                         const std::string& z) {
  const auto normal = [](const std::string& std) { return "{ normal = { mean = 0, std = " + std + " } }"; };
  return "[" + normal(w) + ", " + normal(x) + ", " + normal(y) + ", " + normal(z) + "]";
}

TEST(OrientationDensity, OfFourEqualNormalsIsUniformOverAllRotations) {
  const Study study = body_turned_by("", four_normals("2", "2", "2", "2"));
  StartDensity density(study);
  EXPECT_EQ(density.why_unknown(), "");
  const Sampler sampler(study);
  Sampler::Scratch scratch;
  MemberInputs inputs;
  for (unsigned long long member = 0; member < 5; ++member) {
    sampler.draw(member, 0, scratch, inputs);
    EXPECT_NEAR(density.log_at(inputs.parameters), -std::log(8 * pi * pi), 1e-12);
  }
}

// The word stands for four standard normals: the same draws, the same starts and the same density.
TEST(OrientationDensity, OfTheWordUniformIsThatOfFourNormals) {
  const Study word = body_turned_by("", "\"uniform\""),
              normals = body_turned_by("", four_normals("1", "1", "1", "1"));
  StartDensity density(word);
  EXPECT_EQ(density.why_unknown(), "");
  const Sampler one(word), other(normals);
  Sampler::Scratch scratch, other_scratch;
  MemberInputs drawn, expected;
  for (unsigned long long member = 0; member < 5; ++member) {
    one.draw(member, 0, scratch, drawn);
    other.draw(member, 0, other_scratch, expected);
    EXPECT_EQ(drawn.start.z, expected.start.z);
    EXPECT_NEAR(drawn.start.z.norm(), 1, 1e-15);
    EXPECT_NEAR(density.log_at(drawn.parameters), -std::log(8 * pi * pi), 1e-12);
  }
}

// Of Euler angles about z, x, z the measure of rotations is sin(theta) dpsi dtheta dphi.
TEST(OrientationDensity, OfEulerAnglesFollowsTheirDeterminant) {
  const Study study = body_turned_by(
      "psi = { uniform = [0, 1] }\ntheta = { uniform = [0.1, 1.1] }\nphi = { uniform = [0, 1] }",
      "[\"cos(theta/2)*cos((psi + phi)/2)\", \"sin(theta/2)*cos((psi - phi)/2)\", "
      "\"sin(theta/2)*sin((psi - phi)/2)\", \"cos(theta/2)*sin((psi + phi)/2)\"]");
  StartDensity density(study);
  EXPECT_EQ(density.why_unknown(), "");
  const Sampler sampler(study);
  Sampler::Scratch scratch;
  MemberInputs inputs;
  for (unsigned long long member = 0; member < 5; ++member) {
    sampler.draw(member, 0, scratch, inputs);
    EXPECT_NEAR(density.log_at(inputs.parameters), -std::log(std::sin(inputs.parameters[1])), 1e-12);
  }
}

// The mean of 1/p over draws from p, counted in a region, is the measure of the region: 8 pi^2 for all rotations,
// 8 pi (a - sin(a)) for those by an angle below a.
TEST(OrientationDensity, OfUnequalNormalsAgreesWithSampling) {
  const Study study = body_turned_by("", four_normals("1", "0.8", "1.3", "1.1"));
  StartDensity density(study);
  ASSERT_EQ(density.why_unknown(), "");
  const Sampler sampler(study);
  Sampler::Scratch scratch;
  MemberInputs inputs;
  constexpr double within = 1.5;
  constexpr int members = 40000;
  double all = 0, near = 0, all_squares = 0, near_squares = 0;
  for (unsigned long long member = 0; member < members; ++member) {
    sampler.draw(member, 0, scratch, inputs);
    const double weight = std::exp(-density.log_at(inputs.parameters));
    all += weight, all_squares += weight * weight;
    if (2 * std::acos(std::min(1.0, std::abs(inputs.start.z(0)))) > within) continue;
    near += weight, near_squares += weight * weight;
  }
  const auto judge = [&](double sum, double squares, double measure) {
    const double mean = sum / members, error = std::sqrt((squares / members - mean * mean) / members);
    EXPECT_LT(error, 0.02 * measure);
    EXPECT_NEAR(mean, measure, 4.5 * error);
  };
  judge(all, all_squares, 8 * pi * pi);
  judge(near, near_squares, 8 * pi * (within - std::sin(within)));
}

TEST(OrientationDensity, SaysWhyThereIsNone) {
  const auto why = [](const Study& study) { return StartDensity(study).why_unknown(); };
  const Study about_an_axis = body_turned_by("", "{ axis = [0, 0, 1], angle = { uniform = [0, 1] } }");
  EXPECT_NE(why(about_an_axis).find("three for an orientation, but depends on 10 draws"), std::string::npos)
      << why(about_an_axis);
  const Study off_centre = body_turned_by("",
                                          "[{ normal = { mean = 1, std = 1 } }, { normal = { mean = 0, std = "
                                          "1 } }, { normal = { mean = 0, std = 1 "
                                          "} }, { normal = { mean = 0, std = 1 } }]");
  EXPECT_NE(why(off_centre).find("depends on 13 draws"), std::string::npos) << why(off_centre);
}

}  // namespace
}  // namespace zwang::orientation_density_test
