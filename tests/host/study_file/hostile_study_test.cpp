// Malicious studies: their text never reaches a compiler, a terminal or a path unescaped, and studies that
// would need too much memory are rejected by a limit that the message names.
#include <gtest/gtest.h>

#include <algorithm>

#include "host/program/kernel_program.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"

namespace zwang::hostile_study_test {
namespace {

const std::string ball_and_time = R"([[point]]
name = "ball"
mass = 1
position = [0, 0]
[time]
end = 1
)";

std::string message_of(const std::string& text) {
  try {
    read_study(text, "study.toml");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// Every kind of name, and a title, with text that would have an effect in C++.
TEST(HostileStudy, NoWordOfAStudyReachesTheCompiler) {
  const Study study = read_study(R"toml(
title = "canary */ }; #include </etc/passwd> \" \\ ??/ system(canary)"
[parameters]
canary_parameter = { uniform = [1, 2] }
[[anchor]]
name = "canary_anchor"
position = ["sin(t)", 0]
[[point]]
name = "canary_point"
mass = "canary_parameter"
position = [0.5, 0]
velocity = [{ normal = { mean = 0, std = 1 } }, 0]
[[coordinate]]
name = "canary_coordinate"
position = 0
[[auxiliary]]
name = "canary_auxiliary"
initial = 0
rate = "canary_coordinate"
[system]
kinetic = "0.5*canary_coordinate'^2"
[[constraint]]
name = "canary_constraint"
require = "distance(canary_point, canary_anchor) <= 1"
[[event]]
name = "canary_event"
when = "canary_point.x"
[time]
end = 1
[observe]
canary_observable = "canary_point.x"
[measure]
canary_measure = "maximum(canary_point.x)"
)toml",
                                 "canary_file.toml");
  for (const KernelProgram& program : {cpu_program(study, LaneChoice::best), cuda_program(study)}) {
    for (const auto& [name, text] : program.text.sources) {
      EXPECT_EQ(name.find("canary"), std::string::npos) << name;
      EXPECT_EQ(text.find("canary"), std::string::npos) << name;
      EXPECT_EQ(text.find("passwd"), std::string::npos) << name;
    }
    for (const std::string& flag : program.text.flags)
      EXPECT_EQ(flag.find("canary"), std::string::npos) << flag;
  }
}

TEST(HostileStudy, AFileNameDoesNotLeadOutOfTheResults) {
  const std::string text = ball_and_time;
  EXPECT_EQ(read_study(text, "a/...toml").name, "study");
  EXPECT_EQ(read_study(text, "..toml").name, "study");
  EXPECT_EQ(read_study(text, "a/../b.toml").name, "b");
  EXPECT_EQ(read_study(text, "a/.hidden.toml").name, ".hidden");
  for (const char* path : {"...toml", "..toml", "a/..", "x/y.toml", ".toml"})
    EXPECT_EQ(read_study(text, path).name.find('/'), std::string::npos) << path;
}

TEST(HostileStudy, ATitleDoesNotSteerTheTerminal) {
  EXPECT_EQ(message_of("title = \"\\u001b[2J\"\n" + ball_and_time),
            R"(study.toml:1:9: error: title: a control character
  found:    "\27[2J"
  expected: text that can be printed)");
  EXPECT_EQ(message_of("title = \"two\\nlines, \\tand é\"\n" + ball_and_time), "no error");
}

// Invalid names are shown with their control characters escaped.
TEST(HostileStudy, MessagesHaveNoControlCharacters) {
  const std::string bell = "\\u0007\\u001b]0;x\\u0007";
  for (const std::string& text :
       {"\"" + bell + "\" = 1\n" + ball_and_time, "[parameters]\n\"" + bell + "\" = 1\n" + ball_and_time,
        "[observe]\n\"" + bell + "\" = \"q\"\n" + ball_and_time,
        "[observe]\nx = \"1 + " + bell + "\"\n" + ball_and_time,
        "[[constraint]]\nname = \"" + bell + "\"\nrequire = \"ball.x <= q\"\n" + ball_and_time,
        "[statistics]\nhistogram.\"" + bell + "\" = { bins = 2 }\n" + ball_and_time,
        "[parameters]\nv = { file = \"" + bell + "\", column = \"" + bell + "\" }\n" + ball_and_time}) {
    const std::string message = message_of(text);
    EXPECT_NE(message, "no error") << text;
    EXPECT_TRUE(std::none_of(message.begin(), message.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 && c != '\n';
    })) << message;
  }
}

// --- Limits ---

TEST(StudyLimits, FormulasThatGrowBeyondMeasureAreRefused) {
  Expressions pool;
  Expr e = pool.symbol(SymbolKind::coordinate, 0);
  try {
    for (std::size_t i = 0; i <= Expressions::node_limit; ++i) e = pool.apply(Op::sin, e);
    FAIL() << "a formula of " << pool.size() << " terms";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), R"(error: the study's formulas are too large
  found:    more than 4000000 terms after differentiation
  expected: at most 4000000 terms)");
  }
}

TEST(StudyLimits, OutputTimesAndObservablesTogether) {
  std::string text = "[observe]\na = \"1\"\nb = \"2\"\nc = \"3\"\n" + ball_and_time + "samples = 5000000\n";
  EXPECT_EQ(message_of(text), R"(study.toml: error: too many output times for this number of observables
  found:    3 observables at 5000000 times
  expected: at most 10000000 in all
  hint:     fewer [time] samples)");
  text.replace(text.find("5000000"), 7, "3333333");
  EXPECT_EQ(message_of(text), "no error");
}

TEST(StudyLimits, OutputTimesAndTrajectoriesTogether) {
  const std::string text =
      "[output]\ntrajectories = [0, 1, 2]\n[ensemble]\nmembers = 3\n" + ball_and_time + "samples = 9000000\n";
  EXPECT_EQ(message_of(text), R"(study.toml: error: too many output times for this number of trajectories
  found:    3 members with 4 numbers at 9000000 times
  expected: at most 100000000 in all
  hint:     fewer [time] samples)");
}

}  // namespace
}  // namespace zwang::hostile_study_test
