// Known answers from the classical literature: collisions with restitution, one by one, at once, infinitely
// many.
#include <limits>
#include <map>

#include "src/base/error.h"
#include "tests/support/study_runs.h"

namespace zwang::collision_test {
namespace {

// Shocks of a few points: a small linear solve on numbers of order 1.
constexpr double solved = 1e-13;

// Beads of mass 1 on a line above a wall at x = 0, restitution e at the wall and between neighbours.
std::string column(const std::vector<double>& positions, const std::vector<double>& velocities, double e,
                   double end) {
  std::string text = "title = \"Beads above a wall\"\n";
  for (std::size_t i = 0; i < positions.size(); ++i)
    text += "[[point]]\nname = \"b" + std::to_string(i) + "\"\nmass = 1\nposition = [" +
            number_text(positions[i]) + "]\nvelocity = [" + number_text(velocities[i]) + "]\n";
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::string below = i == 0 ? "0" : "b" + std::to_string(i - 1) + ".x";
    text += "[[constraint]]\nname = \"c" + std::to_string(i) + "\"\nrequire = \"" + below + " <= b" +
            std::to_string(i) + ".x\"\nrestitution = " + number_text(e) + "\n";
  }
  return text + "[time]\nend = " + number_text(end) + "\nsamples = 2\n";
}

std::size_t collisions(const StudyRun& run) {
  std::size_t count = 0;
  for (const Event& shock : run.events(EventKind::shock)) count += shock.constraints.size();
  return count;
}

// --- Bernu and Mazighi 1990: beads and a wall ---

TEST(Collision, TwoBeadsOnAWallCollideFinitelyOftenAboveTheThreshold) {
  struct Known {
    double e;
    std::size_t count;
    double v1, v2;
    double sensitivity;  // d log v/d log e at the end: near the threshold v depends strongly on e
  };
  const Known cases[] = {
      {0.9, 4, 0.004275, 0.80975, 17},
      {0.5, 4, 0.046875, 0.21875, 2.7},
      {0.3, 5, 0.01948375, 0.03254125, 9.7},
      {0.2, 9, 0.000121344, 0.000367616, 133},
      {0.18, 17, 2.70516796679553401e-7, 3.07063802157165712e-7, 223},
      {0.175, 26, 2.75059805073743515e-11, 7.91253394392841225e-11, 1026},
      {0.172, 74, 1.44699979703879501e-29, 1.69563716349882632e-29, 3.26e4},
      {0.1716, 297, 1.27229313141167092e-114, 1.40410119732121261e-114, 1.11e6},
  };
  // Each shock is a linear solve that rounds some times, as if e were off by as much.
  const double rounding = 64 * std::numeric_limits<double>::epsilon();
  for (const Known& known : cases) {
    SCOPED_TRACE(known.e);
    const StudyRun run(written(column({1, 2}, {0, -1}, known.e, 200)));
    expect_sound(run);
    EXPECT_EQ(collisions(run), known.count);
    EXPECT_TRUE(run.events(EventKind::accumulation).empty());
    EXPECT_NEAR(run.velocity("b0.x", 200), known.v1, rounding * known.sensitivity * known.v1);
    EXPECT_NEAR(run.velocity("b1.x", 200), known.v2, rounding * known.sensitivity * known.v2);
  }
}

TEST(Collision, TwoBeadsOnAWallCollapseBelowTheThreshold) {
  // e = 0.1715 < 3 - 2 sqrt(2). The limit by the exact recursion in 1500 digits.
  const StudyRun run(written(column({1, 2}, {0, -1}, 0.1715, 10)));
  expect_sound(run);
  ASSERT_EQ(run.events(EventKind::accumulation).size(), 1u);
  EXPECT_NEAR(run.events(EventKind::accumulation)[0].t, 4.3562567332237698, 1e-12);
  expect_near(run.at(10).state.q, {0, 0}, algebra, "on the wall");
  expect_near(run.at(10).state.v, {0, 0}, algebra, "at rest");
}

TEST(Collision, ColumnsOfBeadsCollideAsOftenAsThreeHundredDigitsSay) {
  const std::map<int, std::map<double, std::size_t>> counts = {
      {2, {{0.18, 17}, {0.2, 9}, {0.3, 5}, {0.5, 4}, {0.9, 4}}},
      {3, {{0.335, 93}, {0.34, 46}, {0.35, 29}, {0.37, 21}, {0.4, 15}, {0.5, 10}, {0.7, 9}, {0.9, 9}}},
      {4, {{0.46, 76}, {0.47, 46}, {0.6, 17}, {0.8, 16}, {0.9, 16}}},
  };
  for (const auto& [beads, known] : counts)
    for (const auto& [e, count] : known) {
      SCOPED_TRACE(std::to_string(beads) + " beads, e = " + std::to_string(e));
      std::vector<double> positions;
      for (int i = 1; i <= beads; ++i) positions.push_back(i);
      const StudyRun run(written(column(positions, std::vector<double>(positions.size(), -1), e, 500)));
      expect_sound(run);
      EXPECT_EQ(collisions(run), count);
      EXPECT_TRUE(run.events(EventKind::accumulation).empty());
    }
}

TEST(Collision, FourBeadsWithOneHalfMeetThreeAtOnce) {
  // Here the seventh collision is two: at t = 101/27 beads 2, 3 and 4 meet in one point. Taken one after the
  // other, the lower pair first, 31 collisions follow; as one shock, which is the law, it is 22. A column
  // that is longer by 1e-9 decides for the first.
  const StudyRun together(written(column({1, 2, 3, 4}, {-1, -1, -1, -1}, 0.5, 500)));
  expect_sound(together);
  const Event triple = together.events(EventKind::shock).at(6);
  EXPECT_NEAR(triple.t, 101.0 / 27, solved);
  EXPECT_EQ(triple.constraints, (std::vector<std::size_t>{2, 3}));
  // (1 + e) proj - e alpha of (7/128, -5/32, -1), whose projection is their mean, -47/128.
  expect_near(triple.velocity_after.tail(3), {-37.0 / 64, -121.0 / 256, -13.0 / 256}, solved, "v+");
  EXPECT_EQ(collisions(together), 22u);

  const StudyRun apart(written(column({1, 2, 3, 4 + 1e-9}, {-1, -1, -1, -1}, 0.5, 500)));
  expect_sound(apart);
  EXPECT_EQ(collisions(apart), 31u);
}

// --- McNamara and Young 1992: inelastic collapse of three balls, e = 1/20 ---

TEST(Collision, ThreeBallsCollapseAtThreeAndAHalf) {
  const StudyRun run(config("three_balls"));
  expect_sound(run);
  const double times[] = {1.0,
                          2.9047619047619047619,
                          3.3268698060941828255,
                          3.4470428740891374343,
                          3.4835597268547258552,
                          3.4948729509030497165,
                          3.4983988233211337163,
                          3.4994997324149530826};
  const std::vector<Event> shocks = run.events(EventKind::shock);
  ASSERT_GE(shocks.size(), 12u);
  const auto approach = [&](std::size_t k) {
    const Eigen::VectorXd& v = shocks[k].velocity_before;
    return std::max(v(0) - v(1), v(1) - v(2));
  };
  // Positions of order 1 are known to some roundings, and so are the times, over the speed of approach.
  const double rounding = 16 * std::numeric_limits<double>::epsilon();
  for (std::size_t k = 0; k < std::size(times); ++k)
    EXPECT_NEAR(shocks[k].t, times[k], rounding / approach(k));

  // Per cycle of two collisions speeds of approach shrink by 4/25 and gaps by 1/64, in the limit; the next
  // mode dies out like (25/256)^k.
  EXPECT_NEAR(approach(11) / approach(9), 4.0 / 25, 1e-5);
  EXPECT_NEAR((shocks[11].t - shocks[10].t) / (shocks[9].t - shocks[8].t), 25.0 / 256, 1e-5);

  // From 7/2 on they move together.
  expect_near(run.at(5).state.v, {1.0 / 3, 1.0 / 3, 1.0 / 3}, solved, "together");
  for (const char* name : {"a.x", "b.x", "c.x"}) EXPECT_NEAR(run.position(name, 5), 8.0 / 3, solved);
}

TEST(Collision, TheCollapseIsListedAsOneAccumulationWhateverTheThreshold) {
  for (const double gap : {1e-6, 1e-8, 1e-10}) {
    SCOPED_TRACE(gap);
    Study study = config("three_balls");
    study.integrator.accumulation_gap = gap;
    const StudyRun run(study);
    const std::vector<Event> accumulations = run.events(EventKind::accumulation);
    ASSERT_EQ(accumulations.size(), 1u);
    EXPECT_EQ(accumulations[0].constraints, (std::vector<std::size_t>{0, 1}));
    // Extrapolated from 1e-6 before the end, with a ratio that has converged to 1e-5.
    EXPECT_NEAR(accumulations[0].t, 3.5, 1e-10);
  }
}

// --- Several contacts at once ---

const char* const pyramid = R"toml(
title = "A disk hits two touching disks"
[parameters]
e = 0
[[point]]
name = "a"
mass = 1
position = [0, 0]
velocity = [1, 0]
[[point]]
name = "b"
mass = 1
position = ["sqrt(3)/2", 0.5]
velocity = [0, 0]
[[point]]
name = "c"
mass = 1
position = ["sqrt(3)/2", -0.5]
velocity = [0, 0]
[[constraint]]
name = "ab"
require = "distance(a, b) >= 1"
restitution = "e"
[[constraint]]
name = "ac"
require = "distance(a, c) >= 1"
restitution = "e"
[[constraint]]
name = "bc"
require = "distance(b, c) >= 1"
restitution = "e"
[time]
end = 1
samples = 2
)toml";

