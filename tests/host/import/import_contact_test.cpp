// Contacts of imported shapes: those that studies know as shapes, and the same written as constraints.
#include <gtest/gtest.h>

#include <cmath>

#include "host/import/import_study.h"
#include "host/import/mechanism.h"
#include "host/import/solid_inertia.h"
#include "tests/support/imported.h"
#include "tests/support/study_runs.h"

namespace zwang::import_contact_test {
namespace {

const std::string given_mass = "<inertial pos=\"0 0 0\" mass=\"2\" diaginertia=\"0.2 0.21 0.05\"/>";
const std::string slope =
    R"(<geom name="slope" type="plane" size="1 1 1" euler="0 0.3 0.1" friction="0.4"/>)";

// A capsule, and the spheres at its ends, touch a plane alike; the spheres are written as constraints with their slip.
TEST(ImportedContact, OfACapsuleIsThatOfItsEnds) {
  const auto model = [&](const std::string& geoms) {
    return mjcf(slope + "<body name=\"beam\" pos=\"0 0 0.5\" euler=\"0.4 0.5 0\"><freejoint/>" + given_mass +
                    geoms + "</body>",
                "<default><geom friction=\"0.2\"/></default>");
  };
  const ImportedStudy capsule = imported(model(R"(<geom type="capsule" size="0.1 0.3"/>)")),
                      spheres = imported(model(R"(<geom type="sphere" size="0.1" pos="0 0 -0.3"/>
                                                  <geom type="sphere" size="0.1" pos="0 0 0.3"/>)"));
  EXPECT_NE(capsule.text.find("[[contact]]"), std::string::npos);
  EXPECT_EQ(spheres.text.find("[[contact]]"), std::string::npos);
  const std::vector<double> times = {0.15, 0.2, 0.25};
  const StudyRun a = imported_run(capsule, times), b = imported_run(spheres, times);
  EXPECT_GT(a.trajectory.events.size(), 0u);
  for (const double t : times)
    for (const char* name : {"beam.x", "beam.y", "beam.z", "beam.wx", "beam.wy", "beam.wz"})
      EXPECT_NEAR(a.velocity(name, t), b.velocity(name, t), 1e-8) << name << " at " << t;
}

TEST(ImportedContact, IsTheSameInThePlane) {
  const auto model = [&](const std::string& geoms) {
    return mjcf(R"(<geom name="floor" type="plane" size="1 1 1" euler="0 0.2 0" friction="0.5"/>
      <body name="beam" pos="0 0 0.6"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
      <joint name="turn" axis="0 1 0"/>)" +
                given_mass + geoms + "</body>");
  };
  const ImportedStudy capsule = imported(model(R"(<geom type="capsule" size="0.1 0.3" euler="0 1 0"/>)")),
                      spheres = imported(model(
                          R"(<geom type="sphere" size="0.1" pos="-0.252441295442369 0 -0.162090691760442"/>
                                                  <geom type="sphere" size="0.1" pos="0.252441295442369 0 0.162090691760442"/>)"));
  EXPECT_TRUE(capsule.planar && spheres.planar);
  const std::vector<double> times = {0.2, 0.4, 0.6};
  const StudyRun a = imported_run(capsule, times), b = imported_run(spheres, times);
  EXPECT_GT(a.trajectory.events.size(), 0u);
  for (const double t : times)
    for (const char* name : {"x_rate", "z_rate", "turn_rate"})
      EXPECT_NEAR(a.observable(name, t), b.observable(name, t), 1e-8) << name << " at " << t;
}

TEST(ImportedContact, OfABoxIsThatOfItsCorners) {
  const ImportedStudy made = imported(mjcf(R"(<geom type="plane" size="1 1 1" pos="0 0 0.1"/>
    <body name="box" pos="0 0 1"><freejoint/><geom type="box" size="0.1 0.2 0.3"/></body>)"));
  const StudyRun run = imported_run(made, {2});
  EXPECT_NEAR(run.position("box.z", 2), 0.4, 1e-9);
}

TEST(ImportedContact, NeedsMatchingTypes) {
  const auto contacts = [](const std::string& bits) {
    const ImportedStudy made =
        imported(mjcf("<geom type=\"plane\" size=\"1 1 1\" contype=\"2\" conaffinity=\"4\"/>"
                      "<body name=\"ball\" pos=\"0 0 1\"><freejoint/><geom size=\"0.1\" " +
                      bits + "/></body>"));
    return made.text.find("[[contact]]") != std::string::npos;
  };
  EXPECT_FALSE(contacts(""));
  EXPECT_TRUE(contacts("contype=\"4\""));
  EXPECT_TRUE(contacts("contype=\"0\" conaffinity=\"2\""));
  EXPECT_FALSE(contacts("contype=\"2\" conaffinity=\"4\""));
}

TEST(ImportedContact, HasTheLargerFrictionAndNoneWithOneDirection) {
  const auto text = [](const std::string& plane, const std::string& ball) {
    return imported(mjcf("<geom type=\"plane\" size=\"1 1 1\" " + plane +
                         "/><body name=\"ball\" pos=\"0 0 1\"><freejoint/><geom size=\"0.1\" " + ball +
                         "/></body>"))
        .text;
  };
  EXPECT_NE(text("friction=\"0.3\"", "friction=\"0.7\"").find("friction = 0.7"), std::string::npos);
  EXPECT_NE(text("condim=\"1\"", "friction=\"0.2\"").find("friction = 1"), std::string::npos);
  EXPECT_EQ(text("condim=\"1\"", "condim=\"1\"").find("friction ="), std::string::npos);
}

// Balls one above the other: spheres of different bodies touch each other too.
TEST(ImportedContact, OfTwoBallsIsWritten) {
  const ImportedStudy made = imported(mjcf(R"(<geom type="plane" size="1 1 1"/>
    <body name="low" pos="0 0 0.1"><freejoint/><geom size="0.1"/></body>
    <body name="high" pos="0 0 0.5"><freejoint/><geom size="0.1"/></body>)"));
  const StudyRun run = imported_run(made, {1});
  EXPECT_NEAR(run.position("high.z", 1), 0.3, 1e-9);
}

// A shape that starts inside a plane is left out by name; the study starts.
TEST(ImportedContact, ThatStartsInsideAPlaneIsLeftOut) {
  const ImportedStudy made = imported(mjcf(R"(<geom name="ground" type="plane" size="1 1 1"/>
    <body name="ball" pos="0 0 0.05"><freejoint/><geom size="0.1"/></body>)"));
  EXPECT_EQ(made.text.find("[[contact]]"), std::string::npos);
  ASSERT_EQ(made.left_out.size(), 1u);
  EXPECT_NE(made.left_out[0].find("starts 0.05 inside"), std::string::npos) << made.left_out[0];
}

// A cylinder rolls about its axis where everything moves in one plane, and has no contact shape in space.
TEST(ImportedContact, OfACylinderIsADiscInThePlane) {
  const std::string model = mjcf(R"(<geom type="plane" size="1 1 1"/>
    <body name="wheel" pos="0 0 0.2"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
    <joint name="turn" axis="0 1 0"/><geom type="cylinder" size="0.2 0.05" euler="1.5707963267948966 0 0"/></body>)",
                                 "<option gravity=\"3 0 -9\"/>");
  const ImportedStudy plane = imported(model);
  EXPECT_TRUE(plane.planar);
  const StudyRun run = imported_run(plane, {1});
  // Rolls: a = (pull along the floor) / (1 + 1/2); up is against gravity, so the floor is a slope of the study.
  EXPECT_NEAR(run.observable("x_rate", 1), 3 / 1.5, 1e-8);
  EXPECT_NEAR(run.observable("turn_rate", 1), 3 / 1.5 / 0.2, 1e-7);
  ImportOptions in_space;
  in_space.in_space = true;
  const ImportedStudy space = imported(model, in_space);
  ASSERT_EQ(space.left_out.size(), 1u);
  EXPECT_NE(space.left_out[0].find("cylinder"), std::string::npos);
}

// Slices across the axis, by Simpson's rule.
TEST(SolidInertia, OfACapsuleIsThatOfItsSlices) {
  Solid solid;
  solid.kind = SolidKind::capsule;
  solid.size = {0.3, 0.7, 0};
  const double r = 0.3, h = 0.7, top = r + h;
  double volume = 0, about = 0, across = 0;
  const int count = 200000;
  for (int i = 0; i <= count; ++i) {
    const double z = -top + 2 * top * i / count, beyond = std::max(std::abs(z) - h, 0.0);
    const double square = std::max(r * r - beyond * beyond, 0.0), weight = (i % 2 == 1       ? 4
                                                                            : i % count == 0 ? 1
                                                                                             : 2) *
                                                                           2 * top / count / 3;
    const double area = std::acos(-1.0) * square;
    volume += weight * area;
    about += weight * area * square / 2;
    across += weight * area * (square / 4 + z * z);
  }
  EXPECT_NEAR(solid_volume(solid), volume, 1e-9);
  const Inertial made = solid_inertial(solid, 1);
  EXPECT_NEAR(made.inertia(2, 2), about / volume, 1e-9);
  EXPECT_NEAR(made.inertia(0, 0), across / volume, 1e-9);
}

}  // namespace
}  // namespace zwang::import_contact_test
