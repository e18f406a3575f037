// A study has one or two assemblies, each a mechanism, and random further features. Starts satisfy their
// conditions or nearly so; the loader projects the others as usual.
#include "tests/soak/random_study.h"

#include <algorithm>
#include <cmath>

#include "src/base/error.h"
#include "tests/soak/study_writer.h"

namespace zwang::soak {

namespace {

using fmt::format;

double distance(const Place& a, const Place& b) {
  double square = 0;
  for (std::size_t k = 0; k < a.size(); ++k) square += (a[k] - b[k]) * (a[k] - b[k]);
  return std::sqrt(square);
}

Place along(Place from, const Place& direction, double far) {
  for (std::size_t k = 0; k < from.size(); ++k) from[k] += far * direction[k];
  return from;
}

// Somewhere in a cube of edge 2 around the origin, a little above it.
Place somewhere(StudyWriter& study) {
  Place made;
  for (std::size_t k = 0; k < study.dimension; ++k) made.push_back(study.dice.between(-1, 1));
  made.back() += 2;
  return made;
}

// Below a point: a floor that is flat, tilted, wavy or moving, or a round bowl.
void floor_below(StudyWriter& study, const std::string& point, double height) {
  const std::string h = point + "." + study.up(), level = study.length(height), x = point + ".x";
  const double unit = study.units.length;
  switch (study.dice.below(5)) {
    case 0:
      study.require("floor", format("{} >= {}", h, level), "", StudyWriter::derived_slip);
      break;
    case 1:
      study.require(
          "slope",
          format("{} >= {} + {}*{}", h, level, StudyWriter::number(study.dice.between(-0.5, 0.5)), x), "",
          StudyWriter::derived_slip);
      break;
    case 2:
      study.require("hills",
                    format("{} >= {} + {}*sin({}*{})", h, level, study.length(0.1),
                           StudyWriter::number(study.dice.between(1, 4) / unit), x),
                    "", StudyWriter::derived_slip);
      break;
    case 3:
      study.require("table", format("{} >= {} + {}", h, level, study.sway(0.2)), "",
                    study.dimension == 2 ? format("\"{}.x'\"", point)
                                         : format("[\"{0}.x' - {1}\", \"{0}.y'\"]", point, study.speed(0.2)));
      break;
    default:
      study.require(
          "bowl",
          format("{} >= {} + {}*{}^2", h, level, StudyWriter::number(study.dice.between(0.1, 1) / unit), x),
          "", StudyWriter::derived_slip);
  }
}

// Points in a row, each on a rod or a string of the one before; the first hangs on an anchor, which may move.
void chain(StudyWriter& study) {
  const std::string anchor = study.fresh("hook");
  Place here = somewhere(study);
  study.anchor(anchor, here, study.dice.chance(0.4));
  const Place hook = here;
  std::string last = anchor;
  const std::size_t links = 1 + study.dice.below(4);
  const bool straight = study.dice.chance(0.3);
  Place way = study.direction();
  for (std::size_t k = 0; k < links; ++k) {
    if (!straight) way = study.direction();
    const double length = study.dice.between(0.4, 1.2);
    const bool rod = study.dice.chance(0.35);
    const double used = rod || study.dice.chance(0.4) ? length : length * study.dice.between(0.3, 1);
    here = along(here, way, used);
    const std::string point = study.fresh("p");
    study.point(point, here, 1.5);
    // Between two points that are not anchors a string may rub, across its line.
    study.require(rod ? "rod" : "string",
                  format("distance({}, {}) {} {}", last, point, rod ? "==" : "<=", study.length(length)), "",
                  !rod && k > 0 && k % 2 == 0 ? StudyWriter::derived_slip : "");
    last = point;
  }
  if (study.dice.chance(0.25)) {
    // Tied to a second place, with some slack.
    const std::string other = study.fresh("ring");
    const Place place = along(here, study.direction(), 0.8);
    study.anchor(other, place, false);
    study.require("leash",
                  format("distance({}, {}) <= {}", last, other, study.length(study.dice.between(0.9, 1.6))));
  }
  if (study.dice.chance(0.4)) floor_below(study, last, std::min(here.back(), hook.back()) - 1);
  if (study.dice.chance(0.2))
    study.require("wall", format("{}.x <= {}", last, study.length(std::max(here[0], hook[0]) + 0.3)), "",
                  StudyWriter::derived_slip);
}

// Two or three points held apart by rods, thrown at a floor and perhaps a wall.
void frame(StudyWriter& study) {
  const Place at = somewhere(study);
  const std::size_t corners = 2 + study.dice.below(2);
  std::vector<std::string> names;
  std::vector<Place> places;
  for (std::size_t k = 0; k < corners; ++k) {
    Place place = along(at, study.direction(), 0.5);
    while (k > 0 && (distance(place, places[0]) < 0.3 || distance(place, places.back()) < 0.3))
      place = along(at, study.direction(), 0.5);
    names.push_back(study.fresh("c"));
    places.push_back(place);
    study.point(names.back(), place, 1);
    for (std::size_t j = 0; j < k; ++j)
      study.require("rod", format("distance({}, {}) == {}", names[j], names[k],
                                  study.length(distance(places[j], place))));
  }
  const double level = at.back() - study.dice.between(0.7, 1.5);
  // One floor for all corners.
  const bool same = study.dice.chance(0.7);
  for (const std::string& name : names) {
    if (same)
      study.require("floor", format("{}.{} >= {}", name, study.up(), study.length(level)), "",
                    StudyWriter::derived_slip);
    else
      floor_below(study, name, level - 0.5);
  }
  if (study.dice.chance(0.3))
    study.require("wall", format("{}.x <= {}", names[0], study.length(at[0] + 1)), "",
                  StudyWriter::derived_slip);
}

// Balls in a box whose floor may shake.
void balls(StudyWriter& study) {
  const std::size_t count = 1 + study.dice.below(3);
  const double radius = study.dice.between(0.05, 0.2);
  const Place corner = somewhere(study);
  std::vector<std::string> names;
  for (std::size_t k = 0; k < count; ++k) {
    Place place = corner;
    for (std::size_t axis = 0; axis < study.dimension; ++axis)
      place[axis] += 0.25 + (axis == k % study.dimension ? 0.55 * static_cast<double>(k) : 0.0) +
                     study.dice.between(0, 0.02);
    names.push_back(study.fresh("b"));
    study.point(names.back(), place, 2);
    for (std::size_t axis = 0; axis + 1 < study.dimension; ++axis) {
      const std::string x = names.back() + "." + StudyWriter::axis(axis);
      study.require("left", format("{} >= {}", x, study.length(corner[axis])), "", StudyWriter::derived_slip);
      study.require("right", format("{} <= {}", x, study.length(corner[axis] + 1.7)), "",
                    StudyWriter::derived_slip);
    }
    floor_below(study, names.back(), corner.back() - 2);
    for (std::size_t j = 0; j < k; ++j)
      study.require("apart",
                    format("distance({}, {}) >= {}", names[j], names.back(), study.length(2 * radius)), "",
                    StudyWriter::derived_slip);
  }
}

// A skate: a knife edge on a plane, driven, with a brake on its turning or a wall before it.
void skate(StudyWriter& study) {
  const std::string x = study.fresh("x"), y = study.fresh("y"), turn = study.fresh("turn");
  const double unit = study.units.length, speed = study.units.speed, rate = 1 / study.units.duration;
  study.coordinate(x, 0, 0.8 * speed);
  study.coordinate(y, 0.1 * unit, 0);
  study.coordinate(turn, 0, study.dice.between(0.3, 2) * rate);
  const std::string m = StudyWriter::number(study.units.mass),
                    inertia =
                        StudyWriter::number(study.units.mass * unit * unit * study.dice.between(0.1, 1));
  study.kinetic(format("0.5*{}*({}'^2 + {}'^2) + 0.5*{}*{}'^2", m, x, y, inertia, turn));
  study.require("blade", format("{}'*cos({}) - {}'*sin({}) == 0", y, turn, x, turn));
  if (study.dice.chance(0.6))
    study.force(x, StudyWriter::number(study.units.mass * study.units.speed / study.units.duration *
                                       study.dice.between(-1, 1)));
  if (study.dice.chance(0.5))
    study.require("wall", format("{} <= {}", x, study.length(0.7)), "", format("\"{}'\"", y));
  if (study.dice.chance(0.4))
    study.require("brake", format("{}' <= {}", turn, StudyWriter::number(study.dice.between(0.5, 3) * rate)));
}

// A double pendulum in angles, with stops.
void angles(StudyWriter& study) {
  const std::string a = study.fresh("a"), b = study.fresh("a");
  const double rate = 1 / study.units.duration,
               energy = study.units.mass * study.units.speed * study.units.speed,
               inertia = study.units.mass * study.units.length * study.units.length;
  study.coordinate(a, study.dice.between(-0.4, 0.4), study.dice.between(-3, 3) * rate);
  study.coordinate(b, study.dice.between(-0.4, 0.4), study.dice.between(-3, 3) * rate);
  study.kinetic(format("{}*({}'^2 + 0.5*{}'^2 + {}'*{}'*cos({} - {}))", StudyWriter::number(inertia), a, b, a,
                       b, a, b));
  study.potential(format("{}*(1 - cos({}) + 0.5*(1 - cos({})))", StudyWriter::number(energy), a, b));
  study.require("stop", format("{} <= {}", a, StudyWriter::number(study.dice.between(0.45, 1))));
  if (study.dice.chance(0.6))
    study.require("stop", format("{} >= {}", b, StudyWriter::number(-study.dice.between(0.45, 1))));
  if (study.dice.chance(0.5)) study.require("door", format("sin({}) + sin({}) <= 1.1", a, b));
  if (study.dice.chance(0.3))
    study.require("ratchet", format("{}' >= {}", b, StudyWriter::number(-study.dice.between(0, 2) * rate)));
}

// Points tied by conditions on their velocities, above a floor.
void geared(StudyWriter& study) {
  const std::string p = study.fresh("g"), q = study.fresh("g");
  study.point(p, somewhere(study), 1);
  study.point(q, somewhere(study), 1);
  switch (study.dice.below(3)) {
    case 0:
      study.require("gear",
                    format("{}.x' == {}*{}.x'", p, StudyWriter::number(study.dice.between(-2, 2)), q));
      break;
    case 1:  // p moves along the line to q
      study.require("chase", format("{0}.x'*({1}.{2} - {0}.{2} - {3}) == {0}.{2}'*({1}.x - {0}.x)", p, q,
                                    study.up(), study.length(4)));
      break;
    default:
      study.require("belt", format("{}.x' <= {} + {}", p, study.speed(0.4),
                                   StudyWriter::number(0.2 * study.units.speed)));
  }
  if (study.dice.chance(0.5))
    study.require("limit", format("{}.{}' >= {}", q, study.up(), study.speed(-study.dice.between(0.5, 2))));
  floor_below(study, p, -1);
  floor_below(study, q, -1);
}

// Further features: drag, springs, drives, impulses, conditions with a beginning and an end, watched events.
void decorate(StudyWriter& study) {
  const auto& points = study.points();
  if (!points.empty()) {
    const auto any = [&] { return points[study.dice.below(points.size())]; };
    const double hold = study.units.mass / study.units.duration;
    if (study.dice.chance(0.3)) {
      const std::string x = any() + ".x";
      study.force(x, format("-{}*{}'", StudyWriter::number(hold * study.dice.between(0.1, 1)), x));
    } else if (study.dice.chance(0.4)) {
      study.force(
          any() + ".x",
          format("{}*cos({}*t)", StudyWriter::number(hold * study.units.speed * study.dice.between(0.2, 2)),
                 StudyWriter::number(study.dice.between(0.5, 5) / study.units.duration)));
    }
    if (study.dice.chance(0.3))
      study.potential(format(
          "{}*{}.x^2", StudyWriter::number(hold / study.units.duration * study.dice.between(0.1, 3)), any()));
    if (study.dice.chance(0.25)) study.impulse(any(), study.dice.between(0, 1) * study.duration);
    // Held still for a while, where enough freedom is left: a single point on a rod could not follow its
    // moving hook.
    if (study.dice.chance(0.2) && points.size() > 2) {
      const double from = study.dice.between(0, 0.5) * study.duration * study.units.duration;
      study.require("grip", format("{}.x' == 0", any()),
                    format("from = {}\nuntil = {}\n", StudyWriter::number(from),
                           StudyWriter::number(from + study.dice.between(0.1, 0.5) * study.units.duration)));
    }
    study.watch(format("{}.x - {}", any(), study.length(study.dice.between(-1, 1))));
    if (study.dice.chance(0.5)) study.watch(format("{}.{}'", any(), study.up()));
    if (study.dice.chance(0.1))
      study.stop = format("{}.{} < {}", any(), study.up(), study.length(study.dice.between(-3, -1)));
  }
  study.observe("kinetic() + potential()");
  const auto& conditions = study.conditions();
  if (conditions.empty()) return;
  const auto any = [&] { return conditions[study.dice.below(conditions.size())]; };
  study.observe(format("reaction({})", any()));
  study.measure(format("maximum(reaction({}))", any()));
  study.measure(format("integral(closed({}))", any()));
  study.measure(format("count(shock({}))", any()));
  study.measure(format("total(impulse({}))", any()));
  study.measure(format("first(release({}))", any()));
  // The distance from a condition. Its maximum would be rounding noise where the condition is held.
  for (const std::string& name : study.inequalities()) study.measure(format("minimum(value({}))", name));
}

// What friction and limits did.
void observe_modes(StudyWriter& study) {
  if (study.with_friction().empty() && study.bounded().empty()) return;
  study.observe("dissipated()");
  study.measure("final(dissipated())");
  for (const std::string& name : study.with_friction()) {
    study.observe(format("friction({})", name));
    study.observe(format("slip({})", name));
    study.measure(format("count(slides({}))", name));
    study.measure(format("first(sticks({}))", name));
    study.measure(format("total(friction_impulse({}))", name));
  }
  for (const std::string& name : study.bounded()) {
    study.observe(format("holding({})", name));
    study.measure(format("first(yields({}))", name));
    study.measure(format("count(locks({}))", name));
  }
  for (const std::string& name : study.breaking()) study.measure(format("first(breaks({}))", name));
}

struct Assembly {
  const char* name;
  void (*build)(StudyWriter&);
};
constexpr Assembly assemblies[] = {{"chain", chain}, {"chain", chain},   {"frame", frame},  {"balls", balls},
                                   {"skate", skate}, {"angles", angles}, {"geared", geared}};

Units random_units(Dice& dice) {
  Units made;
  made.length = std::pow(10, dice.between(-3, 3));
  made.mass = std::pow(10, dice.between(-3, 3));
  made.gravity = dice.chance(0.5) ? 9.81 : dice.between(1, 20);
  made.speed = std::sqrt(made.gravity * made.length);
  made.duration = std::sqrt(made.length / made.gravity);
  return made;
}

}  // namespace

RandomStudy random_study(std::uint64_t seed, long long members) {
  Dice dice(seed * 0x9E3779B97F4A7C15ULL + 1);
  const Units units = random_units(dice);
  StudyWriter study(seed, dice.chance(0.6) ? 2 : 3, units);
  study.duration = dice.between(1, 4);

  RandomStudy made{.seed = seed, .length = units.length, .speed = units.speed};
  // A third of the studies have friction and limits.
  const std::uint64_t rubbing = seed * 0xD1B54A32D192ED03ULL + 7;
  if (Dice(rubbing).chance(1.0 / 3)) study.rub(rubbing + 1);
  const std::size_t parts = dice.chance(0.75) ? 1 : 2;
  for (std::size_t k = 0; k < parts; ++k) {
    const Assembly& assembly = assemblies[dice.below(std::size(assemblies))];
    assembly.build(study);
    made.made_of.emplace_back(assembly.name);
  }
  decorate(study);
  observe_modes(study);
  if (!study.with_friction().empty()) made.made_of.emplace_back("friction");
  if (!study.bounded().empty() || !study.breaking().empty()) made.made_of.emplace_back("limits");

  constexpr double tolerances[] = {1e-6, 1e-8, 1e-9, 1e-10};
  const double rtol = tolerances[dice.below(4)];
  // Lengths, speeds, angles and their rates share one absolute tolerance: the smallest of their units.
  const double smallest = std::min({units.length, units.speed, 1.0, 1 / units.duration});
  constexpr const char* methods[] = {"auto", "auto", "tsit5", "dop853"};
  study.settings = format("rtol = {}\natol = {}\nmethod = \"{}\"\n", StudyWriter::number(rtol),
                          StudyWriter::number(rtol * smallest), methods[dice.below(4)]);
  made.text = study.text(format("Soak {}: {} in {} dimensions", seed, joined(made.made_of), study.dimension),
                         members);
  return made;
}

}  // namespace zwang::soak
