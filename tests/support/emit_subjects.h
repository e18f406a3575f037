// Systems for the tests of emitted models: every study in configs/, and some made to be difficult.
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "host/sample/member.h"
#include "host/study_file/load_study.h"
#include "tests/support/emitted_models.h"
#include "tests/support/system_builder.h"

namespace zwang {

// A system with parameters and a state at which its formulas are defined.
struct Subject {
  std::string name;
  std::shared_ptr<const System> system;
  std::vector<double> parameters;
  State start;
  double end = 1;
};

inline Subject subject(const std::string& name, const SystemBuilder& builder) {
  Mechanism mechanism = builder.make();
  Subject made{name, std::move(mechanism.system), mechanism.equations->parameters(), mechanism.start};
  return made;
}

// Features the studies do not have: a coupled mass matrix, every function of the language, times that depend
// on parameters, conditions nonlinear in v, kinks, periodic functions.
inline std::vector<Subject> awkward_systems() {
  std::vector<Subject> made;
  SystemBuilder pendulum;
  pendulum.parameter("m", 1.7).parameter("late", 0.3).coordinate("a", 0.4, 1.1).coordinate("b", -0.9, 0.5);
  pendulum.point("p", "m", {0.2, 0.1}, {1, 2}).auxiliary("w", 0.7, "a'*w - sqrt(1 + w^2)");
  pendulum.kinetic("0.5*a'^2 + 0.5*m*(a'^2 + b'^2 + 2*a'*b'*cos(a - b))").gravity({"0", "-9.81*cos(t)"});
  pendulum.potential("-9.81*((1 + m)*cos(a) + m*cos(b))").force("b", "-0.1*b'^3 + w").force("p.x", "p.y'");
  pendulum.require("tie", "sin(a) + sin(b) - p.x*p.y == 3").require("couple", "a'*p.x' + b' <= 9", "m/4");
  pendulum.require("late", "p.x + b == 1", "0", "late", "late*m").require("rod", "norm(p) >= m*(2 + cos(t))");
  pendulum.impulse("late*2", "p", {"m*b", "t"}).impulse("1", "a", {"2"}, true).watch("up", "w*a - t", 1);
  pendulum.watch("turn", "wrap(a, 1 + m)", -1)
      .stop("sin(3*t*b) > 0.99")
      .observe("r", "reaction(tie) + closed(rod)");
  pendulum.measure("integral(abs(a)*multiplier(tie))").measure("mean(max(a, b, w))").measure("maximum(p.x)");
  pendulum.measure("at(event(turn), a*multiplier(couple))").measure("count(event(up))");
  made.push_back(subject("coupled", pendulum));

  SystemBuilder zoo;  // every function, every kind of exponent
  zoo.parameter("c", 0.6).parameter("n", 2.3).coordinate("x", 0.4, 0.3).coordinate("y", 0.7, -0.2);
  zoo.kinetic("0.5*(2 + sin(x))*x'^2 + y'^2/(1 + x^2)");
  zoo.potential("x^3 + x^-2 + (x^2 + y^2)^(-1.5) + (1 + x^2)^0.5 + (c + 1)^x + (2 + x)^n + x^12 - (-y)^7/c");
  zoo.force("x", "tan(x)*asin(c*y) + acos(y/3)*atan(x) + sinh(x)*cosh(y) - tanh(x*y)*exp(-y) + log(2 + x)");
  zoo.force("y",
            "hypot(x, y)*atan2(y, x) + sign(x' - y) * floor(10*x) + abs(y - 1)*min(x, y, c) + wrap(7*x, 1)");
  zoo.require("curve", "max(x, y^2) + hypot(x, 2*y)/c <= 4").require("square", "x'^2 - y'^2 + x*y' <= c");
  zoo.observe("all", "x/y + y/x + 2/y - c/y + 1e-300*x - 123456789012345678*y").measure("minimum(x - y)");
  zoo.measure("integral(floor(7*x*y) + c*wrap(9*x, c)^2 - sign(x - 2*y)*abs(x - 2*y))");
  zoo.measure("mean(sqrt(max(x - y, c, y)) + min(x, max(y, floor(3*y) + t)))");
  made.push_back(subject("zoo", zoo));

  SystemBuilder disks;  // any two rows can be active at once, some of them dependent
  for (int i = 0; i < 3; ++i) disks.point("d" + std::to_string(i), "1.5", {0.3 * i, 0.2 * i * i}, {0.1, 0.4});
  for (int i = 0; i < 3; ++i) {
    const std::string d = "d" + std::to_string(i);
    disks.require("left" + d, d + ".x >= 0.1", "0.5").require("right" + d, d + ".x <= 2");
    for (int j = 0; j < i; ++j)
      disks.require(d + std::to_string(j), "distance(" + d + ", d" + std::to_string(j) + ") >= 0.2");
  }
  made.push_back(subject("disks", disks));

  SystemBuilder crowd;  // too large for an unrolled solution
  for (int i = 0; i < 12; ++i) crowd.point("d" + std::to_string(i), "1", {0.3 * i, 0.2 * i * i}, {0.1, 0.4});
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < i; ++j) {
      const std::string a = "d" + std::to_string(i), b = "d" + std::to_string(j);
      crowd.require(a + b, "distance(" + a + ", " + b + ") >= 0.2", "1");
    }
  made.push_back(subject("crowd", crowd));

