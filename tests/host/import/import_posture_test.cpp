// The posture in which imported mechanisms start: keyframes, joints on the command line, and standing on the ground.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "host/import/import_options.h"
#include "host/import/import_study.h"
#include "src/base/error.h"
#include "tests/support/imported.h"

namespace zwang::import_posture_test {
namespace {

constexpr double exact = 1e-14;

// Two links in the plane y = 0 on a slide, over the ground z = 0.
std::string leg(const std::string& keys) {
  return "<mujoco model=\"leg\"><compiler angle=\"radian\"/><worldbody><geom name=\"ground\" type=\"plane\"/>"
         "<body name=\"hip\" pos=\"0 0 3\"><joint name=\"height\" type=\"slide\" axis=\"0 0 1\" ref=\"3\"/>"
         "<joint name=\"pitch\" type=\"hinge\" axis=\"0 1 0\"/>"
         "<geom type=\"capsule\" fromto=\"0 0 0 0 0 -1\" size=\"0.1\"/>"
         "<body name=\"shin\" pos=\"0 0 -1\"><joint name=\"knee\" type=\"hinge\" axis=\"0 1 0\" range=\"-0.5 "
         "2\" "
         "limited=\"true\"/>"
         "<geom type=\"capsule\" fromto=\"0 0 0 0 0 -1\" size=\"0.1\"/></body></body></worldbody>" +
         keys + "</mujoco>";
}

StudyRun started(const ImportedStudy& made) { return imported_run(made, {0, 0.01}); }

std::vector<double> start_of(const std::string& text, const ImportOptions& options,
                             const std::vector<std::string>& joints) {
  const StudyRun run = started(imported(text, options));
  std::vector<double> made;
  for (const std::string& joint : joints) made.push_back(run.observable(joint, 0));
  return made;
}

void expect_start(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k], expected[k], exact) << k;
}

bool notes_mention(const ImportedStudy& made, const std::string& piece) {
  for (const std::string& note : made.notes)
    if (note.find(piece) != std::string::npos) return true;
  return false;
}

