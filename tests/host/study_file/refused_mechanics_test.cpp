// What is refused of friction, limits, bodies, links and contacts, each with the part of its message that says why.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/inspect/write_explain_friction.h"
#include "src/analysis/explain.h"
#include "src/system/equations.h"
#include "tests/support/malformed.h"
#include "tests/support/study_runs.h"

namespace zwang::refused_mechanics_test {
namespace {

struct Refused {
  std::string study, message;
};

void expect_refused(const std::vector<Refused>& list, const std::string& rest) {
  for (const Refused& one : list) {
    const std::string found = message_of(one.study + rest);
    EXPECT_NE(found.find(one.message), std::string::npos)
        << one.study << "\nwanted: " << one.message << "\nfound: " << found;
  }
}

std::string ball_with(const std::string& require, const std::string& keys) {
  return ball + "[[constraint]]\nname = \"c\"\nrequire = \"" + require + "\"\n" + keys + "\n";
}

TEST(Refused, FrictionWithoutAContactOrALaw) {
  expect_refused(
      {{ball_with("ball.y == 0", "friction = 0.3"), "friction needs a contact"},
       {ball_with("ball.y == 0", "friction = 0.3"), "for a dry equation write limit"},
       {ball_with("ball.y' >= 0", "friction = 0.3"), "no law of friction for a condition on velocities"},
       {ball_with("ball.x'*ball.y' == 1", "variation = \"general\"\nlimit = 2"),
        "no law of limits beside variation = \"general\""},
       {ball_with("ball.y >= 0", "variation = \"general\"\nfriction = 0.3"),
        "no law of friction beside variation = \"general\""},
       {ball_with("ball.y >= 0", "slip = \"ball.x'\""), "has no effect without friction"},
       {ball_with("ball.y >= 0", "friction_static = 0.4"), "has no effect without friction"},
       {ball_with("ball.y >= 0", "restitution_tangential = 0.4"), "has no effect without friction"}},
      time_alone);
}

TEST(Refused, CoefficientsOutOfTheirRange) {
  expect_refused({{ball_with("ball.y >= 0", "friction = -0.1"), "a coefficient of friction is not negative"},
                  {ball_with("ball.y >= 0", "friction = 0.3\nfriction_static = 0.2"), "is below friction"},
                  {ball_with("ball.y >= 0", "friction = 0.3\nrestitution_tangential = 1.5"),
                   "a restitution lies between 0 and 1"},
                  {ball_with("ball.y' == 0", "limit = 0"), "a limit is positive"},
                  {ball_with("ball.y' == 0", "limit = -2"), "a limit is positive"}},
                 time_alone);
}

TEST(Refused, LimitsThatSayTooLittle) {
  expect_refused(
      {{ball_with("ball.y >= 0", "limit = 2"), "a bound on an inequality can only break it"},
       {ball_with("ball.y == 0", "breaks = true"), "a constraint breaks at its limit, and there is none"},
       {ball_with("ball.y >= 0", "limit = 2\nbreaks = true"), "says nothing about shocks"},
       {ball_with("ball.y >= 0", "limit = 2\nbreaks = true"), "impulse_limit = inf"},
       {ball_with("ball.y == 0", "impulse_limit = 2"), "has no effect without limit"}},
      time_alone);
}

TEST(Refused, SlipsThatAreNoSpeeds) {
  const std::string two = "[[point]]\nname = \"p\"\nmass = 1\nposition = [0, 5]\n" +
                          ball_with("ball.y + p.y >= 0", "friction = 0.3");
  expect_refused(
      {{two, "the slip of this contact is not known from its condition"},
       {ball_with("ball.y >= 0.1*t - 1", "friction = 0.3"), "a condition that depends on t"},
       {ball_with("ball.y >= 0", "friction = 0.3\nslip = \"ball.x'^2\""), "not linear in ball.x'"},
       {ball_with("ball.y >= 0", "friction = 0.3\nslip = \"ball.x\""), "contains no velocity"},
       {ball_with("ball.y >= 0", "friction = 0.3\nslip = \"ball.x' - ball.x'\""), "contains no velocity"},
       {ball_with("ball.y >= 0", "friction = 0.3\nslip = [\"ball.x'\", \"ball.y'\", \"ball.x'\"]"),
        "3 entries"}},
      time_alone);
}

std::string body_in_space(const std::string& keys) {
  return "[[body]]\nname = \"b\"\nmass = 1\nposition = [0, 0, 1]\ninertia = [1, 1, 1]\n" + keys;
}

std::string link_of(const std::string& type, const std::string& keys) {
  return body_in_space("") +
         "[[anchor]]\nname = \"o\"\nposition = [0, 0, 1]\n[[link]]\nname = \"l\"\ntype = \"" + type +
         "\"\nbetween = [\"b\", \"o\"]\n" + keys;
}

TEST(Refused, KeysOfLinksWithoutMeaning) {
  std::vector<Refused> list = {
      {link_of("ball", "axis = [0, 0, 1]\n"), "has no meaning for this link"},
      {link_of("ball", "limit = 1\n"), "a link of type hinge, slider, rod or string"},
      {link_of("weld", "length = 1\n"), "a link of type rod or string"},
      {link_of("ball", "on = \"b\"\n"), "a link of type rolling"},
      {link_of("hinge", "axis = [0, 0, 0]\n"), "an axis of length 0 has no direction"},
      {link_of("hinge", "axis = [0, 0, 1]\naxis_b = [0, 0, 0]\n"), "an axis of length 0 has no direction"},
  };
  expect_refused(list, time_alone);
}

TEST(Refused, LinksThatBreakWithoutSayingWhen) {
  const std::string axis = "axis = [0, 0, 1]\n", breaks = "breaks = true\n";
  std::vector<Refused> list = {
      {link_of("ball", breaks + "limit = 0\n"), "a limit is positive"},
      {link_of("ball", breaks + "limit = 1\nimpulse_limit = 2\n"),
       "a link of several rows bears every impulse or none"},
      {link_of("ball", breaks + "limit_torque = 1\n"), "a link of type hinge, slider or weld"},
      {link_of("weld", "limit_torque = 1\n"), "a bound on the torque of a link can only break it"},
      {link_of("weld", breaks + "limit_torque = -1\n"), "a limit is positive"},
      {link_of("rod", "length = 1\nlimit_torque = 1\n"), "a link of type hinge, slider or weld"},
      {"[[surface]]\nname = \"floor\"\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\n" +
           body_in_space("shape = { sphere = 1 }\n") +
           "[[link]]\nname = \"l\"\ntype = \"rolling\"\nbetween = [\"b\"]\non = \"floor\"\nlimit = 1\n" +
           breaks,
       "a link that rolls does not break"},
      {"[[body]]\nname = \"b\"\nmass = 1\ninertia = 1\nposition = [0, 0]\n[[anchor]]\nname = \"o\"\nposition "
       "= "
       "[0, 0]\n[[link]]\nname = \"l\"\ntype = \"hinge\"\nbetween = [\"b\", \"o\"]\nlimit_torque = 1\n" +
           breaks,
       "this link has no torque"},
  };
  for (const char* type : {"ball", "weld"})
    list.push_back({link_of(type, breaks), "a link breaks at its limit, and there is none"});
  for (const char* type : {"hinge", "slider"})
    list.push_back({link_of(type, axis + breaks), "a link breaks at its limit, and there is none"});
  expect_refused(list, time_alone);
}

TEST(Refused, LinksOfNothingWithAnother) {
  const std::string between_two = "[[link]]\nname = \"l\"\ntype = \"ball\"\nbetween = ";
  const std::string anchors =
      "[[anchor]]\nname = \"o\"\nposition = [0, 0, 1]\n[[anchor]]\nname = \"p\"\nposition = [0, 0, 2]\n";
  expect_refused(
      {{body_in_space("points = { e = [0, 0, 1] }\n") + between_two + "[\"b\", \"b.e\"]\n",
        "links a body with itself"},
       {body_in_space("") + anchors + between_two + "[\"o\", \"p\"]\n", "links two anchors"},
       {body_in_space("") + anchors + between_two + "[\"b\", \"o\", \"p\"]\n", "wrong number of entries"}},
      time_alone);
}

TEST(Refused, OrientationsThatAreNone) {
  const std::string planar = "[[body]]\nname = \"b\"\nmass = 1\ninertia = 1\nposition = [0, 0]\n";
  expect_refused(
      {{body_in_space("orientation = [0, 0, 0, 0]\n"), "a quaternion of length 0 is no orientation"},
       {body_in_space("orientation = \"any\"\n"), "not an orientation"},
       {body_in_space("orientation = \"any\"\n"), "or \"uniform\""},
       {body_in_space("orientation = { axis = [0, 0, 0], angle = 1 }\n"),
        "an axis of length 0 has no direction"},
       {planar + "orientation = \"uniform\"\n", "angle = { uniform = [0, \"2*pi\"] }"}},
      time_alone);
}

// Part of what is allowed: impacts use friction. Said, not refused.
TEST(Refused, NothingOfAStaticCoefficientBesideATangentialRestitution) {
  const auto note_with = [](const std::string& keys) {
    const StudyRun run(written(ball_with("ball.y >= 0", "friction = 0.3\n" + keys) + time_alone));
    const Equations equations(run.system(), run.member.inputs.parameters);
    const Explanation made = explain(equations, run.trajectory.last, 1e-10);
    return friction_text(*made.friction, made.coordinates).find("c: impacts use friction") !=
           std::string::npos;
  };
  EXPECT_TRUE(note_with("friction_static = 0.4\nrestitution_tangential = 0.5\n"));
  EXPECT_FALSE(note_with("friction_static = 0.4\n"));
  EXPECT_FALSE(note_with("restitution_tangential = 0.5\n"));
}

TEST(Refused, SizesBeyondTheLimits) {
  std::string bodies, points, contacts;
  for (int k = 0; k < 1025; ++k)
    bodies += "[[body]]\nname = \"b" + std::to_string(k) + "\"\nmass = 1\ninertia = 1\nposition = [0, 0]\n";
  for (int k = 0; k < 65; ++k) points += (k ? ", p" : "p") + std::to_string(k) + " = [0, 0, 1]";
  for (int k = 0; k < 257; ++k)
    contacts +=
        "[[constraint]]\nname = \"c" + std::to_string(k) + "\"\nrequire = \"ball.y >= -1\"\nfriction = 0.1\n";
  std::string links =
      "[[point]]\nname = \"p\"\nmass = 1\nposition = [0, 0, 0]\n[[anchor]]\nname = \"o\"\nposition = "
      "[0, 0, 0]\n";
  for (int k = 0; k < 1366; ++k)  // three rows each: 4098
    links += "[[link]]\nname = \"l" + std::to_string(k) + "\"\ntype = \"ball\"\nbetween = [\"p\", \"o\"]\n";
  expect_refused({{links, "too many constraints, with those of links and contacts"},
                  {bodies, "too many bodies"},
                  {body_in_space("points = { " + points + " }\n"), "too many points"},
                  {ball + contacts, "too many contacts with friction"}},
                 time_alone);
}

TEST(Refused, PairsOfShapesWithoutARule) {
  const std::string floor = "[[surface]]\nname = \"floor\"\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\n";
  const auto pair = [](const std::string& a, const std::string& b) {
    const std::string points = "points = { e = [0, 0, 1], f = [0, 0, -1] }\n";
    return body_in_space(points + "shape = " + a + "\n") +
           "[[body]]\nname = \"c\"\nmass = 1\ninertia = [1, 1, 1]\nposition = [0, 0, 9]\n" + points +
           "shape = " + b + "\n[[contact]]\nname = \"t\"\nbetween = [\"b\", \"c\"]\n";
  };
  const std::string sphere = "{ sphere = 0.1 }", corners = "{ corners = [\"e\", \"f\"] }",
                    capsule = "{ capsule = { ends = [\"e\", \"f\"], radius = 0.1 } }";
  expect_refused({{pair(corners, sphere), "corners with sphere"},
                  {pair(corners, corners), "corners with corners"},
                  {pair(capsule, capsule), "capsule with capsule"},
                  {body_in_space("") + floor + "[[contact]]\nname = \"t\"\nbetween = [\"b\", \"floor\"]\n",
                   "has no shape"}},
                 time_alone);
}

}  // namespace
}  // namespace zwang::refused_mechanics_test
