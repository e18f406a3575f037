// Files that cannot be imported: each breaks one rule and has the complete message that it must give.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "host/import/import_study.h"
#include "src/base/error.h"
#include "tests/support/imported.h"

namespace zwang::import_message_test {
namespace {

struct WrongFile {
  std::string name, text, message;
  ImportOptions options = {};
};

std::string import_message(const std::string& text, const ImportOptions& options) {
  try {
    import_study(text, "robot.xml", options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string urdf_link(const std::string& name, const std::string& mass = "1",
                      const std::string& moments = "1") {
  return "<link name=\"" + name + "\"><inertial><mass value=\"" + mass + "\"/><inertia ixx=\"" + moments +
         "\" iyy=\"1\" izz=\"1\"/></inertial></link>\n";
}

std::string urdf_joint(const std::string& name, const std::string& parent, const std::string& child,
                       const std::string& type = "continuous", const std::string& more = "") {
  return "<joint name=\"" + name + "\" type=\"" + type + "\"><parent link=\"" + parent +
         "\"/><child link=\"" + child + "\"/>" + more + "</joint>\n";
}

std::string robot(const std::string& content) { return "<robot name=\"r\">\n" + content + "</robot>\n"; }

const ImportOptions with_wrong_joint = [] {
  ImportOptions options;
  options.joints = {{"elbov", 1}};
  return options;
}();

const std::vector<WrongFile> wrong_files = {
    {"text that is not XML", "title = \"a study\"\n",
     "robot.xml:1:1: error: not XML: No document element found\n"
     "  found:    title = \"a study\"\n"
     "  expected: well-formed XML: a URDF file (<robot>) or an MJCF file (<mujoco>)"},
    {"a tag that is not closed", "<robot name=\"r\">\n<link name=\"a\">\n</robot>\n",
     "robot.xml:3:3: error: not XML: Start-end tags mismatch\n"
     "  found:    robot>\n"
     "  expected: well-formed XML: a URDF file (<robot>) or an MJCF file (<mujoco>)"},
    {"another root", "<sdf version=\"1.6\"/>\n",
     "robot.xml:1:2: error: neither URDF nor MJCF\n"
     "  found:    <sdf>\n"
     "  expected: <robot> (URDF) or <mujoco> (MJCF)"},
    {"no links", "<robot name=\"r\"/>\n",
     "robot.xml:1:2: error: the robot has no links\n"
     "  found:    no <link>\n"
     "  expected: <link name=\"...\"> with <inertial>"},
    {"a link that moves without a mass",
     robot("<link name=\"a\"/>\n<link name=\"b\"/>\n" + urdf_joint("j", "a", "b")),
     "robot.xml:3:2: error: body 'b': it moves and has no mass\n"
     "  found:    mass 0\n"
     "  expected: a mass > 0\n"
     "  hint:     a body that moves needs its mass and inertia in the file"},
    {"an inertial without a mass", robot("<link name=\"a\"><inertial/></link>\n"),
     "robot.xml:2:17: error: <inertial> of link 'a' has no <mass>\n"
     "  expected: <mass value=\"1.0\"/>"},
    {"a negative mass", robot(urdf_link("a", "-2")),
     "robot.xml:2:27: error: <mass>: 'value' is negative\n"
     "  found:    -2\n"
     "  expected: a number >= 0"},
    {"a mass that is no number", robot(urdf_link("a", "1kg")),
     "robot.xml:2:27: error: <mass>: 'value' is not a number\n"
     "  found:    1kg\n"
     "  expected: 1 finite number"},
    {"an impossible inertia",
     robot("<link name=\"a\"/>\n" + urdf_link("b", "1", "9") + urdf_joint("j", "a", "b", "floating")),
     "robot.xml:3:2: error: body 'b': no rigid body has this inertia\n"
     "  found:    principal moments 1, 1 and 9\n"
     "  expected: positive principal moments, none larger than the sum of the other two\n"
     "  hint:     a body that moves needs its mass and inertia in the file"},
    {"an unknown type of joint",
     robot(urdf_link("a") + urdf_link("b") + urdf_joint("j", "a", "b", "revolut")),
     "robot.xml:4:2: error: <joint> 'j': unknown type of joint\n"
     "  found:    revolut\n"
     "  expected: revolute, continuous, prismatic, fixed, floating or planar\n"
     "  hint:     did you mean 'revolute'?"},
    {"a joint without a parent",
     robot(urdf_link("a") + "<joint name=\"j\" type=\"fixed\"><child link=\"a\"/></joint>\n"),
     "robot.xml:3:2: error: <joint> 'j': <parent> is missing\n"
     "  expected: <parent link=\"...\"/>"},
    {"a joint to no link", robot(urdf_link("arm") + urdf_joint("j", "arm", "amr")),
     "robot.xml:3:2: error: joint 'j' names a link that does not exist\n"
     "  found:    amr\n"
     "  expected: the name of a link\n"
     "  hint:     did you mean 'arm'?"},
    {"two parents",
     robot(urdf_link("a") + urdf_link("b") + urdf_joint("j", "a", "b") + urdf_joint("k", "a", "b")),
     "robot.xml:5:2: error: link 'b' has two parents\n"
     "  found:    joints 'j' and 'k'\n"
     "  expected: a tree: each link is the child of one joint at most"},
    {"a cycle of all links",
     robot(urdf_link("a") + urdf_link("b") + urdf_joint("j", "a", "b") + urdf_joint("k", "b", "a")),
     "robot.xml:4:2: error: the joints form a cycle: no link is without a parent\n"
     "  found:    2 links, each the child of a joint\n"
     "  expected: a tree with one root link"},
    {"a cycle beside the tree",
     robot(urdf_link("a") + urdf_link("b") + urdf_link("c") + urdf_joint("j", "b", "c") +
           urdf_joint("k", "c", "b")),
     "robot.xml:6:2: error: the joints form a cycle that contains link 'b'\n"
     "  found:    joint 'k'\n"
     "  expected: a tree: every link is reached from the root link\n"
     "  hint:     close loops in the study, by a [[link]]"},
    {"two roots", robot(urdf_link("a") + urdf_link("b")),
     "robot.xml:3:2: error: the robot has several root links\n"
     "  found:    a and b\n"
     "  expected: one link that is the child of no joint"},
    {"nothing that moves", robot(urdf_link("a") + urdf_link("b") + urdf_joint("j", "a", "b", "fixed")),
     "robot.xml:1:2: error: nothing moves\n"
     "  found:    no joint other than fixed ones\n"
     "  expected: a body with a joint that moves\n"
     "  hint:     --base floating lets the root link move"},
    {"limits in the wrong order",
     robot(urdf_link("a") + urdf_link("b") +
           urdf_joint("j", "a", "b", "revolute", "<limit lower=\"1\" upper=\"0\"/>")),
     "robot.xml:4:69: error: <limit>: joint 'j': lower is above upper\n"
     "  found:    1 > 0\n"
     "  expected: lower <= upper"},
    {"an axis of length 0",
     robot(urdf_link("a") + urdf_link("b") +
           urdf_joint("j", "a", "b", "continuous", "<axis xyz=\"0 0 0\"/>")),
     "robot.xml:4:71: error: <axis>: 'xyz' has length 0\n"
     "  found:    0 0 0\n"
     "  expected: three numbers, not all 0"},
    {"a start of an unknown joint", robot(urdf_link("a") + urdf_link("b") + urdf_joint("elbow", "a", "b")),
     "--joint: error: robot.xml has no such joint that moves\n"
     "  found:    elbov\n"
     "  expected: elbow\n"
     "  hint:     did you mean 'elbow'?",
     with_wrong_joint},
    {"no worldbody", "<mujoco/>\n",
     "robot.xml:1:2: error: the model has no <worldbody>\n"
     "  expected: <worldbody> with a tree of <body>"},
    {"a joint of the world", mjcf("<joint/>"),
     "robot.xml:1:60: error: <joint>: the world has no joints\n"
     "  found:    a joint in <worldbody>\n"
     "  expected: a joint in a <body>"},
    {"an unknown class",
     mjcf("<body><joint class=\"legs\"/></body>", "<default><default class=\"leg\"/></default>"),
     "robot.xml:1:107: error: <joint>: there is no such default class\n"
     "  found:    legs\n"
     "  expected: a class of <default>\n"
     "  hint:     did you mean 'leg'?"},
    {"a geom without a size", mjcf("<body><freejoint/><geom type=\"box\" size=\"1 2\"/></body>"),
     "robot.xml:1:78: error: <geom>: 'size' has too few numbers\n"
     "  found:    2\n"
     "  expected: 3 for this type"},
    {"global coordinates", "<mujoco><compiler coordinate=\"global\"/><worldbody/></mujoco>",
     "robot.xml:1:10: error: <compiler>: coordinates of another kind than local\n"
     "  found:    global\n"
     "  expected: coordinate=\"local\"\n"
     "  hint:     saving the file with a current version of MuJoCo makes them local"},
    {"slides at an angle",
     mjcf("<body name=\"b\"><joint type=\"slide\" axis=\"1 0 0\"/><joint type=\"slide\" axis=\"1 1 "
          "0\"/><geom size=\"1\"/></body>"),
     "robot.xml:1:60: error: the joints of body 'b' cannot be combined: slides that are not at right angles\n"
     "  found:    slide, slide\n"
     "  expected: slides at right angles, before or after one hinge, hinges at right angles through one "
     "point, or a ball "
     "joint\n"
     "  hint:     put a body with a mass between the joints"},
    {"a plane that moves", mjcf("<body><freejoint/><geom type=\"plane\" size=\"1 1 1\"/></body>"),
     "robot.xml:1:78: error: <geom>: a plane on a body that moves\n"
     "  found:    type=\"plane\"\n"
     "  expected: planes in <worldbody>"},
};

class WrongImport : public testing::TestWithParam<WrongFile> {};

TEST_P(WrongImport, SaysWhereAndWhatWasExpected) {
  EXPECT_EQ(import_message(GetParam().text, GetParam().options), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(Files, WrongImport, testing::ValuesIn(wrong_files),
                         [](const testing::TestParamInfo<WrongFile>& test) {
                           std::string name = test.param.name;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

}  // namespace
}  // namespace zwang::import_message_test