std::string message_of_import(const std::string& text, const ImportOptions& options) {
  try {
    imported(text, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

const std::string two_keys =
    "<keyframe><key name=\"up\" qpos=\"3.5 0.1 0.2\" qvel=\"1 0 0\"/><key name=\"down\" qpos=\"2.5 -0.3 "
    "0.4\"/>"
    "</keyframe>";
const std::vector<std::string> leg_joints = {"height", "pitch", "knee"};

TEST(ImportPosture, IsThatOfTheFirstKeyframeOrOfTheOneAskedFor) {
  expect_start(start_of(leg(two_keys), {}, leg_joints), {3.5, 0.1, 0.2});
  ImportOptions options;
  options.keyframe = "down";
  expect_start(start_of(leg(two_keys), options, leg_joints), {2.5, -0.3, 0.4});
  options.keyframe = "none";
  expect_start(start_of(leg(two_keys), options, leg_joints), {3, 0, 0});
  options.keyframe = "down";
  options.joints = {{"knee", 1.25}};
  expect_start(start_of(leg(two_keys), options, leg_joints), {2.5, -0.3, 1.25});
}

TEST(ImportPosture, NamesTheKeyframeAndWhatItLeavesOut) {
  const ImportedStudy made = imported(leg(two_keys));
  EXPECT_TRUE(notes_mention(made, "the start is that of keyframe 'up'"));
  EXPECT_NE(made.text.find("attribute qvel of <key>"), std::string::npos);
}

TEST(ImportPosture, OfAKeyframeBeyondALimitIsAtTheLimit) {
  const std::string key = "<keyframe><key qpos=\"3 0 -0.75\"/></keyframe>";
  expect_start(start_of(leg(key), {}, leg_joints), {3, 0, -0.5});
  EXPECT_TRUE(notes_mention(imported(leg(key)), "which does not contain the keyframe's -0.75"));
}

TEST(ImportPosture, OfFreeAndBallJointsIsPlaceAndQuaternion) {
  const std::string world =
      "<body name=\"box\" pos=\"0 0 1\"><freejoint name=\"root\"/><geom type=\"box\" size=\"0.1 0.2 0.3\"/>"
      "<body name=\"ball\" pos=\"0 0 1\"><joint name=\"b\" type=\"ball\" pos=\"0 0 -0.5\"/>"
      "<geom type=\"sphere\" size=\"0.1\"/></body></body>";
  // The box is turned by a quarter about x, the ball by a quarter about y beyond that.
  const std::string key = "<keyframe><key qpos=\"1 2 3 1 1 0 0 1 0 1 0\"/></keyframe>";
  const StudyRun run = started(imported(mjcf(world, key)));
  EXPECT_NEAR(run.position("box.x", 0), 1, exact);
  EXPECT_NEAR(run.position("box.y", 0), 2, exact);
  EXPECT_NEAR(run.position("box.z", 0), 3, exact);
  // In the frame of the box the joint is at z = 1/2, and the ball 1/2 beyond it along x.
  EXPECT_NEAR(run.position("ball.x", 0), 1.5, exact);
  EXPECT_NEAR(run.position("ball.y", 0), 1.5, exact);
  EXPECT_NEAR(run.position("ball.z", 0), 3, exact);
  EXPECT_NEAR(run.observable("b", 0), std::acos(0.0), 1e-7);
}

TEST(ImportPosture, StandsWithItsLowestShapeOnTheGround) {
  ImportOptions options;
  options.stand = true;
  options.joints = {{"pitch", 0.4}, {"knee", 0.3}};
  // The lower end of the shin is cos(0.4) + cos(0.7) below the hip.
  expect_start(start_of(leg(""), options, leg_joints), {std::cos(0.4) + std::cos(0.7) + 0.1, 0.4, 0.3});
  const std::string box =
      "<geom name=\"ground\" type=\"plane\" pos=\"0 0 -1\"/><body name=\"box\" pos=\"0 0 7\" axisangle=\"1 0 "
      "0 0.5\">"
      "<freejoint/><geom type=\"box\" size=\"0.1 0.2 0.3\"/></body>";
  options.joints.clear();
  const StudyRun run = started(imported(mjcf(box), options));
  EXPECT_NEAR(run.position("box.z", 0), -1 + 0.2 * std::sin(0.5) + 0.3 * std::cos(0.5), exact);
}

TEST(ImportPosture, OfTheHopperHasItsFootFlatOnTheFloor) {
  const ImportedStudy made = imported_example("hopper.xml");
  const StudyRun run = started(made);
  EXPECT_NEAR(run.observable("leg_joint", 0), -0.8, exact);
  EXPECT_NEAR(run.position("foot.angle", 0), 0, exact);
  EXPECT_NEAR(run.position("foot.y", 0), 0.06, 1e-12);
  EXPECT_EQ(run.trajectory.samples[0].closed[run.condition_number("foot_floor.foot_geom_1")], 1);
}

TEST(ImportPosture, RefusesKeyframesAndGroundsThatAreNotThere) {
  ImportOptions unknown, standing;
  unknown.keyframe = "don";
  standing.stand = true;
  EXPECT_EQ(
      message_of_import(leg(two_keys), unknown),
      "--keyframe: error: model.xml has no such keyframe\n  found:    don\n  expected: up or down, or none\n"
      "  hint:     did you mean 'down'?");
  EXPECT_NE(message_of_import(leg("<keyframe><key name=\"k\" qpos=\"1 2\"/></keyframe>"), {})
                .find("keyframe 'k' has a wrong number of positions\n  found:    2\n  expected: 3"),
            std::string::npos);
  EXPECT_NE(
      message_of_import(mjcf("<body name=\"b\"><joint name=\"j\"/><geom size=\"0.1\" pos=\"1 0 0\"/></body>"),
                        standing)
          .find("there is no plane to stand on"),
      std::string::npos);
  EXPECT_NE(message_of_import(
                mjcf("<geom type=\"plane\"/><body name=\"b\" pos=\"0 0 3\"><joint name=\"j\" axis=\"0 1 "
                     "0\"/><geom size=\"0.1\" pos=\"1 0 0\"/></body>"),
                standing)
                .find("nothing can be moved onto 'plane_1'"),
            std::string::npos);
}

}  // namespace
}  // namespace zwang::import_posture_test