TEST(Collision, ADiskHitsTwoTouchingDisksAtOnce) {
  const StudyRun dead(written(pyramid));
  expect_sound(dead);
  ASSERT_EQ(dead.events(EventKind::shock).size(), 1u);
  const Event stuck = dead.events(EventKind::shock)[0];
  expect_near(stuck.velocity_after, {0.4, 0, 0.3, 0.17320508075688772935, 0.3, -0.17320508075688772935},
              solved, "e = 0");
  EXPECT_NEAR(stuck.velocity_after.squaredNorm() / 2, 0.2, solved);
  EXPECT_EQ(dead.impulse(stuck, "bc"), 0);

  const StudyRun live(written(pyramid, {"parameters.e=1"}));
  expect_sound(live);
  ASSERT_EQ(live.events(EventKind::shock).size(), 1u);
  const Event thrown = live.events(EventKind::shock)[0];
  expect_near(thrown.velocity_after, {-0.2, 0, 0.6, 0.34641016151377545871, 0.6, -0.34641016151377545871},
              solved, "e = 1");
  EXPECT_NEAR(thrown.energy_lost, 0, solved);
}

const char* const corner = R"toml(
title = "Into a corner"
[parameters]
angle = 120      # of the second wall's normal, degrees
e = 0
[[point]]
name = "p"
mass = 1
position = [0, 0]
velocity = [1, 0.2]
[[constraint]]
name = "first"
require = "p.x <= 0"
restitution = "e"
[[constraint]]
name = "second"
require = "cos(angle*pi/180)*p.x + sin(angle*pi/180)*p.y <= 0"
restitution = "e"
[time]
end = 1
samples = 2
)toml";

