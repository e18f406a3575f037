// Links of several rows that break where the size of their force or torque reaches its bound: closed forms of the time,
// and of the motion before and after it, on the reference and on the cpu.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "host/backend/batch.h"
#include "host/check/check.h"
#include "host/run/backend_factory.h"
#include "src/analysis/explain.h"
#include "src/base/error.h"
#include "src/base/index.h"
#include "tests/support/study_runs.h"

namespace zwang::breaking_link_test {
namespace {

// Times are located, and steps integrated, at the finest tolerance.
constexpr double located = 1e-10;
constexpr double g = 9.81;

// A measure of member 0.
class OnReference {
 public:
  explicit OnReference(const std::string& text) : run_(written(text)) {
    EXPECT_EQ(run_.trajectory.status, Status::ok) << run_.trajectory.cause;
  }
  double operator()(const std::string& measure) const { return run_.measure(measure); }

 private:
  StudyRun run_;
};

// The same on the cpu, which must agree with the reference in events and states.
class OnCpu {
 public:
  explicit OnCpu(const std::string& text) : study_(written(text)) {
    const auto cpu = make_backend("cpu", study_, {.threads = 1});
    const CheckReport report = check(study_, *cpu, {.sample = 1, .threads = 1});
    EXPECT_EQ(report.verdict(), CheckVerdict::pass) << report.verdict_text();
    const std::vector<unsigned long long> first = {0};
    results_ = cpu->run(prepare_batch(study_, first, 1), {});
  }
  double operator()(const std::string& measure) const {
    return results_.measures[number_of(names_of(study_.system->measures), measure)];
  }

 private:
  Study study_;
  BatchResults results_;
};

// A rod of length 1 and mass 2, turned about one end by the torque 3: J = 2/3 about that end. Its centre, at l = 1/2,
// needs the force m l sqrt(w^4 + (tau/J)^2) with w = tau t/J.
std::string driven_rod(double limit) {
  return R"toml(
[[body]]
name = "rod"
mass = 2
inertia = "2/12"
position = [0.5, 0]
points = { end = [-0.5, 0] }
[[anchor]]
name = "o"
position = [0, 0]
[[link]]
name = "pin"
type = "hinge"
between = ["rod.end", "o"]
limit = )toml" +
         number_text(limit) + R"toml(
breaks = true
[system.force]
"rod.angle" = 3
[time]
end = 2
samples = 9
[measure]
when = "first(breaks(pin))"
times = "count(breaks(pin.2))"
gone = "final(broken(pin))"
held = "final(holding(pin))"
force = "maximum(reaction(pin))"
x = "final(rod.x)"
y = "final(rod.y)"
angle = "final(rod.angle)"
)toml";
}

template <class Measures>
void expect_rod_flies_off(double limit) {
  SCOPED_TRACE(limit);
  const Measures found(driven_rod(limit));
  const double tau = 3, I = 1.0 / 6, J = 2.0 / 3, l = 0.5;
  const double w = std::pow(limit * limit - (tau / J) * (tau / J), 0.25), t = J * w / tau, left = 2 - t;
  const double phi = tau / J * t * t / 2;
  EXPECT_NEAR(found("when"), t, located);
  EXPECT_EQ(found("times"), 1);
  EXPECT_EQ(found("gone"), 1);
  EXPECT_EQ(found("held"), 0);
  EXPECT_NEAR(found("force"), limit, 1e-8);
  EXPECT_NEAR(found("x"), l * std::cos(phi) - l * w * std::sin(phi) * left, 10 * located);
  EXPECT_NEAR(found("y"), l * std::sin(phi) + l * w * std::cos(phi) * left, 10 * located);
  EXPECT_NEAR(found("angle"), phi + w * left + tau / I * left * left / 2, 10 * located);
}