  SystemBuilder dense;  // the divergence with any conditions held, some of them nonlinear in v, one dependent
  dense.parameter("m", 1.4).coordinate("a", 0.4, 1.1).coordinate("b", -0.9, 0.5).coordinate("c", 0.3, -0.7);
  dense.auxiliary("w", 0.7, "a'*w - w^2*sin(b)").kinetic("a'^2 + m*b'^2*(1 + a^2) + 0.3*a'*b'*cos(b) + c'^2");
  dense.force("a", "-0.3*a'^3 + w*b'").force("b", "sin(b')*c'").force("c", "-exp(c')/9");
  dense.require("tie", "a*b + c^2 == 3").require("wall", "c <= 2*a").require("same", "2*c <= 4*a");
  dense.require("cone", "a'^2 + b'^2 <= 4*c'^2").require("blade", "sin(a)*b' + t*c' == 0", "0", "m/2", "m");
  dense.density();
  made.push_back(subject("dense", dense));

  SystemBuilder
      geodetic;  // general conditions, one nonlinear in v and dependent on time, beside special ones
  geodetic.coordinate("x", 0.4, 1.1).coordinate("y", -0.9, 0.5).coordinate("z", 0.3, -0.7);
  geodetic.coordinate("u", 0.2, 0.8).kinetic("x'^2 + 2*y'^2 + z'^2*(2 + sin(x)) + u'^2");
  geodetic.potential("x*y + z^2").force("u", "-0.2*u'");
  geodetic.require("blade", "cos(z)*y' - sin(z + t)*x' == 0").varied_generally(0.6);
  geodetic.require("surface", "u*x == 1 + 0.1*z^2").require("square", "0.1*x'^2 - t*z'*u' == 1");
  geodetic.varied_generally(-0.3).density();
  made.push_back(subject("geodetic", geodetic));

  SystemBuilder bare;  // one free coordinate
  bare.coordinate("x", 1, 1).kinetic("x'^2");
  made.push_back(subject("bare", bare));
  return made;
}

