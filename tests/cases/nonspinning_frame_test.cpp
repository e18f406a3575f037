// A symmetric body whose orientation is in a frame that does not spin moves as in its own axes, in fewer steps.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "host/check/check.h"
#include "host/run/backend_factory.h"
#include "tests/support/malformed.h"
#include "tests/support/study_runs.h"

namespace zwang::nonspinning_frame_test {
namespace {

// Two integrations of the same motion at the finest tolerance, by different variables.
constexpr double same = 2e-9;

const std::string nonspinning = "frame = \"nonspinning\"\n";

// A symmetric top with everything that is given or asked for in its own axes: a torque, a blow, a point off the axis,
// axes, rates and the quaternion.
std::string top(const std::string& frame, double spin, const std::string& link, const std::string& more) {
  return "[[anchor]]\nname = \"o\"\nposition = [0, 0, 0]\n[[body]]\nname = \"top\"\nmass = 1\n"
         "inertia = [0.05, 0.05, 0.02]\n" +
         frame +
         "position = [0, \"-0.5*sin(0.9)\", \"0.5*cos(0.9)\"]\norientation = { axis = [1, 0, 0], angle = 0.9 "
         "}\n"
         "angular_velocity = [0.3, 0.2, " +
         number_text(spin) +
         "]\npoints = { tip = [0, 0, -0.5], rim = [0.2, 0.1, 0.05] }\n[[link]]\nname = \"pivot\"\nbetween = "
         "[\"top.tip\", \"o\"]\n" +
         link + more +
         "[system]\ngravity = [0, 0, -9.81]\n[ensemble]\nconsistency = \"project\"\n[time]\nend = "
         "1.5\nsamples = 4\n"
         "[measure]\nwx = \"final(top.wx)\"\nwy = \"final(top.wy)\"\nwz = \"final(top.wz)\"\n"
         "q0 = \"final(top.q0^2)\"\nq1 = \"final(top.q1*top.q0)\"\nq2 = \"final(top.q2*top.q3)\"\n"
         "ex = \"final(top.ex.x)\"\ney = \"final(top.ey.z)\"\nez = \"final(top.ez.y)\"\n"
         "angle = \"final(rotation(top))\"\nrim = \"final(top.rim.x)\"\nspeed = \"final(top.rim.y')\"\n"
         "spin = \"final(top.spin.x)\"\nmomentum = \"final(top.momentum.y)\"\n"
         "energy = \"final(kinetic() + potential())\"\n";
}

void expect_same_motion(const std::string& link, const std::string& more) {
  const StudyRun own(written(top("", 7, link, more))), frame(written(top(nonspinning, 7, link, more)));
  ASSERT_EQ(frame.trajectory.status, Status::ok) << frame.trajectory.cause;
  for (const Measure& measure : own.system().measures)
    EXPECT_NEAR(own.measure(measure.name), frame.measure(measure.name), same) << measure.name;
}

const std::string ball_link = "type = \"ball\"\n";

TEST(NonspinningFrame, HasTheMotionOfTheBodysOwnAxes) { expect_same_motion(ball_link, ""); }

TEST(NonspinningFrame, TakesTorquesAndBlowsInBodyAxes) {
  expect_same_motion(ball_link,
                     "[system.force]\n\"top.wx\" = \"0.3*cos(4*t)\"\n\"top.wy\" = \"0.2 - 0.05*top.wy\"\n"
                     "[[impulse]]\nat = 0.7\non = \"top\"\nvelocity = [0, 0, 0]\nangular = [0.4, -0.2, 0.3]\n"
                     "[[impulse]]\nat = 0.9\non = \"top.rim\"\nmomentum = [0.1, 0, 0.05]\n"
                     "[[force]]\non = \"top.rim\"\nvector = [0.2, 0, 0.1]\n");
}

// A hinge about the body's x axis: its rows depend on the spin.
TEST(NonspinningFrame, AllowsLinksThatHoldTheSpin) {
  expect_same_motion("type = \"hinge\"\naxis = [1, 0, 0]\n", "");
}

TEST(NonspinningFrame, NeedsNoShorterStepsForAFasterSpin) {
  const auto steps = [](const std::string& frame, double spin) {
    return StudyRun(written(top(frame, spin, ball_link, ""))).trajectory.steps;
  };
  const auto fast = steps(nonspinning, 200);
  EXPECT_LT(4 * fast, steps("", 200));
}

TEST(NonspinningFrame, AgreesOnTheCpu) {
  const Study study =
      written(top(nonspinning, 60, ball_link, "[system.force]\n\"top.wx\" = \"0.3*cos(4*t)\"\n"));
  const auto cpu = make_backend("cpu", study, {.threads = 1});
  const CheckReport report = check(study, *cpu, {.sample = 1, .threads = 1});
  EXPECT_EQ(report.verdict(), CheckVerdict::pass) << report.verdict_text();
}

TEST(NonspinningFrame, IsRefusedWithoutSymmetry) {
  const auto refused = [](const std::string& inertia, const std::string& frame) {
    return message_of("[[body]]\nname = \"b\"\nmass = 1\nposition = [0, 0, 1]\ninertia = " + inertia +
                      "\nframe = \"" + frame + "\"\n" + time_alone);
  };
  const char* const symmetric = "needs a body that is symmetric about its z axis";
  EXPECT_NE(refused("[1, 1.1, 1]", "nonspinning").find(symmetric), std::string::npos);
  EXPECT_NE(refused("[[1, 0.1, 0], [0.1, 1, 0], [0, 0, 1]]", "nonspinning").find(symmetric),
            std::string::npos);
  EXPECT_NE(refused("[1, 1, 1]", "still").find("nonspinning"), std::string::npos);
  EXPECT_NE(
      message_of(
          "[[body]]\nname = \"b\"\nmass = 1\nposition = [0, 1]\ninertia = 1\nframe = \"nonspinning\"\n" +
          time_alone)
          .find("a body in the plane has no such frame"),
      std::string::npos);
  EXPECT_NE(message_of("[[body]]\nname = \"b\"\nmass = 1\nposition = [0, 0, 1]\ninertia = [1, 1, 2]\nframe = "
                       "\"nonspinning\"\n[observe]\nd = \"logdensity()\"\n" +
                       time_alone)
                .find("there is no logdensity() beside a frame that does not spin"),
            std::string::npos);
}

}  // namespace
}  // namespace zwang::nonspinning_frame_test
