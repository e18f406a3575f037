// Laws of friction and of bounded multipliers that hold for every study, on random starts.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "host/backend/backend.h"
#include "host/check/check.h"
#include "host/run/backend_factory.h"
#include "src/base/error.h"
#include "tests/support/friction_cases.h"
#include "tests/support/study_runs.h"

namespace zwang::friction_laws_test {
namespace {

// A rod of two points over a floor and a wall, thrown at random; `keys` are those of both contacts.
std::string thrown_rod(unsigned seed, const std::string& keys) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> number(-2, 2);
  const auto text = [&](double x) { return std::to_string(x); };
  const double angle = number(random), spin = 2 * number(random), vx = number(random), vy = number(random);
  const double dx = std::cos(angle), dy = std::sin(angle);
  std::string study;
  for (const int end : {-1, 1})
    study += std::string("[[point]]\nname = \"") + (end < 0 ? "a" : "b") +
             "\"\nmass = 0.5\nposition = [\"2 + " + text(0.5 * end) + "*cos(" + text(angle) +
             ")\", \"1.5 + " + text(0.5 * end) + "*sin(" + text(angle) + ")\"]\nvelocity = [" +
             text(vx - 0.5 * end * spin * dy) + ", " + text(vy + 0.5 * end * spin * dx) + "]\n";
  study +=
      "[system]\ngravity = [0, -9.81]\n[[constraint]]\nname = \"rod\"\nrequire = \"distance(a, b) == 1\"\n";
  for (const char* end : {"a", "b"})
    for (const auto& [name, side] : {std::pair{"floor_", ".y >= 0"}, std::pair{"wall_", ".x >= 0"}})
      study += std::string("[[constraint]]\nname = \"") + name + end + "\"\nrequire = \"" + end + side +
               "\"\n" + keys;
  return study + R"toml([ensemble]
consistency = "project"
[time]
end = 1.5
samples = 301
[observe]
energy = "kinetic() + potential()"
)toml";
}

void expect_same_motion(const StudyRun& a, const StudyRun& b) {
  EXPECT_EQ(a.trajectory.status, b.trajectory.status);
  ASSERT_EQ(a.trajectory.events.size(), b.trajectory.events.size());
  for (std::size_t k = 0; k < a.trajectory.events.size(); ++k)
    EXPECT_EQ(a.trajectory.events[k].t, b.trajectory.events[k].t);
  EXPECT_EQ(a.trajectory.last.state.q, b.trajectory.last.state.q);
  EXPECT_EQ(a.trajectory.last.state.v, b.trajectory.last.state.v);
  EXPECT_EQ(a.trajectory.steps, b.trajectory.steps);
}

TEST(FrictionLaws, NoFrictionIsTheMotionWithoutTheKeyBitForBit) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    const std::string rebound = "restitution = 0.5\n";
    expect_same_motion(StudyRun(written(thrown_rod(seed, rebound))),
                       StudyRun(written(thrown_rod(seed, rebound + "friction = 0\n"))));
  }
}

TEST(FrictionLaws, ALimitThatIsNeverReachedChangesNoBit) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    const std::string plain = thrown_rod(seed, "restitution = 0.3\n");
    std::string bounded = plain;
    const std::string rod = "require = \"distance(a, b) == 1\"\n";
    bounded.insert(bounded.find(rod) + rod.size(), "limit = 1e9\nbreaks = true\nimpulse_limit = inf\n");
    expect_same_motion(StudyRun(written(plain)), StudyRun(written(bounded)));
  }
}

TEST(FrictionLaws, ALimitOfNothingIsNoCondition) {
  const auto brake = [](const std::string& constraint) {
    return "[[coordinate]]\nname = \"phi\"\nposition = 1\nvelocity = 0.5\n[system]\nkinetic = "
           "\"0.5*phi'^2\"\n"
           "potential = \"-cos(phi)\"\n" +
           constraint + "[time]\nend = 5\n";
  };
  const StudyRun free(written(brake("")));
  const StudyRun braked(
      written(brake("[[constraint]]\nname = \"b\"\nrequire = \"phi' == 0\"\nlimit = 1e-300\n")));
  EXPECT_NEAR(free.trajectory.last.state.q(0), braked.trajectory.last.state.q(0), 1e-11);
}

