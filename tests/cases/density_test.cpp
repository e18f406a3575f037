// Jacobi's multiplier (Voss 1884, (11)): the log-density along the flow, against closed forms, against the
// determinant of the flow by differences, and against an ensemble.
#include "host/backend/batch.h"
#include "host/run/backend_factory.h"
#include "host/sample/start_density.h"
#include "src/laws/least_constraint.h"
#include "tests/support/study_runs.h"

namespace zwang::density_test {
namespace {

// Some thousands of steps of rtol 1e-13.
constexpr double integrated = 1e-11;

double log_density(const StudyRun& run, double t) { return run.observable("rho", t); }

// --- Closed forms ---

TEST(Density, ContactElementsCompressTheEnsembleByTheRootOfTheirDeterminant) {
  const StudyRun run(config("phase_density"));
  expect_sound(run);
  EXPECT_NEAR(run.observable("log_density", 2), 0.7325527707720901989, integrated);
  EXPECT_LE(run.measure("worst"), integrated);
  EXPECT_LE(StudyRun(config("phase_density"), 5).measure("worst"), integrated);
}

TEST(Density, TheLinearComplexKeepsIt) {
  const Study study =
      config("linear_complex", {"parameters.g=-1", "parameters.v2=1", "observe.rho=\"logdensity()\""});
  const StudyRun run(sampled(study, {0, 2}));
  expect_sound(run);
  EXPECT_NEAR(log_density(run, 2), 0, integrated);
}

TEST(Density, FreeCartesianPointsKeepItWhateverThePotential) {
  const StudyRun planet(written(R"toml(
title = "A planet and its moon"
[[point]]
name = "a"
mass = 2
position = [1, 0, 0]
velocity = [0, 1, 0.1]
[[point]]
name = "b"
mass = 0.3
position = [1.2, 0, 0]
velocity = [0, 2, 0]
[system]
potential = "-2/norm(a) - 0.3/norm(b) - 0.6/distance(a, b)"
[time]
at = [0, 3]
[observe]
rho = "logdensity()"
)toml"));
  expect_sound(planet, {.energy = 1e-9});
  EXPECT_EQ(log_density(planet, 3), 0);
}

// --- Position conditions: log det Phi + log det M, up to a constant ---

const char* const chain = R"toml(
title = "A double pendulum hung from a rotating hook, one link in polar coordinates"
[parameters]
stiff = 3
[[anchor]]
name = "hook"
position = ["0.3*cos(t)", "0.2*sin(2*t)"]
[[point]]
name = "a"
mass = 1.5
position = [1.3, 0]
velocity = [0, 1.4]
[[point]]
name = "b"
mass = 0.7
position = [1.3, -0.8]
velocity = [0.4, 1.4]
[[coordinate]]
name = "r"
position = 1
velocity = 0.1
[[coordinate]]
name = "phi"
position = 0.3
velocity = 1
[system]
kinetic = "0.5*(r'^2 + r^2*phi'^2) + 0.2*sin(phi)*r'*a.x'"
potential = "9.81*(1.5*a.y + 0.7*b.y) + stiff*(r - 1)^2 + r*cos(phi)*b.x"
[[constraint]]
name = "upper"
require = "distance(a, hook) == 1"
[[constraint]]
name = "lower"
require = "distance(a, b) == 0.8"
[[constraint]]
name = "spiral"
require = "r^2 + 0.5*b.x*phi == 1.195"
[ensemble]
consistency = "project"
[time]
at = [0, 0.5, 1, 2]
[observe]
rho = "logdensity()"
)toml";

TEST(Density, UnderPositionConditionsItIsTheDeterminantsOfPhiAndM) {
  const Study study = written(chain);
  const StudyRun run(study);
  expect_sound(run, {.energy = 1e-10});
  const auto determinants = [&](double t) {
    const Explanation at = explained(study, t);
    return std::log(at.phi.determinant()) + std::log(at.mass.determinant());
  };
  const double start = determinants(0);
  double range = 0;
  for (const double t : {0.5, 1.0, 2.0}) {
    EXPECT_NEAR(log_density(run, t), determinants(t) - start, 1e-9) << t;
    range = std::max(range, std::abs(log_density(run, t)));
  }
  EXPECT_GT(range, 0.05) << "a test that could not fail";
}

// --- The determinant of the flow by differences ---

// The flow in all of (q, v, z), also off the conditions: classical Runge-Kutta on the accelerations, no
// projection.
class FullFlow {
 public:
  FullFlow(const Study& study, double end)
      : equations_(*study.system, prepare_member(study, 0).inputs.parameters), end_(end) {
    for (std::size_t i = 0; i < study.system->constraints.size(); ++i) all_.push_back(i);
    start_ = pack(prepare_member(study, 0).start);
  }

