// Properties of every system, tested on random and on chosen ones written as studies.
#include <fmt/format.h>

#include <random>

#include "src/system/mass_metric.h"
#include "tests/support/study_runs.h"

namespace zwang::properties_test {
namespace {

// Two motions of some thousands of steps of rtol 1e-13 each.
constexpr double integrated = 1e-11;

// Gives the same numbers with every standard library.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }
  Eigen::VectorXd vector(Eigen::Index size) {
    Eigen::VectorXd made(size);
    for (double& entry : made) entry = between(-1, 1);
    return made;
  }

 private:
  std::mt19937_64 engine_;
};

// --- Random systems: points in a plane, curved and moving conditions that are all closed at the start ---

struct RandomCondition {
  std::string left;  // f, with f = f' = 0 at the start
  bool equation = false;
};

struct RandomSystem {
  std::string points;
  std::vector<RandomCondition> conditions;
};

RandomSystem random_system(Dice& dice, int points, int equations, int inequalities) {
  RandomSystem made;
  made.points = "title = \"Random\"\n";
  std::string forces = "[system.force]\n";
  std::vector<std::string> offset, path;  // of each coordinate: from its start, and from its uniform motion
  for (int i = 0; i < points; ++i) {
    Eigen::VectorXd q = 2 * dice.vector(2), v = dice.vector(2), force = 5 * dice.vector(2);
    made.points +=
        fmt::format("[[point]]\nname = \"p{}\"\nmass = {}\nposition = [{}, {}]\nvelocity = [{}, {}]\n", i,
                    dice.between(0.5, 3), q(0), q(1), v(0), v(1));
    for (const int axis : {0, 1}) {
      const std::string name = fmt::format("p{}.{}", i, axis == 0 ? "x" : "y");
      forces += fmt::format("\"{}\" = {}\n", name, force(axis));
      offset.push_back(fmt::format("({} - ({}))", name, q(axis)));
      path.push_back(fmt::format("({} - ({}) - ({})*t)", name, q(axis), v(axis)));
    }
  }
  made.points += forces;

  // f = sum a_k (x_k - v_k t) + sum b_k x_k^2 with x counted from the start.
  const auto coordinates = static_cast<Eigen::Index>(offset.size());
  for (int c = 0; c < equations + inequalities; ++c) {
    const Eigen::VectorXd a = dice.vector(coordinates), b = dice.vector(coordinates);
    std::string f = "0";
    for (std::size_t k = 0; k < offset.size(); ++k)
      f += fmt::format(" + ({})*{} + ({})*{}^2", a(static_cast<Eigen::Index>(k)), path[k],
                       b(static_cast<Eigen::Index>(k)), offset[k]);
    made.conditions.push_back({f, c < equations});
  }
  return made;
}

// The study with its conditions in the given order, each multiplied by a factor; a number may come twice.
Study study_of(const RandomSystem& system, const std::vector<std::size_t>& order,
               const std::vector<double>& factors) {
  std::string text = system.points;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const RandomCondition& condition = system.conditions[order[k]];
    text += fmt::format("[[constraint]]\nname = \"c{}\"\nrequire = \"{}*({}) {} 0\"\n", k, factors[k],
                        condition.left, condition.equation ? "==" : "<=");
  }
  return written(text + "[time]\nat = [0]\n");
}