TEST(FrictionLaws, EnergyIsLostAndNeverMade) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    const std::string mu = std::to_string(0.1 * seed), e = std::to_string(0.1 * (seed % 4));
    std::string study = thrown_rod(seed, "restitution = " + e + "\nfriction = " + mu + "\n");
    study += "heat = \"dissipated()\"\n";
    const StudyRun run(written(study));
    const Trajectory& t = run.trajectory;
    if (t.status == Status::painleve || t.status == Status::ambiguous) continue;
    expect_sound(run, {.energy = 1e-10, .kkt = 1e-9});
    double heat = 0;
    for (const Sample& sample : t.samples) {
      EXPECT_GE(sample.observables[1], heat - 1e-12);
      heat = sample.observables[1];
    }
    double lost = 0;
    for (const Event& event : t.events)
      if (event.velocities_jump) {
        if (event.kind == EventKind::shock) {
          EXPECT_GE(event.energy_lost, -1e-10);
        }
        lost += event.energy_lost;
      }
    EXPECT_NEAR(t.samples.front().observables[0], t.last.observables[0] + heat + lost, 1e-8);
  }
}

TEST(FrictionLaws, InSlipTheForceHasItsSizeAndInStickTheSlipStaysAtRounding) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    const StudyRun run(written(thrown_rod(seed, "restitution = 0.2\nfriction = 0.3\n")));
    const System& system = run.system();
    const Equations equations(system, run.member.inputs.parameters);
    for (const Sample& sample : run.trajectory.samples)
      for (const Friction& friction : system.frictions) {
        if (sample.closed[friction.contact] < 0.5) continue;
        const double slip = equations.rate(friction.rows[0], sample.state);
        const double normal = sample.multipliers(static_cast<Eigen::Index>(friction.contact));
        const double along = sample.multipliers(static_cast<Eigen::Index>(friction.rows[0]));
        EXPECT_GE(normal, 0);
        if (sample.closed[friction.rows[0]] > 0.5) {
          EXPECT_LE(std::abs(slip), 1e-12);
          EXPECT_LE(std::abs(along), 0.3 * normal + 1e-8);
        } else {
          EXPECT_EQ(along, 0);  // the force of a slipping contact is drag lambda_N
          EXPECT_GE(slip * sample.state.modes(static_cast<Eigen::Index>(friction.first_mode)), -1e-12);
        }
      }
  }
}

// Property of isotropy: any turning of the pair of slip directions gives the same motion.
TEST(FrictionLaws, TurningTheSlipDirectionsChangesNothing) {
  const auto puck = [](double angle) {
    const std::string c = number_text(std::cos(angle)), s = number_text(std::sin(angle));
    return R"toml(
[[point]]
name = "p"
mass = 1
position = [0, 0, 0]
velocity = [-1, 2, 0]
[system]
gravity = [1.2, 0.4, -9.81]
[[constraint]]
name = "floor"
require = "p.z >= 0"
friction = 0.3
slip = [")toml" +
           c + "*p.x' + " + s + "*p.y'\", \"" + c + "*p.y' - " + s + R"toml(*p.x'"]
[time]
end = 1
)toml";
  };
  const StudyRun plain(written(puck(0)));
  for (const double angle : {0.5, 1.9, 4.0}) {
    const StudyRun turned(written(puck(angle)));
    for (Eigen::Index i = 0; i < 3; ++i)
      EXPECT_NEAR(plain.trajectory.last.state.q(i), turned.trajectory.last.state.q(i), 1e-10);
  }
}

TEST(FrictionLaws, DuplicatedAndRescaledRowsLeaveTheMotion) {
  const auto oscillator = [](const std::string& contacts) {
    return R"toml(
[[point]]
name = "p"
mass = 1
position = [3, 0]
velocity = [0, 0]
[system]
gravity = [0, -9.81]
[system.force]
"p.x" = "-4*p.x"
)toml" + contacts +
           "[time]\nend = 12\n";
  };
  const StudyRun once(written(
      oscillator("[[constraint]]\nname = \"f\"\nrequire = \"p.y >= 0\"\nfriction = 0.1\nslip = \"p.x'\"\n")));
  const StudyRun scaled(written(oscillator(
      "[[constraint]]\nname = \"f\"\nrequire = \"7*p.y >= 0\"\nfriction = 0.1\nslip = \"7*p.x'\"\n")));
  const StudyRun twice(written(
      oscillator("[[constraint]]\nname = \"f\"\nrequire = \"p.y >= 0\"\nfriction = 0.1\nslip = \"p.x'\"\n"
                 "[[constraint]]\nname = \"g\"\nrequire = \"p.y >= 0\"\nfriction = 0.1\nslip = \"p.x'\"\n")));
  EXPECT_NEAR(once.trajectory.last.state.q(0), 0.057, 1e-10);
  EXPECT_NEAR(scaled.trajectory.last.state.q(0), 0.057, 1e-10);
  EXPECT_NEAR(twice.trajectory.last.state.q(0), 0.057, 1e-10);
  EXPECT_TRUE(twice.trajectory.redundant);
}

