// The bound of the audit: violations that the tolerances explain, and violations that they do not.
#include "src/reference/audit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/system_builder.h"

namespace zwang::audit_test {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// A pendulum whose rod is an equation, and a floor below it that it never reaches. `unit`: metres in the unit
// of length.
Mechanism pendulum(double unit) {
  SystemBuilder b;
  b.parameter("g", 9.81 / unit).parameter("L", 1 / unit).anchor("nail", {"0", "0"});
  b.point("bob", "1", {1 / unit, 0}).gravity({"0", "-g"});
  b.require("rod", "distance(bob, nail) == L").require("floor", "bob.y >= -2*L");
  return b.make();
}

IntegratorSettings settings_in(double unit) {
  IntegratorSettings settings;
  settings.rtol = 1e-8;
  settings.atol = 1e-8 / unit;
  return settings;
}

// The end of a sound motion of the pendulum, whose numbers a test may change before it is judged.
struct Ended {
  explicit Ended(double unit = 1, const IntegratorSettings& given = settings_in(1))
      : mechanism(pendulum(unit)), settings(given), member(*mechanism.equations, settings) {
    trajectory = mechanism.run(3, settings);
    const State& end = trajectory.last.state;
    member.t = end.t;
    member.y.setZero(5);
    member.y.head(2) = end.q;
    member.y.segment(2, 2) = end.v;
    member.conditions[0].standing = Standing::equation;
    member.conditions[1].standing = Standing::open;
    trajectory.audit.energy_share = trajectory.audit.condition_share = trajectory.audit.shock_share = 0;
  }
  Status judged() {
    judge_audit(member, mechanism.start, trajectory);
    return trajectory.status;
  }