Study study_of(const RandomSystem& system) {
  std::vector<std::size_t> order(system.conditions.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  return study_of(system, order, std::vector<double>(order.size(), 1));
}

TEST(Properties, NoAdmissibleAccelerationHasLessConstraint) {
  Dice dice(1);
  int compared = 0;
  for (int trial = 0; trial < 100; ++trial) {
    SCOPED_TRACE(trial);
    const int equations = trial % 3, inequalities = (trial / 3) % 4;
    const Study study = study_of(random_system(dice, 3, equations, inequalities));
    const Explanation found = explained(study);
    ASSERT_EQ(status_name(found.status), std::string("ok"));
    ASSERT_EQ(found.rows.size(), study.system->constraints.size());
    const PreparedMember member = prepare_member(study, 0);
    const Equations numbers(*study.system, member.inputs.parameters);
    const auto constraint = [&](const Eigen::VectorXd& a) {
      const Eigen::VectorXd off = a - found.free_acceleration;
      return 0.5 * off.dot(found.mass * off);
    };
    EXPECT_NEAR(constraint(found.acceleration), found.constraint, algebra * (1 + found.constraint));

    Eigen::MatrixXd rows(static_cast<Eigen::Index>(found.rows.size()), 6);
    Eigen::VectorXd rest(rows.rows());
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      const Row row = numbers.row(static_cast<std::size_t>(i), member.start);
      rows.row(i) = row.a;
      rest(i) = row.rest;
    }
    const Eigen::MatrixXd held = rows.topRows(equations);
    const MassMetric metric(found.mass);
    for (int nudge = 0; nudge < 50; ++nudge) {
      // u satisfies the equations; it is used if the inequalities admit it.
      Eigen::VectorXd u = dice.vector(6);
      if (equations > 0) u += metric.smallest_change(held, -held * u).x;
      const Eigen::VectorXd second = rows * (found.acceleration + u) + rest;
      if (inequalities > 0 && second.tail(inequalities).maxCoeff() > 0) continue;
      ++compared;
      const double gain = constraint(found.acceleration + u) - constraint(found.acceleration);
      const double least = 0.5 * u.dot(found.mass * u);
      const double rounding = 1e-13 * (1 + found.constraint);
      EXPECT_GE(gain, least - rounding);
      if (inequalities == 0) {
        EXPECT_NEAR(gain, least, rounding);
      }
    }
  }
  EXPECT_GT(compared, 500);
}

TEST(Properties, AccelerationsDoNotDependOnOrderDuplicationOrScaleOfConditions) {
  Dice dice(2);
  for (int trial = 0; trial < 60; ++trial) {
    SCOPED_TRACE(trial);
    const RandomSystem system = random_system(dice, 3, trial % 3, 1 + trial % 4);
    const Explanation plain = explained(study_of(system));
    ASSERT_EQ(status_name(plain.status), std::string("ok"));

    // Backwards, every second one twice, each with a factor of its own.
    std::vector<std::size_t> order;
    std::vector<double> factors;
    for (std::size_t k = system.conditions.size(); k-- > 0;)
      for (std::size_t copy = 0; copy <= k % 2; ++copy) {
        order.push_back(k);
        factors.push_back(std::pow(10, dice.between(-3, 3)));
      }
    const Explanation other = explained(study_of(system, order, factors));
    ASSERT_EQ(status_name(other.status), std::string("ok"));
    // Rows of six random numbers can be nearly dependent: the solve may lose two or three digits.
    const double rounding = 1e-12 * (1 + plain.acceleration.cwiseAbs().maxCoeff());
    EXPECT_LE((other.acceleration - plain.acceleration).cwiseAbs().maxCoeff(), rounding);
    // Multipliers of copies add up, each weighed by its factor.
    Eigen::VectorXd sums = Eigen::VectorXd::Zero(plain.multipliers.size());
    for (std::size_t k = 0; k < order.size(); ++k)
      sums(static_cast<Eigen::Index>(order[k])) +=
          factors[k] * other.multipliers(static_cast<Eigen::Index>(k));
    EXPECT_LE((sums - plain.multipliers).cwiseAbs().maxCoeff(),
              1e-11 * (1 + plain.multipliers.cwiseAbs().maxCoeff()));
  }
}

// --- Chosen motions ---

TEST(Properties, ReversedVelocitiesRetraceSmoothPhases) {
  struct Phase {
    const char* name;
    Overrides numbers;
    double duration;
  };
  const Phase phases[] = {
      {"cart", {}, 4},
      {"knife_edge", {}, 3},
      {"contact_element", {}, 5},
      {"linear_complex", {}, 6},
      {"two_points_kepler", {}, 8},
      {"small_oscillations", {}, 10},
      {"complete_system", {}, 2},
      {"point_in_sphere", {}, 2},
      {"string_pendulum", {}, 1.5},  // until just before the string slackens
      {"ostrogradsky", {}, 1.25},    // until just before a wall is left
      {"sphere_slide", {}, 2.8},     // until just before it leaves
      {"chain_jerk", {}, 2},         // after the shock at the start
  };
  for (const Phase& phase : phases) {
    SCOPED_TRACE(phase.name);
    const StudyRun run(sampled(config(phase.name, phase.numbers), {0, phase.duration}));
    expect_sound(run);
    const Equations equations(run.system(), run.member.inputs.parameters);
    State turned = run.trajectory.last.state;
    turned.t = 0;
    turned.v = -turned.v;
    const Trajectory back = simulate(equations, run.study.integrator, {{}, phase.duration}, turned);
    ASSERT_EQ(status_name(back.status), std::string("ok"));
    // No event within; events at the ends change velocities by rounding only.
    for (const Event& event : back.events) {
      if (event.velocities_jump) {
        EXPECT_LE((event.velocity_after - event.velocity_before).norm(), integrated);
      }
      EXPECT_NE(event.kind, EventKind::release);
    }
    const State& start = run.at(0).state;
    EXPECT_LE((back.last.state.q - start.q).cwiseAbs().maxCoeff(), 10 * integrated);
    EXPECT_LE((back.last.state.v + start.v).cwiseAbs().maxCoeff(), 10 * integrated);
  }
}