// mu so large that nothing slips gives the motion of the equation slip == 0.
TEST(FrictionLaws, LargeFrictionIsTheEquationOfRolling) {
  const auto disc = [](const std::string& rolling) {
    return R"toml(
[[coordinate]]
name = "x"
position = 0
velocity = 0
[[coordinate]]
name = "y"
position = 1
velocity = 0
[[coordinate]]
name = "phi"
position = 0
velocity = 0
[system]
kinetic = "0.5*(x'^2 + y'^2) + 0.25*phi'^2"
potential = "9.81*y + 2*x^2"
[system.force]
x = "cos(3*t)"
)toml" + rolling +
           "[time]\nend = 4\n";
  };
  const StudyRun rubs(written(
      disc("[[constraint]]\nname = \"f\"\nrequire = \"y >= 1\"\nfriction = 50\nslip = \"x' + phi'\"\n")));
  const StudyRun rolls(
      written(disc("[[constraint]]\nname = \"f\"\nrequire = \"y >= 1\"\n"
                   "[[constraint]]\nname = \"r\"\nrequire = \"x' + phi' == 0\"\n")));
  EXPECT_NEAR(rubs.trajectory.last.state.q(0), rolls.trajectory.last.state.q(0), 1e-10);
}

TEST(FrictionLaws, ABlockBelowItsThresholdDoesNotMoveAtAll) {
  const StudyRun run(written(R"toml(
[[point]]
name = "p"
mass = 1
position = [0.3, 0]
velocity = [0, 0]
[system]
gravity = [-3, -9]
[[constraint]]
name = "slope"
require = "p.y >= 0"
friction = 0.4
[time]
end = 1e4
)toml"));
  expect_sound(run);
  EXPECT_EQ(run.trajectory.last.state.q(0), 0.3);
  EXPECT_EQ(run.trajectory.last.state.v(0), 0);
  EXPECT_TRUE(run.trajectory.events.empty());
}

// A box sticks with forces that are not unique; it slides when no admissible forces are left, at tan(alpha) = mu, and
// not when one choice of forces leaves its cones.
TEST(FrictionLaws, AnIndeterminateStickEndsAtTheThresholdOfTheWhole) {
  const double g = 9.81, mu = 0.4;
  const StudyRun run(written(
      "[parameters]\nmu = 0.4\na = 0.3\nb = 0.2\ng = 9.81\n[[coordinate]]\nname = \"x\"\nposition = "
      "0\nvelocity = 0\n"
      "[[coordinate]]\nname = \"y\"\nposition = \"b\"\nvelocity = 0\n[[coordinate]]\nname = "
      "\"phi\"\nposition = 0\n"
      "velocity = 0\n[system]\nkinetic = \"0.5*(x'^2 + y'^2) + (a^2 + b^2)/6*phi'^2\"\n"
      "potential = \"g*y\"\n[system.force]\nx = \"t\"\n"
      "[[constraint]]\nname = \"left\"\nrequire = \"y - a*sin(phi) - b*cos(phi) >= 0\"\nfriction = \"mu\"\n"
      "slip = \"x' + (a*sin(phi) + b*cos(phi))*phi'\"\n"
      "[[constraint]]\nname = \"right\"\nrequire = \"y + a*sin(phi) - b*cos(phi) >= 0\"\nfriction = \"mu\"\n"
      "slip = \"x' + (b*cos(phi) - a*sin(phi))*phi'\"\n[time]\nend = 5\n"));
  EXPECT_TRUE(run.trajectory.redundant);
  const std::vector<Event> slides = run.events(EventKind::slide);
  ASSERT_EQ(slides.size(), 1u);
  EXPECT_NEAR(slides[0].t, mu * g, 1e-9);
  EXPECT_EQ(slides[0].constraints.size(), 2u);
  // From then on x'' = t - mu g.
  const double rest = 5 - mu * g;
  EXPECT_NEAR(run.trajectory.last.state.v(0), 0.5 * rest * rest, 1e-9);
}

TEST(FrictionLaws, ReversalLeavesOutMembersThatSlip) {
  const Study study = written(thrown_rod(3, "restitution = 1\nfriction = 0.3\n"));
  const auto backend = make_backend("reference", study, {.threads = 1});
  CheckOptions options;
  options.sample = 1;
  const CheckReport report = check_reverse(study, *backend, options);
  EXPECT_NE(report.verdict(), CheckVerdict::disagree) << report.verdict_text();
  EXPECT_EQ(report.left_out.size(), 1u);
}

}  // namespace
}  // namespace zwang::friction_laws_test