TEST(Collision, APointThrownIntoACorner) {
  // Acute corner: both walls act, with l = 1 + (1/5)/sqrt(3) and 2/(5 sqrt(3)).
  const StudyRun kept(written(corner));
  expect_sound(kept);
  const Event stop = kept.events(EventKind::shock).at(0);
  expect_near(stop.velocity_after, {0, 0}, algebra, "acute, e = 0");
  EXPECT_NEAR(kept.impulse(stop, "first"), 1 + 0.2 / std::sqrt(3.0), solved);
  EXPECT_NEAR(kept.impulse(stop, "second"), 0.4 / std::sqrt(3.0), solved);

  // With e = 1 the point leaves the second wall at first, so only the first strikes; then it meets the
  // second. (Moreau's formula -e v would let the second one strike too; with walls that separate it can
  // create energy.)
  const StudyRun thrown(written(corner, {"parameters.e=1"}));
  expect_sound(thrown);
  expect_near(thrown.events(EventKind::shock).at(0).velocity_after,
              {-0.5 + 0.1 * std::sqrt(3.0), -0.1 - 0.5 * std::sqrt(3.0)}, solved, "acute, e = 1");

  // Thrown against both at once it comes straight back.
  const StudyRun returned(written(corner, {"parameters.e=1", "point.0.velocity=[1, 0.8]"}));
  expect_sound(returned);
  expect_near(returned.events(EventKind::shock).at(0).velocity_after, {-1, -0.8}, solved, "both, e = 1");

  // Obtuse corner: the second wall is approached too, but the first alone turns the point away from it.
  const Overrides obtuse = {"parameters.angle=60", "point.0.velocity=[1, -0.5]"};
  const StudyRun slides(written(corner, obtuse));
  expect_sound(slides);
  const Event slide = slides.events(EventKind::shock).at(0);
  expect_near(slide.velocity_after, {0, -0.5}, solved, "obtuse, e = 0");
  EXPECT_EQ(slides.impulse(slide, "second"), 0);

  Overrides elastic = obtuse;
  elastic.push_back("parameters.e=1");
  const StudyRun bounces(written(corner, elastic));
  expect_sound(bounces);
  expect_near(bounces.events(EventKind::shock).at(0).velocity_after, {-1, -0.5}, solved, "obtuse, e = 1");
}

}  // namespace
}  // namespace zwang::collision_test