// Systems whose formulas are loops: a chain of rods with different masses, lengths and drag; a rope over a
// floor, with springs, a velocity limit, strings tied later, measures and observables of every knot; a tree;
// a net with loops.
inline std::vector<Subject> long_systems() {
  std::vector<Subject> made;
  const auto name = [](const char* letter, int i) { return letter + std::to_string(i); };
  SystemBuilder chain;
  chain.parameter("g", 9.81).parameter("c", 0.2).anchor("p0", {"0", "0.1*t"}).gravity({"0", "-g"});
  for (int i = 1; i <= 20; ++i) {
    chain.parameter(name("m", i), 0.5 + 0.1 * i)
        .point(name("p", i), name("m", i), {1.1 * i, 0.1}, {0.1 * i, 0.3});
    chain.force(name("p", i) + ".x", "-c*" + name("p", i) + ".x'");
    const std::string length = i % 3 == 0 ? "1" : i % 3 == 1 ? "1 + 0.1*sin(t)" : "0.05*" + std::to_string(i);
    chain.require(name("rod", i), "distance(" + name("p", i - 1) + ", " + name("p", i) + ") == " + length);
  }
  made.push_back(subject("chain", chain));

  SystemBuilder rope;
  rope.parameter("L", 1).parameter("s", 3).anchor("p0", {"0", "0"}).gravity({"0", "-9.81"});
  std::string springs = "0", sum = "0";
  for (int i = 1; i <= 18; ++i) {
    const std::string p = name("p", i), before = name("p", i - 1);
    rope.point(p, "0.1", {0.6 * i, -0.2 * (i % 3)}, {0.1, 0.02 * i}).observe(name("height", i), p + ".y");
    rope.require(name("string", i), "distance(" + before + ", " + p + ") <= L", i % 4 == 0 ? "0.3" : "0",
                 i % 5 == 0 ? "0.2" : "", i % 5 == 0 ? "0.7*L" : "");
    if (i % 2 == 0) rope.require(name("floor", i), p + ".y >= -3", "0.5");
    if (i > 1) springs += " + 0.5*s*(" + p + ".x - " + before + ".x)^2";
    sum += " + " + p + ".x'^2";
    rope.measure("maximum(" + p + ".y)")
        .measure("integral(reaction(" + name("string", i) + ")*max(" + p + ".y, -0.1))");
  }
  rope.require("slow", "p3.x' + p4.y' <= 2")
      .potential(springs)
      .stop(sum + " > 1000")
      .watch("low", "p9.y + 0.5");
  made.push_back(subject("rope", rope));

  SystemBuilder tree;
  tree.anchor("p0", {"0", "0", "0"}).gravity({"0", "0", "-9.81"});
  for (int i = 1; i <= 24; ++i) {
    tree.point(name("p", i), std::to_string(1 + i % 2), {0.3 * i, 0.1 * (i % 4), -0.2 * i},
               {0.1, 0.2, 0.01 * i});
    tree.require(name("rod", i), "distance(" + name("p", i / 3) + ", " + name("p", i) + ") == 1.5");
  }
  made.push_back(subject("tree", tree));

  SystemBuilder net;  // four by five knots: elimination fills in, and rows may become dependent
  for (int i = 0; i < 20; ++i) {
    net.point(name("p", i), "0.2", {1.0 * (i % 4) + 0.01 * i, 0.9 * (i / 4), 0.3 * (i % 3)},
              {0.1, 0, 0.02 * i});
    if (i % 4 > 0)
      net.require(name("across", i), "distance(" + name("p", i - 1) + ", " + name("p", i) + ") <= 1");
    if (i >= 4)
      net.require(name("along", i), "distance(" + name("p", i - 4) + ", " + name("p", i) + ") == 1");
  }
  made.push_back(subject("net", net));
  return made;
}

inline std::vector<Subject> configured_systems() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(ZWANG_SOURCE_DIR) + "/configs"))
    if (entry.path().extension() == ".toml") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  std::vector<Subject> made;
  for (const std::string& path : paths) {
    const Study study = load_study(path);
    const PreparedMember member = prepare_member(study, 0);
    made.push_back({study.name, study.system, member.inputs.parameters, member.start, study.time.end});
  }
  return made;
}

// A state near the start, random multipliers, random conditions held; equations without from and until
// always.
inline CallPoint random_point(const Subject& made, Dice& dice) {
  CallPoint at{made.parameters, made.start, {}, {}};
  at.state.t = dice.between(0, made.end);
  for (Eigen::VectorXd* x : {&at.state.q, &at.state.v, &at.state.z})
    for (double& value : *x) value += dice.between(-0.2, 0.2);
  for (const Constraint& constraint : made.system->constraints) {
    const bool always = constraint.equation && !constraint.from && !constraint.until;
    at.held.push_back(always || dice.chance(0.5) ? 1 : 0);
    at.lambda.push_back(at.held.back() * dice.between(-1, 2));
  }
  return at;
}

}  // namespace zwang