TEST(BreakingLinks, AHingeInThePlaneBreaksByTheSizeOfItsForce) {
  for (const double limit : {20.0, 50.0}) expect_rod_flies_off<OnReference>(limit);
}
TEST(BreakingLinksOnCpu, AHingeInThePlaneBreaksByTheSizeOfItsForce) { expect_rod_flies_off<OnCpu>(50); }

// A bob of finite size on a ball joint, let go at theta0. With kappa = m l^2/J the force is m g times
// sqrt((c + 2 kappa (c - c0))^2 + ((1 - kappa) sin(theta))^2), c = cos(theta); the time is an elliptic integral.
std::string bob(double limit) {
  return R"toml(
[[body]]
name = "bob"
mass = 1
inertia = [0.4, 0.5, 0.3]
position = ["-0.8*sin(2)", 0, "-0.8*cos(2)"]
orientation = { axis = [0, 1, 0], angle = 2 }
points = { top = [0, 0, 0.8] }
[[anchor]]
name = "o"
position = [0, 0, 0]
[[link]]
name = "joint"
type = "ball"
between = ["bob.top", "o"]
limit = )toml" +
         number_text(limit) + R"toml(
breaks = true
[system]
gravity = [0, 0, -9.81]
[time]
end = 1.5
samples = 7
[measure]
when = "first(breaks(joint))"
x = "final(bob.x)"
z = "final(bob.z)"
spin = "final(bob.wy)"
turned = "final(bob.q2)"
)toml";
}

template <class Measures>
void expect_bob_flies_off(double limit) {
  const Measures found(bob(limit));
  const double l = 0.8, J = 0.5 + l * l, kappa = l * l / J, theta0 = 2, c0 = std::cos(theta0);
  // (A c - B)^2 + D (1 - c^2) = (limit/mg)^2
  const double A = 1 + 2 * kappa, B = 2 * kappa * c0, D = (1 - kappa) * (1 - kappa), f = limit / g;
  const double a = A * A - D, b = -2 * A * B, rest = B * B + D - f * f;
  const double c = (-b + std::sqrt(b * b - 4 * a * rest)) / (2 * a), theta = std::acos(c);
  const double w = std::sqrt(2 * g * l * (c - c0) / J), k = std::sin(theta0 / 2);
  const double phi = std::asin(std::sin(theta / 2) / k);
  const double t = std::sqrt(J / (g * l)) * (std::comp_ellint_1(k) - std::ellint_1(k, phi)), left = 1.5 - t;
  EXPECT_NEAR(found("when"), t, located);
  EXPECT_NEAR(found("x"), -l * std::sin(theta) + l * w * c * left, 10 * located);
  EXPECT_NEAR(found("z"), -l * c - l * w * std::sin(theta) * left - g * left * left / 2, 10 * located);
  EXPECT_NEAR(found("spin"), -w, 10 * located);
  EXPECT_NEAR(std::abs(found("turned")), std::abs(std::sin((theta - w * left) / 2)), 10 * located);
}

TEST(BreakingLinks, ABallJointLetsItsBobFlyAtATension) {
  for (const double limit : {12.0, 20.0}) expect_bob_flies_off<OnReference>(limit);
}
TEST(BreakingLinksOnCpu, ABallJointLetsItsBobFlyAtATension) { expect_bob_flies_off<OnCpu>(20); }