  Mechanism mechanism;
  IntegratorSettings settings;
  MemberState member;
  Trajectory trajectory;
};

TEST(AuditTest, ASoundMotionUsesASmallShareAtEveryTolerance) {
  for (double rtol = 1e-4; rtol > 1e-13; rtol /= 10) {
    IntegratorSettings settings;
    settings.rtol = settings.atol = rtol;
    const Trajectory made = pendulum(1).run(10, settings);
    ASSERT_EQ(made.status, Status::ok) << made.cause;
    EXPECT_LT(made.audit.energy_share, 0.1) << rtol;
    EXPECT_LT(made.audit.condition_share, 0.1) << rtol;
    EXPECT_LT(made.audit.shock_share, 0.1) << rtol;
  }
}

TEST(AuditTest, TheShareDoesNotDependOnTheUnits) {
  Ended in_metres, in_millimetres(1e-3, settings_in(1e-3)), in_kilometres(1e3, settings_in(1e3));
  for (Ended* ended : {&in_metres, &in_millimetres, &in_kilometres}) {
    // A thousandth of the kinetic energy at the lowest point.
    ended->trajectory.audit.energy_drift = 1e-3 * ended->trajectory.audit.energy_size;
    EXPECT_EQ(ended->judged(), Status::inaccurate);
  }
  const double share = in_metres.trajectory.audit.energy_share;
  EXPECT_NEAR(in_millimetres.trajectory.audit.energy_share / share, 1, 0.05);
  EXPECT_NEAR(in_kilometres.trajectory.audit.energy_share / share, 1, 0.05);
}

TEST(AuditTest, AnEnergyLawThatIsOffIsInaccurateWithItsCause) {
  Ended ended;
  ended.trajectory.audit.energy_drift = 2.3;
  EXPECT_EQ(ended.judged(), Status::inaccurate);
  EXPECT_EQ(ended.trajectory.cause.find("the energy law is off by 2.3 where the tolerances explain "), 0u)
      << ended.trajectory.cause;
}

TEST(AuditTest, FixedStepsHaveNoToleranceToBeJudgedBy) {
  Ended ended;
  ended.settings.method = IntegratorSettings::Method::rk4;
  ended.trajectory.audit.energy_drift = 2.3;
  EXPECT_EQ(ended.judged(), Status::ok);
  ended.trajectory.audit.energy_drift = not_a_number;
  EXPECT_EQ(ended.judged(), Status::inaccurate);
}

TEST(AuditTest, ANumberThatIsNotOneIsInaccurate) {
  for (double Audit::*number : {&Audit::position_violation, &Audit::velocity_violation, &Audit::energy_drift,
                                &Audit::energy_size, &Audit::kkt, &Audit::carnot, &Audit::energy_created}) {
    Ended ended;
    raise_worst(ended.trajectory.audit.*number, not_a_number);
    raise_worst(ended.trajectory.audit.*number, 1e-12);  // NaN is kept
    EXPECT_EQ(ended.judged(), Status::inaccurate);
    EXPECT_FALSE(ended.trajectory.cause.empty());
  }
}

TEST(AuditTest, ARodThatIsTooLongAtTheEndIsInaccurate) {
  Ended ended;
  ended.member.y.head(2) *= 1 + 1e-5;
  EXPECT_EQ(ended.judged(), Status::inaccurate);
  EXPECT_EQ(ended.trajectory.cause.find("a constraint is violated by "), 0u) << ended.trajectory.cause;
}

TEST(AuditTest, AProjectionThatFailedOnTheWayIsInaccurate) {
  Ended ended;
  ended.trajectory.audit.velocity_violation = 1e-4;
  EXPECT_EQ(ended.judged(), Status::inaccurate);
}

TEST(AuditTest, AnOpenConditionAboveZeroIsAMissedContact) {
  Ended ended;
  ended.member.conditions[0].standing = Standing::absent;
  ended.member.y(1) = -2.1;
  ended.member.sizes = sizes_of(ended.member.state());
  Audit on_the_way;
  audit_open_conditions(ended.member, on_the_way);
  EXPECT_GT(on_the_way.condition_share, 1);
  EXPECT_EQ(ended.judged(), Status::inaccurate);
  // Within the tolerance it is the rounding of a contact.
  Ended touching;
  touching.member.conditions[0].standing = Standing::absent;
  touching.member.y(1) = -2 - 1e-9;
  EXPECT_EQ(touching.judged(), Status::ok) << touching.trajectory.cause;
}

TEST(AuditTest, ShocksAreJudgedByRounding) {
  for (double Audit::*number : {&Audit::kkt, &Audit::carnot, &Audit::energy_created}) {
    Ended sound, wrong;
    sound.trajectory.audit.*number = 1e-10;
    wrong.trajectory.audit.*number = 1e-5;
    EXPECT_EQ(sound.judged(), Status::ok);
    EXPECT_EQ(wrong.judged(), Status::inaccurate);
    EXPECT_EQ(wrong.trajectory.cause.find("a shock violates its laws by "), 0u) << wrong.trajectory.cause;
  }
}

TEST(AuditTest, AFailedMemberKeepsItsStatus) {
  Ended ended;
  ended.trajectory.status = Status::step_limit;
  ended.trajectory.audit.energy_drift = 2.3;
  EXPECT_EQ(ended.judged(), Status::step_limit);
}

// A large constant of the potential makes the law less sharp, but never a sound motion inaccurate; a particle
// without forces has no energy scale but its own; work that is done and undone leaves nothing behind.
TEST(AuditTest, SoundMotionsOfEveryScaleOfEnergyAreOk) {
  const auto run = [](const std::string& potential, const std::string& force, double position, double v) {
    SystemBuilder b;
    b.coordinate("x", position, v).kinetic("0.5*x'^2");
    if (!potential.empty()) b.potential(potential);
    if (!force.empty()) b.force("x", force);
    const Trajectory made = b.make().run(20);
    EXPECT_EQ(made.status, Status::ok) << potential << " " << force << ": " << made.cause;
    EXPECT_LT(made.audit.energy_share, 0.5) << potential << " " << force;
  };
  run("", "", 0, 1);
  run("", "", 0, 0);
  run("", "", 0, 1e-9);
  run("1e12 + 0.5*x^2", "", 1, 0);
  run("0.5*(x - 1000)^2", "", 1001, 0);
  run("0.5*(x - 1000)^2", "", 1000, 1);
  run("1e4*(x - 3)^2", "", 3.001, 0);
  run("-1/sqrt(x^2 + 1e-4)", "", 1, 0);
  run("", "cos(5*t)", 0, 0);
  run("0.5*x^2", "-0.3*x'", 1, 0);
  run("0.5*x^2", "-0.3*x' + cos(3*t)", 1, 0);
  run("0.5*x^2", "100*cos(30*t) - 10*x'", 0, 0);
}

}  // namespace
}  // namespace zwang::audit_test
