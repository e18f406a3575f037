// Known answers for Staeckel 1919 (Heidelberg): one-sided conditions, singular positions, redundancy, a
// ratchet.
#include <nlohmann/json.hpp>

#include "host/inspect/write_explain.h"
#include "src/base/error.h"
#include "tests/support/study_runs.h"

namespace zwang::staeckel_test {
namespace {

// Integrated over times of order 10 with rtol 1e-13.
constexpr double integrated = 1e-11;

// --- Section 6: a point on a plane it may leave ---

struct PlaneCase {
  const char* what;
  Overrides force;
  std::initializer_list<double> a;
  double lambda;
  const char* state;
};

TEST(Staeckel, TheUpwardAccelerationIsTheForceOrNothing) {
  const PlaneCase cases[] = {
      {"pressed", {}, {1, -1, 0}, 2, "pressing"},
      {"lifted", {"parameters.X3=3"}, {1, -1, 3}, 0, "yielding"},
      {"neutral", {"parameters.X3=0"}, {1, -1, 0}, 0, "yielding"},
  };
  for (const PlaneCase& known : cases) {
    SCOPED_TRACE(known.what);
    const Explanation found = explained(config("plane_support", known.force));
    expect_near(found.acceleration, known.a, algebra, "acceleration");
    EXPECT_NEAR(condition(found, "plane").multiplier, known.lambda, algebra);
    EXPECT_EQ(condition(found, "plane").state, known.state);

    // Constant accelerations: x = t/2 + t^2/2, y = -t^2/2, z = a_z t^2/2.
    const StudyRun run(config("plane_support", known.force));
    expect_sound(run);
    EXPECT_TRUE(run.trajectory.events.empty());
    expect_near(run.at(1).state.q, {1, -0.5, *(known.a.begin() + 2) / 2}, 10 * algebra, "q(1)");
    for (const double t : {0.0, 0.5, 1.0}) EXPECT_NEAR(run.multiplier("plane", t), known.lambda, algebra);
  }
}

// --- Section 3: the apex of a cone, where the gradient vanishes ---

TEST(Staeckel, AtTheApexOfAConeTheMemberStopsAsSingularAndIsNotGuessed) {
  for (const char* name : {"cone_apex", "cone_apex_symmetric", "cone_apex_axis"}) {
    SCOPED_TRACE(name);
    const Study study = config(name);
    const StudyRun run(study);
    EXPECT_EQ(status_name(run.trajectory.status), std::string("singular"));
    EXPECT_FALSE(run.trajectory.cause.empty());
    expect_near(run.trajectory.last.state.q, {0, 0, 0}, 0, "the last good state is the start");
    EXPECT_EQ(run.end(), 0);
    EXPECT_EQ(explained(study).position, "singular");
  }
}

void expect_minimum(const SingularMinimum& found, std::initializer_list<double> a, double distance,
                    std::initializer_list<double> reaction) {
  expect_near(found.acceleration, a, 4 * algebra, "acceleration");
  expect_near(found.reaction, reaction, 4 * algebra, "reaction");
  EXPECT_NEAR(found.distance, distance, 4 * algebra);
  EXPECT_NEAR(found.constraint, distance * distance / 2, 40 * algebra);
  EXPECT_EQ(found.basis.cols(), 0);
}

// Properties that do not depend on the direction of the force.
const SingularPosition& expect_apex(const Explanation& found) {
  EXPECT_EQ(found.position, "singular");
  const SingularPosition& singular = found.singular.value();
  EXPECT_EQ(singular.kinds, std::vector<std::string>{"vanishing gradient"});
  EXPECT_EQ(singular.rank, 0);
  EXPECT_EQ(singular.null_directions.cols(), 3);
  // d'Alembert: a = X, off the cone.
  expect_near(singular.dalembert - found.free_acceleration, {0, 0, 0}, 0, "d'Alembert");
  EXPECT_EQ(singular.dalembert_breaks, std::vector<std::string>{"cone"});
  return singular;
}

TEST(Staeckel, OffTheAxisTheNearerNappeIsTheAbsoluteMinimumAndTheOtherALocalOne) {
  const Explanation found = explained(config("cone_apex"));
  const SingularPosition& singular = expect_apex(found);
  ASSERT_EQ(singular.minima.size(), 2u);
  expect_minimum(singular.minima[0], {2.1, 2.8, 3.5}, 2.121320343559642573, {-0.9, -1.2, 1.5});
  expect_minimum(singular.minima[1], {0.9, 1.2, -1.5}, 4.949747468305832671, {-2.1, -2.8, -3.5});
  EXPECT_TRUE(singular.minima[0].absolute);
  EXPECT_FALSE(singular.minima[1].absolute);
}

TEST(Staeckel, InsideTheConeOnlyOneNappeHasAMinimum) {
  const Explanation found = explained(config("cone_apex", {"parameters.X3=7"}));
  const SingularPosition& singular = expect_apex(found);
  ASSERT_EQ(singular.minima.size(), 1u);
  expect_minimum(singular.minima[0], {3.6, 4.8, 6}, 1.414213562373095049, {0.6, 0.8, -1});
}

TEST(Staeckel, AcrossTheAxisBothNappesAreEquallyNear) {
  const Explanation found = explained(config("cone_apex_symmetric"));
  const SingularPosition& singular = expect_apex(found);
  ASSERT_EQ(singular.minima.size(), 2u);
  expect_minimum(singular.minima[0], {1.5, 2, 2.5}, 3.535533905932737622, {-1.5, -2, 2.5});
  expect_minimum(singular.minima[1], {1.5, 2, -2.5}, 3.535533905932737622, {-1.5, -2, -2.5});
  EXPECT_TRUE(singular.minima[0].absolute && singular.minima[1].absolute);
  EXPECT_NE(singular.conclusion.find("does not decide"), std::string::npos);
}

TEST(Staeckel, AlongTheAxisACircleOfAccelerationsIsEquallyNear) {
  const Explanation found = explained(config("cone_apex_axis"));
  const SingularPosition& singular = expect_apex(found);
  ASSERT_EQ(singular.minima.size(), 1u);
  const SingularMinimum& circle = singular.minima[0];
  ASSERT_EQ(circle.basis.cols(), 2);
  EXPECT_NEAR(circle.distance, 1.414213562373095049, 4 * algebra);
  expect_near(circle.center, {0, 0, 1}, 4 * algebra, "centre");
  EXPECT_NEAR(circle.radius, 1, 4 * algebra);
  for (const double phi : {0.0, 0.7, 2.5, 5.0}) {
    const Eigen::Vector2d u(std::cos(phi), std::sin(phi));
    const Eigen::VectorXd a = circle.center + circle.radius * circle.basis * u;
    EXPECT_NEAR(a(2), 1, 4 * algebra);
    EXPECT_NEAR(std::hypot(a(0), a(1)), 1, 4 * algebra);
  }
}

TEST(Staeckel, TheJsonOfAnApexListsTheMinimaAndWhatDAlembertWouldGive) {
  const Study study = config("cone_apex_axis");
  const nlohmann::json json =
      nlohmann::json::parse(explain_json(study, prepare_member(study, 0), explained(study)));
  EXPECT_EQ(json["position"], "singular");
  EXPECT_EQ(json["status"], "singular");
  ASSERT_EQ(json["minima"].size(), 1u);
  EXPECT_NEAR(json["minima"][0]["constraint"], 1, 4 * algebra);
  EXPECT_EQ(json["minima"][0]["family"]["dimension"], 1);
  EXPECT_NEAR(json["minima"][0]["family"]["radius"], 1, 4 * algebra);
  EXPECT_EQ(json["singularity"]["kinds"][0], "vanishing gradient");
  EXPECT_EQ(json["singularity"]["vanishing"][0]["order"], 4);
  EXPECT_EQ(json["singularity"]["dalembert"]["acceleration"][2], 2);
  EXPECT_EQ(json["singularity"]["dalembert"]["breaks"][0], "cone");
}

TEST(Staeckel, OffTheApexTheConeIsRegular) {
  // Down the generator (3, 4, 5)/5 from (3, 4, 5) with X = (3, 4, 2): a = X - lambda grad f, grad f = (6, 8,
  // -10), grad f . a = 0 at rest gives lambda = (18 + 32 - 20)/200.
  const Explanation found = explained(config("cone_apex", {"point.0.position=[3, 4, 5]"}));
  EXPECT_EQ(found.position, "regular");
  EXPECT_FALSE(found.singular.has_value());
  EXPECT_NEAR(condition(found, "cone").multiplier, 0.15, algebra);
  expect_near(found.acceleration, {2.1, 2.8, 3.5}, algebra, "acceleration");
}

// --- Section 7: redundant conditions ---

TEST(Staeckel, TheAccelerationIsUniqueThoughTheMultipliersAreNot) {
  const Explanation found = explained(config("redundant_walls"));
  EXPECT_EQ(found.position, "redundant");
  EXPECT_EQ(found.singular.value().kinds, std::vector<std::string>{"redundant"});
  EXPECT_EQ(found.singular.value().rank, 2);
  // slope = right + top
  expect_near(found.singular.value().dependencies.row(0).transpose(), {1, 1, -1}, algebra, "dependency");
  EXPECT_EQ(found.singular.value().contradictions(0), 0);
  expect_near(found.acceleration, {0, 0}, algebra, "acceleration");
  // lambda3 may be anything in [0, 1]; least norm takes 1.
  expect_near(found.multipliers, {0, 1, 1}, algebra, "lambda");

  const StudyRun run(config("redundant_walls"));
  expect_sound(run);
  EXPECT_TRUE(run.trajectory.redundant);
  EXPECT_TRUE(run.trajectory.events.empty());
  for (const double t : {0.0, 0.5, 1.0}) {
    expect_near(run.at(t).state.q, {0, 0}, algebra, "position");
    expect_near(run.at(t).state.v, {0, 0}, algebra, "velocity");
    expect_near(run.at(t).multipliers, {0, 1, 1}, algebra, "lambda");
  }
}

// --- Section 8: Perron's square ---

TEST(Staeckel, TheNearestPointOfASquareIsTheFootWithTheRightSign) {
  const Explanation edge = explained(config("perron_square"));
  expect_near(edge.acceleration, {1, 0.5}, algebra, "nearest point");
  expect_near(edge.multipliers, {1, 0, 0, 0}, algebra, "right, left, top, bottom");
  // The other foot, (-1, 1/2), lies on an edge too, but would have to pull with 3.
  bool false_candidate = false;
  for (const ExplainedSet& set : edge.tried)
    if (set.pressing == std::vector<std::string>{"left"}) {
      EXPECT_FALSE(set.accepted);
      EXPECT_EQ(set.rejected, "left would have to pull: multiplier = -3");
      false_candidate = true;
    }
  EXPECT_TRUE(false_candidate);

  const Explanation corner = explained(config("perron_square", {"parameters.P2=3"}));
  expect_near(corner.acceleration, {1, 1}, algebra, "corner");
  expect_near(corner.multipliers, {1, 0, 2, 0}, algebra, "right, left, top, bottom");
}

TEST(Staeckel, AMassInTheOpeningSquareStaysAtTheNearestPoint) {
  for (const double P2 : {0.5, 3.0}) {
    SCOPED_TRACE(P2);
    const StudyRun run(config("perron_square", {"parameters.P2=" + number_text(P2)}));
    expect_sound(run);
    for (const double t : {0.5, 1.0, 1.5, 2.0}) {
      expect_near(run.at(t).state.q, {t * t / 2, std::min(P2, 1.0) * t * t / 2}, 10 * algebra, "position");
      expect_near(run.at(t).multipliers, {1, 0, std::max(P2 - 1, 0.0), 0}, 10 * algebra, "lambda");
    }
  }
}

// --- Section 5, equation (22): a velocity that may not be negative ---

TEST(Staeckel, TheRatchetLocksHoldsAndLetsGo) {
  const double pi = 3.14159265358979323846;
  const StudyRun run(sampled(config("oneway_clutch"), {0, 1, 3, 3.5, 4, 4.5, 10, 12}));
  expect_sound(run);
  const std::vector<Event> touches = run.events(EventKind::touch), releases = run.events(EventKind::release);
  ASSERT_GE(touches.size(), 1u);
  ASSERT_GE(releases.size(), 1u);
  EXPECT_NEAR(touches[0].t, pi, integrated);
  EXPECT_NEAR(releases[0].t, 4.7123889803846898577, integrated);
  EXPECT_TRUE(run.events(EventKind::shock).empty());
  // At 7 pi/2 the rate just touches zero: at most one touch and one release more.
  EXPECT_LE(run.trajectory.events.size(), 4u);

  EXPECT_NEAR(run.position("p.x", 3), 1.9899924966004454573, integrated);
  for (const double t : {3.5, 4.0, 4.5}) {
    EXPECT_NEAR(run.position("p.x", t), 2, integrated);
    EXPECT_EQ(run.velocity("p.x", t), 0);
    EXPECT_NEAR(run.multiplier("ratchet", t), -std::cos(t), algebra);
  }
  EXPECT_NEAR(run.position("p.x", 10), 8.1266825486917625946, integrated);
  EXPECT_NEAR(run.velocity("p.x", 10), 0.45597888911063018660, integrated);
  // After the grazing touch the motion continues: x' = 1 + sin t.
  EXPECT_NEAR(run.position("p.x", 12), 2 + (12 - 1.5 * pi) - std::cos(12.0), integrated);
  EXPECT_NEAR(run.velocity("p.x", 12), 1 + std::sin(12.0), integrated);
}

}  // namespace
}  // namespace zwang::staeckel_test
