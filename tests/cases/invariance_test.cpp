// One motion described in different ways: other frames, other units, conditions in another order, twice,
// rescaled.
#include "src/base/error.h"
#include "tests/support/study_runs.h"

namespace zwang::invariance_test {
namespace {

// Two motions of some thousands of steps of rtol 1e-13 each.
constexpr double integrated = 1e-11;

const char* const two_points = R"toml(
title = "Two points on a string beside a wall, in a frame that may be turned and carried along"
[parameters]
w = 0          # the frame is turned by this angle
U = 0          # and carried along with this velocity
V = 0
c = "cos(w)"
s = "sin(w)"
[[point]]
name = "a"
mass = 1
position = ["-0.5*c", "-0.5*s"]
velocity = ["U + 0.9*c - 0.3*s", "V + 0.9*s + 0.3*c"]
[[point]]
name = "b"
mass = 2
position = ["-1.5*c + 0.5*s", "-1.5*s - 0.5*c"]
velocity = ["U - 0.2*c - 0.4*s", "V - 0.2*s + 0.4*c"]
[system]
gravity = ["0.3*c + 0.6*s", "0.3*s - 0.6*c"]
[[constraint]]
name = "string"
require = "distance(a, b) <= 1.5"
[[constraint]]
name = "wall"
require = "c*(a.x - U*t) + s*(a.y - V*t) <= 0"
restitution = 0.5
[time]
at = [0, 1, 2, 3]
)toml";

// Two runs of the same motion seen differently: `seen` maps a state of the second to the first.
template <class Seen>
void expect_same_motion(const StudyRun& one, const StudyRun& other, const Seen& seen, double tolerance,
                        double clock = 1) {
  expect_sound(one);
  expect_sound(other);
  ASSERT_EQ(one.trajectory.samples.size(), other.trajectory.samples.size());
  for (std::size_t k = 0; k < one.trajectory.samples.size(); ++k) {
    const State& expected = one.trajectory.samples[k].state;
    const State actual = seen(other.trajectory.samples[k].state);
    EXPECT_LE((actual.q - expected.q).cwiseAbs().maxCoeff(), tolerance) << "positions at t = " << expected.t;
    EXPECT_LE((actual.v - expected.v).cwiseAbs().maxCoeff(), tolerance) << "velocities at t = " << expected.t;
  }
  ASSERT_EQ(one.trajectory.events.size(), other.trajectory.events.size());
  for (std::size_t k = 0; k < one.trajectory.events.size(); ++k) {
    EXPECT_EQ(one.trajectory.events[k].kind, other.trajectory.events[k].kind) << "event " << k;
    EXPECT_NEAR(one.trajectory.events[k].t, other.trajectory.events[k].t / clock, tolerance) << "event " << k;
  }
}

TEST(Invariance, TheMotionLooksTheSameFromATurnedOrUniformlyMovingFrame) {
  const StudyRun at_rest(written(two_points));
  ASSERT_GE(at_rest.events(EventKind::shock, "wall").size(), 1u);
  ASSERT_GE(at_rest.events(EventKind::shock, "string").size(), 1u);
  struct Frame {
    double angle, U, V;
  };
  for (const Frame& frame : {Frame{0.7, 0, 0}, Frame{0, 0.8, -0.5}, Frame{-2.1, -0.4, 1.1}}) {
    SCOPED_TRACE(std::to_string(frame.angle) + ", " + std::to_string(frame.U));
    const StudyRun moved(written(
        two_points, {"parameters.w=" + number_text(frame.angle), "parameters.U=" + number_text(frame.U),
                     "parameters.V=" + number_text(frame.V)}));
    const Eigen::Matrix2d turn = Eigen::Rotation2Dd(-frame.angle).toRotationMatrix();
    const Eigen::Vector2d carried(frame.U, frame.V);
    const auto seen = [&](const State& state) {
      State same = state;
      for (const Eigen::Index first : {0, 2}) {
        same.q.segment(first, 2) = turn * (state.q.segment(first, 2) - carried * state.t);
        same.v.segment(first, 2) = turn * (state.v.segment(first, 2) - carried);
      }
      return same;
    };
    expect_same_motion(at_rest, moved, seen, 10 * integrated);
  }
}

TEST(Invariance, TheMotionDoesNotDependOnOrderDuplicationOrScaleOfConditions) {
  const StudyRun plain(written(two_points));
  std::string text = two_points;
  const std::size_t first = text.find("[[constraint]]"), second = text.find("[[constraint]]", first + 1),
                    end = text.find("[time]");
  const std::string wall =
      "[[constraint]]\nname = \"wall\"\nrequire = \"7*(c*a.x + s*a.y) <= 0\"\n"
      "restitution = 0.5\n";
  const std::string string = text.substr(first, second - first);
  const std::string again =
      "[[constraint]]\nname = \"again\"\n"
      "require = \"((a.x - b.x)^2 + (a.y - b.y)^2)/100 <= 0.0225\"\n";
  text.replace(first, end - first, wall + string + again);
  const StudyRun other(written(text));
  expect_same_motion(
      plain, other, [](const State& state) { return state; }, 10 * integrated);
}

TEST(Invariance, MetresOrMillimetresKilogramsOrGramsSecondsOrMilliseconds) {
  const std::vector<double> times = {0, 1, 2, 3, 4, 5, 6};
  const StudyRun plain(sampled(config("string_pendulum"), times));

  Study small = sampled(config("string_pendulum", {"parameters.g=1000", "parameters.L=1000",
                                                   "parameters.v0=\"1000*sqrt(7/2)\"", "point.0.mass=1000"}),
                        times);
  small.integrator.atol = 1000 * finest;
  const auto millimetres = [](State state) {
    state.q /= 1000;
    state.v /= 1000;
    return state;
  };
  expect_same_motion(plain, StudyRun(small), millimetres, integrated);

  std::vector<double> longer = times;
  for (double& t : longer) t *= 1000;
  const StudyRun slow(
      sampled(config("string_pendulum", {"parameters.g=1e-6", "parameters.v0=\"1e-3*sqrt(7/2)\""}), longer));
  const auto milliseconds = [](State state) {
    state.v *= 1000;
    return state;
  };
  // Velocities are now of order 1e-3, so atol weighs a thousand times more on them.
  expect_same_motion(plain, slow, milliseconds, 100 * integrated, 1000);
}

}  // namespace
}  // namespace zwang::invariance_test