  double log_determinant() const {
    const Eigen::Index size = start_.size();
    const double step = 1e-4;
    Eigen::MatrixXd flow(size, size);
    for (Eigen::Index i = 0; i < size; ++i) {
      const auto moved = [&](double by) {
        Eigen::VectorXd y = start_;
        y(i) += by;
        return run(y);
      };
      // Fourth order in the step.
      flow.col(i) = (8 * (moved(step) - moved(-step)) - (moved(2 * step) - moved(-2 * step))) / (12 * step);
    }
    return std::log(std::abs(flow.determinant()));
  }

 private:
  // The states behind logdensity() are left out.
  Eigen::Index nz() const {
    const System& system = equations_.system();
    return static_cast<Eigen::Index>(system.auxiliaries.size()) - (system.density ? 2 : 0);
  }
  Eigen::Index n() const { return static_cast<Eigen::Index>(equations_.size()); }
  Eigen::VectorXd pack(const State& state) const {
    Eigen::VectorXd y(2 * n() + nz());
    y << state.q, state.v, state.z.head(nz());
    return y;
  }
  Eigen::VectorXd rate(double t, const Eigen::VectorXd& y) const {
    State state{t, y.head(n()), y.segment(n(), n()), Eigen::VectorXd::Zero(nz() + 2)};
    state.z.head(nz()) = y.tail(nz());
    const Accelerations made = constrained_acceleration(equations_, state, all_);
    Eigen::VectorXd out(y.size());
    out << state.v, made.a, made.dynamics.rates.head(nz());
    return out;
  }
  Eigen::VectorXd run(Eigen::VectorXd y) const {
    const int steps = 1000;
    const double h = end_ / steps;
    for (int i = 0; i < steps; ++i) {
      const double t = i * h;
      const Eigen::VectorXd k1 = rate(t, y), k2 = rate(t + h / 2, y + h / 2 * k1),
                            k3 = rate(t + h / 2, y + h / 2 * k2), k4 = rate(t + h, y + h * k3);
      y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    return y;
  }

  Equations equations_;
  double end_;
  std::vector<std::size_t> all_;
  Eigen::VectorXd start_;
};

void expect_flow(const Study& study, double end, bool changes) {
  const StudyRun run(sampled(study, {0, end}));
  expect_sound(run, {.energy = 1e-10});
  EXPECT_NEAR(log_density(run, end), -FullFlow(study, end).log_determinant(), 1e-6);
  EXPECT_EQ(std::abs(log_density(run, end)) > 1e-3, changes);
}

TEST(Density, IsTheInverseDeterminantOfTheFlow) {
  const std::string rho = "observe.rho=\"logdensity()\"";
  expect_flow(config("linear_complex", {rho, "parameters.k=1"}), 1, false);
  expect_flow(config("cart", {rho}), 1, false);
  expect_flow(config("cart", {rho, "system.force.x=\"-0.3*x'*abs(y + 1)\"", "system.force.w=\"-0.2*w'\""}), 1,
              true);
  expect_flow(
      config("contact_element", {rho, "point.0.position=[0, 0.5, 0]", "point.0.velocity=[1, 0.8, 0.5]"}), 1,
      true);
}

TEST(Density, CoversConditionsNotLinearInTheVelocities) {
  const std::string rho = "observe.rho=\"logdensity()\"", theta = "parameters.theta=0.4";
  expect_flow(config("appell_hamel", {rho, theta}), 0.7, false);
  expect_flow(config("appell_hamel", {rho, theta, "system.force.x=\"-0.3*x'*abs(z' - 1)\""}), 0.7, true);
}

TEST(Density, CoversTheMultipliersOfGeneralConditions) {
  const std::string rho = "observe.rho=\"logdensity()\"";
  expect_flow(config("complex_geodesic", {rho, "parameters.rho0=1", "parameters.x0=0.4"}), 0.5, true);
  expect_flow(config("cart_geodetic", {rho}), 0.3, false);
}

// --- Shocks ---

const char* const ball = R"toml(
title = "A ball that bounces with drag"
[parameters]
e = 1
[[point]]
name = "p"
mass = 1
position = [{ normal = { mean = 0, std = 0.1 } }, { normal = { mean = 1, std = 0.05 } }]
velocity = [{ normal = { mean = 1, std = 0.1 } }, { normal = { mean = 0, std = 0.2 } }]
[system]
gravity = [0, -9.81]
[system.force]
"p.x" = "-0.2*p.x'"
"p.y" = "-0.2*p.y'"
[[constraint]]
name = "floor"
require = "p.y >= 0.05*sin(3*t)"
restitution = "e"
[ensemble]
members = 20
[time]
at = [0, 0.2, 1]
[observe]
rho = "logdensity()"
[measure]
last = "final(logdensity())"
most = "maximum(logdensity())"
)toml";

TEST(Density, PassesAnElasticReflectionUnchanged) {
  const Study study = written(ball);
  const StudyRun run(study);
  EXPECT_GE(run.events(EventKind::shock).size(), 1u);
  EXPECT_NEAR(log_density(run, 1), 0.4, integrated) << "two coordinates with a drag of 0.2 for one second";
  // The flow of neighbours through the bounce gives the same.
  Eigen::MatrixXd flow(4, 4);
  const double step = 1e-5;
  for (Eigen::Index i = 0; i < 4; ++i) {
    const auto moved = [&](double by) {
      PreparedMember member = run.member;
      (i < 2 ? member.start.q(i) : member.start.v(i - 2)) += by;
      const State last = replay_member(study, member, study_plan(study)).last.state;
      Eigen::VectorXd y(4);
      y << last.q, last.v;
      return y;
    };
    flow.col(i) = (moved(step) - moved(-step)) / (2 * step);
  }
  EXPECT_NEAR(std::log(std::abs(flow.determinant())), -log_density(run, 1), 1e-6);
}

TEST(Density, IsMissingAfterAnInelasticShock) {
  for (const char* e : {"0", "0.5"}) {
    const StudyRun run(written(ball, {std::string("parameters.e=") + e}));
    EXPECT_EQ(status_name(run.trajectory.status), std::string("ok"));
    EXPECT_NEAR(log_density(run, 0.2), 0.08, integrated) << "before the shock";
    EXPECT_TRUE(std::isnan(log_density(run, 1)));
    EXPECT_TRUE(std::isnan(run.measure("last")));
    EXPECT_GT(run.measure("most"), 0.08) << "the maximum is over the time in which it was defined";
  }
}

TEST(Density, IsMissingAfterAConditionHasClosedWithoutAShock) {
  // The clutch locks at pi: whatever the speeds before, all stand still then.
  const StudyRun run(sampled(config("oneway_clutch", {"observe.rho=\"logdensity()\""}), {0, 3, 4}));
  EXPECT_EQ(log_density(run, 3), 0);
  EXPECT_TRUE(std::isnan(log_density(run, 4)));
}

// --- Ensembles, on the kernels ---

struct Transported {
  std::vector<double> x, v, log_density;
};

// A damped Duffing oscillator whose starts are drawn from a density: each member's own log-density at the
// end.
Transported transported(const Study& study, std::size_t count) {
  std::vector<unsigned long long> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = i;
  const Batch batch = prepare_batch(study, numbers, 2);
  const BatchResults results = make_backend("cpu", study, {.threads = 2})->run(batch, {});
  StartDensity start(study);
  EXPECT_EQ(start.why_unknown(), "");
  Transported made;
  const std::size_t width = study.parameters.size();
  for (std::size_t k = 0; k < count; ++k) {
    EXPECT_EQ(results.status[k], Status::ok);
    made.x.push_back(results.end_state[4 * k]);
    made.v.push_back(results.end_state[4 * k + 1]);
    made.log_density.push_back(start.log_at({batch.parameters.data() + k * width, width}) +
                               results.end_state[4 * k + 2]);
  }
  return made;
}

TEST(Density, AgreesWithTheCountOfMembersRoundAbout) {
  const Study study = written(R"toml(
title = "A damped Duffing oscillator"
[parameters]
early = { normal = { mean = 0.1, std = 0.3 } }
[[coordinate]]
name = "x"
position = "early"
velocity = { normal = { mean = "0.3*early", std = 0.3 } }
[system]
kinetic = "0.5*x'^2"
potential = "0.5*x^2 + 0.25*x^4"
[system.force]
x = "-0.3*x'"
[ensemble]
members = 40000
[time]
at = [2]
[integrator]
rtol = 1e-8
[observe]
rho = "logdensity()"
)toml");
  const std::size_t count = 40000;
  const Transported made = transported(study, count);
  // Members within a small box about some of them, against the density there times the box.
  const double half = 0.03, area = 4 * half * half;
  double chi = 0;
  int boxes = 0;
  for (std::size_t k = 0; k < 400; ++k) {
    double expected = 0, found = 0;
    for (std::size_t j = 0; j < count; ++j)
      if (std::abs(made.x[j] - made.x[k]) < half && std::abs(made.v[j] - made.v[k]) < half) {
        found += 1;
        expected += std::exp(-made.log_density[j]);  // each member found represents the area 1/(N rho)
      }
    // sum over members in the box of 1/(N rho) estimates the area of the box, without bias where rho > 0 in
    // it all.
    if (found < 60) continue;
    const double estimate = expected / static_cast<double>(count);
    chi += (estimate / area - 1) * (estimate / area - 1) * found;
    ++boxes;
  }
  ASSERT_GT(boxes, 50);
  // chi/boxes is about 1; a density off by a tenth would make it two and more.
  EXPECT_LT(chi / boxes, 1.5);
  EXPECT_GT(chi / boxes, 0.5);
}

}  // namespace
}  // namespace zwang::density_test