// The study's pin breaks in members that start with a force of the swing above what it bears, and at the time of the
// closed form.
TEST(BreakingLinks, TheWreckingBallFliesWhenItsPinBreaks) {
  const double m = 500, l = 4, J = 130 + m * l * l, kappa = m * l * l / J, c0 = std::cos(2.0);
  const double most = m * g * (1 + 2 * kappa * (1 - c0));
  int broken = 0;
  for (const double bears : {9000.0, 15000.0, 0.999 * most, 1.001 * most}) {
    SCOPED_TRACE(bears);
    const StudyRun run(config("breaking_pin", {"parameters.bears=" + number_text(bears)}));
    EXPECT_EQ(run.measure("breaks"), bears < most ? 1 : 0);
    if (bears > most) continue;
    ++broken;
    const double A = 1 + 2 * kappa, B = 2 * kappa * c0, D = (1 - kappa) * (1 - kappa), f = bears / (m * g);
    const double a = A * A - D, b = -2 * A * B, rest = B * B + D - f * f;
    const double theta = std::acos((-b + std::sqrt(b * b - 4 * a * rest)) / (2 * a)), k = std::sin(1.0);
    const double t = std::sqrt(J / (m * g * l)) *
                     (std::comp_ellint_1(k) - std::ellint_1(k, std::asin(std::sin(theta / 2) / k)));
    EXPECT_NEAR(run.measure("at"), t, 1e-9);
  }
  EXPECT_EQ(broken, 3);
}

// A body welded to a wall and pushed across by the force 2 t at its centre, an arm of 1/2 from the weld: the force of
// the weld is 2 t, its torque t.
std::string welded(const std::string& keys, bool space) {
  const std::string body =
      space ? "inertia = [1, 2, 3]\nposition = [0.5, 0, 0]\npoints = { p = [-0.5, 0, 0] }\n"
            : "inertia = 1\nposition = [0.5, 0]\npoints = { p = [-0.5, 0] }\n";
  return "[[body]]\nname = \"box\"\nmass = 2\n" + body +
         "[[anchor]]\nname = \"wall\"\nposition = " + (space ? "[0, 0, 0]" : "[0, 0]") +
         "\n[[link]]\nname = \"weld\"\ntype = \"weld\"\nbetween = [\"box.p\", \"wall\"]\nbreaks = true\n" +
         keys +
         "[system.force]\n\"box.y\" = \"2*t\"\n[time]\nend = 2\nsamples = 5\n[measure]\n"
         "when = \"first(breaks(weld))\"\ny = \"final(box.y)\"\nx = \"final(box.x)\"\n";
}

template <class Measures>
void expect_weld_breaks(const std::string& keys, bool space, double t) {
  SCOPED_TRACE(keys);
  const Measures found(welded(keys, space));
  EXPECT_NEAR(found("when"), t, located);
  // y'' = t from then on.
  EXPECT_NEAR(found("y"), 8.0 / 6 - t * t + t * t * t / 3, 10 * located);
  EXPECT_NEAR(found("x"), 0.5, located);
}

TEST(BreakingLinks, AWeldBreaksByItsForceOrByItsTorque) {
  for (const bool space : {false, true}) {
    expect_weld_breaks<OnReference>("limit = 2.4\n", space, 1.2);
    expect_weld_breaks<OnReference>("limit_torque = 1.5\n", space, 1.5);
    expect_weld_breaks<OnReference>("limit = 2.4\nlimit_torque = 1.5\n", space, 1.2);
    expect_weld_breaks<OnReference>("limit = 3.4\nlimit_torque = 1.5\n", space, 1.5);
  }
}
TEST(BreakingLinksOnCpu, AWeldBreaksByItsForceOrByItsTorque) {
  expect_weld_breaks<OnCpu>("limit = 3.4\nlimit_torque = 1.5\n", true, 1.5);
}

// A rod that hangs at rest and gets the momentum p across at its centre: J = 2/3, w = p l/J if the pin bears it.
std::string struck_rod(const std::string& keys) {
  return R"toml(
[[body]]
name = "rod"
mass = 2
inertia = "2/12"
position = [0, -0.5]
points = { end = [0, 0.5] }
[[anchor]]
name = "o"
position = [0, 0]
[[link]]
name = "pin"
type = "hinge"
between = ["rod.end", "o"]
breaks = true
)toml" + keys +
         R"toml(
[[impulse]]
at = 0.5
on = "rod"
momentum = [4, 0]
[system]
gravity = [0, -9.81]
[time]
end = 1
samples = 5
[measure]
when = "first(breaks(pin))"
x = "final(rod.x)"
y = "final(rod.y)"
spin = "final(rod.angle')"
)toml";
}

