// Impacts with friction, by the law itself: energy, cones, and bounded impulses.
#include "src/laws/friction_shock.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "host/study_file/load_study.h"
#include "src/laws/friction_modes.h"
#include "src/system/equations.h"

namespace zwang::friction_shock_test {
namespace {

// A rod of mass 1, half length 1, one end on the floor y >= 0, or a box with two corners on it.
Study rod_or_box(bool box) {
  std::string text = R"toml(
[parameters]
mu = { uniform = [0, 1] }
e = { uniform = [0, 1] }
et = { uniform = [0, 1] }
[[coordinate]]
name = "x"
position = 0
velocity = 0
[[coordinate]]
name = "y"
position = 0.5
velocity = 0
[[coordinate]]
name = "phi"
position = 0
velocity = 0
[system]
kinetic = "0.5*(x'^2 + y'^2) + phi'^2/6"
)toml";
  const std::string keys = "friction = \"mu\"\nrestitution = \"e\"\nrestitution_tangential = \"et\"\n";
  if (box)
    text +=
        "[[constraint]]\nname = \"l\"\nrequire = \"y - 0.3*sin(phi) - 0.5*cos(phi) >= 0\"\nslip = \"x' + "
        "(0.3*sin(phi) + 0.5*cos(phi))*phi'\"\n" +
        keys +
        "[[constraint]]\nname = \"r\"\nrequire = \"y + 0.3*sin(phi) - 0.5*cos(phi) >= 0\"\nslip = \"x' + "
        "(0.5*cos(phi) - 0.3*sin(phi))*phi'\"\n" +
        keys;
  else
    text += "[[constraint]]\nname = \"l\"\nrequire = \"y - sin(phi) >= 0\"\nslip = \"x' + sin(phi)*phi'\"\n" +
            keys;
  return read_study(text + "[time]\nend = 1\n[ensemble]\nconsistency = \"project\"\n", "written.toml", {});
}

TEST(FrictionShock, NoEnergyIsMadeInRandomImpacts) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> number(-1, 1), fraction(0, 1);
  for (const bool box : {false, true}) {
    const Study study = rod_or_box(box);
    const System& system = *study.system;
    int capped = 0, refused = 0;
    for (int trial = 0; trial < 3000; ++trial) {
      const double mu = 1.3 * fraction(random), e = fraction(random), et = trial % 3 ? 0 : fraction(random);
      const Equations equations(system, {mu, e, et});
      const double phi = box ? 0 : 1.4 * number(random);
      State state{0, Eigen::Vector3d(0, box ? 0.5 : std::sin(phi), phi),
                  Eigen::Vector3d(3 * number(random), 3 * number(random), 3 * number(random)),
                  Eigen::VectorXd(0)};
      ShockParticipants parts;
      for (std::size_t i = 0; i < system.constraints.size(); ++i)
        if (!system.constraints[i].slip_of) parts.contacts.push_back(i);
      const std::vector<double> restitution(system.constraints.size(), e);
      const FrictionShock shock = friction_shock(equations, state, sizes_of(state), state.v, parts, {},
                                                 restitution, study.integrator.rest_speed);
      if (shock.status == Status::ambiguous) {
        ++refused;
        continue;
      }
      ASSERT_EQ(shock.status, Status::ok) << trial << (box ? " box" : " rod") << " mu " << mu << " e " << e;
      capped += shock.theta < 1;
      const double before = equations.kinetic(state);
      EXPECT_GE(shock.energy_lost, -1e-12 * before) << trial;
      EXPECT_LE(shock.kkt, 1e-9) << trial;
      for (const Friction& friction : system.frictions) {
        const double normal = shock.impulses(static_cast<Eigen::Index>(friction.contact));
        EXPECT_GE(normal, -1e-12);
        EXPECT_LE(shock.impulses(static_cast<Eigen::Index>(friction.rows[0])), mu * normal + 1e-10);
      }
      State after = state;
      after.v = shock.v;
      for (const std::size_t i : parts.contacts) EXPECT_LE(equations.rate(i, after), 1e-10);
    }
    EXPECT_GT(capped, 0);  // the cap is needed
    EXPECT_LT(refused, 60);
  }
}

TEST(FrictionShock, ABoundedRowTransmitsNoMoreThanItsImpulseLimit) {
  for (const double limit : {0.5, 5.0}) {
    const Study study = read_study(R"toml(
[[coordinate]]
name = "a"
position = 0
velocity = 2
[[coordinate]]
name = "b"
position = 0
velocity = 2
[system]
kinetic = "0.5*a'^2 + 0.5*b'^2"
[[constraint]]
name = "wall"
require = "a <= 0"
[[constraint]]
name = "link"
require = "a' - b' == 0"
limit = 1
impulse_limit = )toml" + std::to_string(limit) +
                                       "\n[time]\nend = 1\n",
                                   "written.toml", {});
    const Equations equations(*study.system, {});
    const State state{0, Eigen::Vector2d(0, 0), Eigen::Vector2d(2, 2), Eigen::VectorXd(0)};
    ShockParticipants parts;
    parts.contacts = {0};
    const FrictionShock shock =
        friction_shock(equations, state, sizes_of(state), state.v, parts, {1}, {0, 0}, 1e-12);
    ASSERT_EQ(shock.status, Status::ok);
    EXPECT_NEAR(shock.v(0), 0, 1e-14);
    EXPECT_NEAR(shock.v(1), limit < 2 ? 2 - limit : 0, 1e-14);
    EXPECT_NEAR(std::abs(shock.impulses(1)), std::min(limit, 2.0), 1e-14);
  }
}

}  // namespace
}  // namespace zwang::friction_shock_test
