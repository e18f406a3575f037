// Known answers for Voss 1884 (Math. Ann. 25) and Maurer 1905 (Goett. Nachr.): motion under conditions on
// velocities. Closed forms, and integrations in 30 digits and more where there is none.
#include "tests/support/study_runs.h"

namespace zwang::voss_test {
namespace {

// Some thousands of steps of rtol 1e-13, positions of order 1 to 20.
constexpr double integrated = 1e-11;

// --- A point in a field of plane elements ---

TEST(Voss, AFreePointInAFieldOfPlaneElementsFollowsTheClosedForm) {
  const StudyRun run(config("contact_element"));
  expect_sound(run);
  expect_near(run.at(5).state.q, {3.927586026114564926709, 4, 5.855823048033113530915}, integrated, "q(5)");
  expect_near(run.at(5).state.v, {0.3638034375544994602784, 0.8, 1.455213750217997841113}, integrated,
              "v(5)");
  EXPECT_NEAR(run.observable("speed_squared", 5), 2.89, integrated);
  EXPECT_NEAR(run.observable("mu", 5), 0.01712016176727056283663, integrated);
  EXPECT_NEAR(run.observable("curvature_radius", 5), 40.94166666666666666667, 100 * integrated)
      << "a quotient of order 40 by a number of order 0.1";
}

TEST(Voss, TheEnergyIsKeptAndReversedVelocitiesRetraceThePath) {
  const StudyRun straight(config("energy_reversal", {"parameters.turn=0"}));
  expect_sound(straight);
  EXPECT_NEAR(straight.observable("energy", 0), 0.92, algebra);
  EXPECT_NEAR(straight.observable("energy", 8), 0.92, integrated);
  expect_near(straight.at(4).state.q,
              {-1.0523261254374089732, 0.23990652696822822856, -0.33040779446531180272}, integrated, "q(4)");
  expect_near(straight.at(4).state.v,
              {0.19560225604969084210, 0.48849412610812306334, 0.11447600890061339010}, integrated, "v(4)");

  const StudyRun turned(config("energy_reversal"));
  expect_sound(turned);
  const std::vector<Event> turns = turned.events(EventKind::impulse);
  ASSERT_EQ(turns.size(), 1u);
  EXPECT_NEAR((turns[0].velocity_after + turns[0].velocity_before).cwiseAbs().maxCoeff(), 0, algebra);
  expect_near(turned.at(8).state.q, {0.5, 0.3, -0.2}, integrated, "back at the start");
  expect_near(turned.at(8).state.v, {-1, -0.5, 0.2}, integrated, "with the opposite velocity");
}

// --- Equation (8): small oscillations ---

TEST(Voss, FlutterGrowsAndTheStableCaseDoesNot) {
  const StudyRun flutter(config("small_oscillations"));
  expect_sound(flutter);
  expect_near(flutter.at(10).state.q,
              {-0.21200794969608101636, 0.24719385161551397471, -0.098955429318549518629}, integrated,
              "q(10)");
  expect_near(flutter.at(10).state.v,
              {0.19275942026383528665, 0.22949761594475914740, -0.048152131273389007683}, integrated,
              "v(10)");

  const StudyRun stable(config("small_oscillations", {"parameters.k2=4"}));
  expect_sound(stable);
  expect_near(stable.at(10).state.q,
              {-0.068477801901936766341, 0.042269369619033845285, -0.0033311835064497636492}, integrated,
              "q(10)");
  expect_near(stable.at(10).state.v,
              {0.084838783232140076197, -0.011534094257673083010, -0.0013981262323866079876}, integrated,
              "v(10)");
}

// --- Equation (11): the divergence behind Jacobi's multiplier ---

TEST(Voss, TheContactElementsContractPhaseVolume) {
  const Overrides start = {"point.0.position=[0, 0.5, 0]", "point.0.velocity=[1, 0.8, 0.5]"};
  const Study study = sampled(config("contact_element", start), {0, 2});
  // div = -(Delta' + A)/Delta with Delta = 5/4, Delta' = 4/5, A = -2/5
  EXPECT_NEAR(explained(study).divergence, -0.32, algebra);
  const StudyRun run(study);
  expect_sound(run);
  expect_near(run.at(2).state.q, {1.406306491052554504, 2.1, 1.688100905986460836}, integrated, "q(2)");
  expect_near(run.at(2).state.v, {0.4806803557835801606, 0.8, 1.009428747145518337}, integrated, "v(2)");
}

TEST(Voss, TheLinearComplexKeepsPhaseVolume) {
  const Overrides start = {"parameters.g=-1", "parameters.v1=0.2", "parameters.v2=1"};
  const Study study = sampled(config("linear_complex", start), {0, 2});
  EXPECT_NEAR(explained(study).divergence, 0, algebra);
  EXPECT_NEAR(explained(study, 1.3).divergence, 0, algebra);
  const StudyRun run(study);
  expect_sound(run);
  expect_near(run.at(2).state.q, {1.643377452166725582, 1.384387265216618273, 2.273642036769823930},
              integrated, "q(2)");
  expect_near(run.at(2).state.v, {0.4744287898174764660, 0.4672333452813458885, 0.2220951393206962838},
              integrated, "v(2)");
}

// --- Equation (13) and after: the linear complex x2 x1' - x1 x2' + a x3' = 0, a = 1/2 ---

TEST(Voss, UnderGravityThePointSpiralsOutInTheComplex) {
  const StudyRun run(config("linear_complex"));
  expect_sound(run);
  expect_near(run.at(6).state.q, {-0.17305564112288803920, 5.5588069122097370308, 19.922838538847146582},
              integrated, "q(6)");
  expect_near(run.at(6).state.v, {-0.59455810400161415998, 1.1155446737969215782, 6.2239647990186784758},
              integrated, "v(6)");
  EXPECT_NEAR(run.observable("energy", 0), 0.245, algebra);
  EXPECT_NEAR(run.observable("energy", 6), 0.245, integrated);
  // The multiplier of the condition as written is Voss's lambda with the opposite sign.
  EXPECT_NEAR(run.multiplier("complex", 6), 0.016035775151299819467, integrated);
}

TEST(Voss, WithoutForcesThePointRunsAlongARayOfTheComplex) {
  const StudyRun run(config("linear_complex", {"parameters.g=0"}));
  expect_sound(run);
  expect_near(run.at(6).state.q, {2.2, 1.8, 3.6}, integrated, "q(6)");
  for (const double t : {0.0, 2.0, 6.0}) EXPECT_NEAR(run.multiplier("complex", t), 0, algebra);
}

TEST(Voss, AForceThroughTheAxisLeavesTheMultiplierAtZero) {
  const StudyRun elastic(
      config("linear_complex", {"parameters.g=0", "parameters.k=4", "parameters.v1=0", "parameters.v2=1"}));
  expect_sound(elastic);
  expect_near(elastic.at(3).state.q, {0.96017028665036602055, -0.13970774909946293641, 6}, integrated,
              "q(3)");
  expect_near(elastic.at(3).state.v, {0.55883099639785174562, 0.96017028665036602055, 2}, integrated, "v(3)");
  for (const double t : {0.0, 3.0, 6.0}) EXPECT_NEAR(elastic.multiplier("complex", t), 0, integrated);
}

TEST(Voss, TheComplexHelixClimbsFourPiPerTurn) {
  const double turn = 2 * 3.14159265358979323846 / 3;
  const StudyRun run(sampled(
      config("linear_complex", {"parameters.g=0", "parameters.K=9", "parameters.v1=0", "parameters.v2=3"}),
      {0, turn, 3}));
  expect_sound(run);
  expect_near(run.at(turn).state.q, {1, 0, 12.566370614359172954}, integrated, "after one turn");
  expect_near(run.at(3).state.q, {-0.91113026188467698837, 0.41211848524175656976, 18}, integrated, "q(3)");
  EXPECT_NEAR(run.multiplier("complex", 3), 0, integrated);
}

TEST(Voss, TheStraightestPathFromTheAxisIsNotTheGeodesic) {
  // The geodesic (general variation) from this state curls round the axis; the motion is a straight line.
  const double t = 1.95561982482048452806;
  const StudyRun run(sampled(written(R"toml(
title = "On the axis of a linear complex, without forces"
[[point]]
name = "p"
mass = 1
position = [0, 0, 0]
velocity = [2, 0, 0]
[[constraint]]
name = "complex"
require = "p.y*p.x' - p.x*p.y' + 0.5*p.z' == 0"
[time]
end = 2
samples = 2
)toml"),
                             {t}));
  expect_sound(run);
  expect_near(run.at(t).state.q, {3.91123964964096905611, 0, 0}, integrated, "q");
}

// --- Equations (24) to (30), corrected: two points and a hidden Kepler motion ---

TEST(Voss, TheRelativeMotionOfTwoPointsIsKeplers) {
  const double period = 7.9329297358056033939;
  const StudyRun run(sampled(config("two_points_kepler"), {0, 2.5, 5, period, 10}));
  expect_sound(run);
  expect_near(run.at(5).state.q,
              {0.49249860696233271066, 2.3888140601223067219, 0.78884942122173993632, 1.5, 1, 0.5},
              integrated, "q(5)");
  expect_near(run.at(5).state.v.head(3),
              {0.90358109582973552050, 0.65830019777488386230, -0.013492696864715591697}, integrated,
              "v1(5)");
  expect_near(run.at(5).state.v.tail(3), {0.3, 0.2, 0.1}, algebra, "v2(5)");
  for (const double t : {0.0, 2.5, 5.0, 10.0}) {
    const State& state = run.at(t).state;
    const Eigen::Vector3d xi = state.q.head(3) - state.q.tail(3), rate = state.v.head(3) - state.v.tail(3);
    expect_near(xi.cross(rate), {-0.29, 0.06, -1.3}, integrated, "C");
    EXPECT_NEAR(run.observable("speed_squared", t), 1.25, integrated);
    EXPECT_NEAR(run.observable("kepler_mu", t), 1.4765161699080711388, integrated);
  }
  // Relative to the second point, the first is back after one period.
  const State& back = run.at(period).state;
  expect_near(back.q.head(3) - back.q.tail(3), {1, 0.5, -0.2}, integrated, "xi after one period");
  const double near = run.measure("nearest"), far = run.measure("farthest");
  EXPECT_NEAR((far - near) / (far + near), 0.30802977915546845915, integrated) << "eccentricity";
}

TEST(Voss, ACompleteSystemIsASurfaceInDisguise) {
  const StudyRun run(config("complete_system"));
  expect_sound(run);
  for (const Eigen::Index first : {0, 3}) {
    SCOPED_TRACE(first == 0 ? "as velocities" : "as a surface");
    expect_near(run.at(2).state.q.segment(first, 3),
                {2.0188280754516927711, 3.3172517954408837007, 0.14932145959078335177}, integrated, "q(2)");
    expect_near(run.at(2).state.v.segment(first, 3),
                {0.68336551573732307934, 0.75356436437987116758, -0.084465386142824763078}, integrated,
                "v(2)");
  }
  EXPECT_NEAR(run.observable("pfaff_product", 2), 1, integrated);
}

// --- Maurer, no. 8: the two-wheeled cart ---

TEST(Maurer, TheStraightestPathOfTheCartIsACircle) {
  const StudyRun run(config("cart"));
  expect_sound(run);
  expect_near(run.at(4).state.q, {-0.37255399759856783042, 0.053106284466178639272, 6}, integrated, "q(4)");
  expect_near(run.at(4).state.v, {1.9203405733007320411, -0.55883099639785174562, 1.5}, integrated, "v(4)");
  for (const double t : {0.0, 1.0, 4.0}) {
    EXPECT_NEAR(run.multiplier("wheels", t), -3, integrated);  // Maurer's sigma = +3 has the other sign
    EXPECT_NEAR(run.observable("off_circle", t), 0, integrated);
  }
}

TEST(Maurer, FromTheGeodeticStartTheCartStillRunsOnACircle) {
  // The state from which the general variation gives the geodetic path of equation (5), k = 3/5, alpha =
  // 7/10.
  const double t = 0.501693559169283152100;
  const StudyRun run(sampled(config("cart", {"parameters.c=1.529684374568976852511720",
                                             "parameters.gamma=5.923234530325683207026786"}),
                             {t}));
  expect_sound(run);
  expect_near(run.at(t).state.q, {0.0436773569120493352946, 0.512782746748032671902, 2.97164861331348924916},
              integrated, "q");
}

TEST(Maurer, TheSingularIntegralIsAStraightestPath) {
  // rho = 0: speed a/M = 2, angular velocity 16/3, radius 3/8 for a = 2, k = 3/5, l = 1/2, M = 1.
  const StudyRun run(config("cart", {"parameters.c=2", "parameters.gamma=\"16/3\""}));
  expect_sound(run);
  for (const double t : {1.0, 4.0}) {
    const State& state = run.at(t).state;
    EXPECT_NEAR(std::hypot(state.v(0), state.v(1)), 2, integrated);
    EXPECT_NEAR(state.v(2), 5.3333333333333333333, integrated);
    EXPECT_NEAR(std::hypot(state.q(0), state.q(1) - 0.375), 0.375, integrated);
  }
}

}  // namespace
}  // namespace zwang::voss_test