template <class Measures>
void expect_struck_rod_flies(const std::string& keys, double speed, double spin) {
  SCOPED_TRACE(keys);
  const Measures found(struck_rod(keys));
  EXPECT_NEAR(found("when"), 0.5, located);
  EXPECT_NEAR(found("x"), 0.5 * speed, located);
  EXPECT_NEAR(found("y"), -0.5 - g / 8, located);
  EXPECT_NEAR(found("spin"), spin, located);
}

TEST(BreakingLinks, AnImpulseBreaksALinkThatDoesNotBearIt) {
  expect_struck_rod_flies<OnReference>("limit = 1000\n", 2, 0);
  expect_struck_rod_flies<OnReference>("limit = 1000\nimpulse_limit = 0\n", 2, 0);
}

// The pin bears the impulse, w = 3, and cannot bear m g + m l w^2 = 28.6 afterwards.
TEST(BreakingLinks, ALinkOverloadedAfterAnImpulseBreaksAtThatInstant) {
  expect_struck_rod_flies<OnReference>("limit = 28\nimpulse_limit = inf\n", 1.5, 3);
}
TEST(BreakingLinksOnCpu, ALinkOverloadedAfterAnImpulseBreaksAtThatInstant) {
  expect_struck_rod_flies<OnCpu>("limit = 28\nimpulse_limit = inf\n", 1.5, 3);
}
TEST(BreakingLinksOnCpu, AnImpulseBreaksALinkThatDoesNotBearIt) {
  expect_struck_rod_flies<OnCpu>("limit = 1000\n", 2, 0);
}

TEST(BreakingLinks, ALinkThatIsNeverOverloadedChangesNoBit) {
  const std::string keys = "limit = 29\nimpulse_limit = inf\n", all = struck_rod(keys);
  const auto without = [](std::string text, const std::string& part) {
    return text.erase(text.find(part), part.size());
  };
  std::string plain = without(without(all, "breaks = true\n"), keys);
  plain = without(plain, "when = \"first(breaks(pin))\"\n");
  const StudyRun bounded(written(all)), free(written(plain));
  EXPECT_TRUE(std::isnan(bounded.measure("when")));
  EXPECT_EQ(bounded.trajectory.last.state.q, free.trajectory.last.state.q);
  EXPECT_EQ(bounded.trajectory.last.state.v, free.trajectory.last.state.v);
}

// At the start the pin bears the weight 2 g > 19: it breaks there. Imposed later, it does so when it is imposed.
TEST(BreakingLinks, ALinkOverloadedFromTheStartBreaksThere) {
  const OnReference start(struck_rod("limit = 19\nimpulse_limit = inf\n"));
  EXPECT_EQ(start("when"), 0);
  EXPECT_NEAR(start("y"), -0.5 - g / 2, located);
}

TEST(BreakingLinks, ExplainListsTheForceOfTheLinkBesideItsBound) {
  const StudyRun run(written(driven_rod(50)));
  const Equations equations(run.system(), run.member.inputs.parameters);
  const auto bounds_at = [&](double t) { return explain(equations, run.at(t), 1e-10).friction->bounds; };
  const auto holding = bounds_at(1);
  ASSERT_EQ(holding.size(), 1u);
  EXPECT_EQ(holding[0].name, "pin");
  EXPECT_EQ(holding[0].mode, "holds");
  EXPECT_EQ(holding[0].limit, 50);
  EXPECT_NEAR(holding[0].multiplier, std::hypot(4.5 * 4.5, 4.5), 1e-8);
  EXPECT_EQ(bounds_at(2)[0].mode, "broken");
  EXPECT_EQ(bounds_at(2)[0].multiplier, 0);
}

}  // namespace
}  // namespace zwang::breaking_link_test