TEST(Properties, TheKineticEnergyGrowsByTheWorkOfTheForces) {
  const StudyRun run(written(R"toml(
title = "A skate under forces without a potential"
[[coordinate]]
name = "x"
position = 0
velocity = 1
[[coordinate]]
name = "y"
position = 0
velocity = 0
[[coordinate]]
name = "phi"
position = 0
velocity = 1.3
[system]
kinetic = "0.5*(x'^2 + y'^2) + 0.1*phi'^2 + 0.2*x'*phi'*cos(phi)"
[system.force]
x = "y - 0.2*x'"
y = "sin(t) - 0.2*y' + x*phi'"
phi = "0.3*x - 0.1*phi'"
[[constraint]]
name = "blade"
require = "y'*cos(phi) - x'*sin(phi) == 0"
[time]
at = [0, 1, 2, 5]
[measure]
before = "initial(kinetic())"
after  = "final(kinetic())"
work   = "integral((y - 0.2*x')*x' + (sin(t) - 0.2*y' + x*phi')*y' + (0.3*x - 0.1*phi')*phi')"
)toml"));
  expect_sound(run);
  EXPECT_GT(std::abs(run.measure("work")), 0.1);
  EXPECT_NEAR(run.measure("after") - run.measure("before"), run.measure("work"),
              integrated * run.trajectory.audit.energy_size);
}

// --- A condition on positions, given as such or as its derivative ---

struct Disguise {
  const char* what;
  std::string surface, rates;
};

TEST(Properties, AConditionOnPositionsAndItsDerivativeGiveTheSameMotion) {
  const Disguise disguises[] = {
      {"a sphere", "p.x^2 + p.y^2 + p.z^2 == 1", "p.x*p.x' + p.y*p.y' + p.z*p.z' == 0"},
      {"a turning plane", "p.y*cos(t) == p.z*sin(t)",
       "p.y'*cos(t) - p.y*sin(t) - p.z'*sin(t) - p.z*cos(t) == 0"},
      {"a wavy surface", "p.z == 0.3*sin(2*p.x)*cos(p.y)",
       "p.z' == 0.6*cos(2*p.x)*cos(p.y)*p.x' - 0.3*sin(2*p.x)*sin(p.y)*p.y'"},
  };
  const char* const text = R"toml(
title = "A surface"
[[point]]
name = "p"
mass = 1.5
position = [1, 0, 0]
velocity = [0, 0.6, 0.4]
[system]
gravity = [0.2, 0.1, -1]
[[constraint]]
name = "surface"
require = "p.x == 0"
[ensemble]
consistency = "project"
[time]
at = [0, 1, 2, 3]
)toml";
  for (const Disguise& disguise : disguises) {
    SCOPED_TRACE(disguise.what);
    const StudyRun surface(written(text, {"constraint.0.require=" + disguise.surface}));
    expect_sound(surface);
    // The same start for both: moved onto the surface where the numbers above are off it.
    Study rates = written(text, {"constraint.0.require=" + disguise.rates});
    const Equations equations(*rates.system, surface.member.inputs.parameters);
    const Trajectory other = simulate(equations, rates.integrator, study_plan(rates), surface.member.start);
    ASSERT_EQ(status_name(other.status), std::string("ok"));
    for (std::size_t k = 0; k < 4; ++k) {
      const State &one = surface.trajectory.samples[k].state, &two = other.samples[k].state;
      EXPECT_LE((one.q - two.q).cwiseAbs().maxCoeff(), integrated) << "positions at t = " << one.t;
      EXPECT_LE((one.v - two.v).cwiseAbs().maxCoeff(), integrated) << "velocities at t = " << one.t;
    }
  }
}

}  // namespace
}  // namespace zwang::properties_test
