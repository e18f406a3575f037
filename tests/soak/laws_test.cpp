// The laws of the soak test detect errors: a correct motion passes, and each change of it breaks the law that
// applies.
#include "tests/soak/laws.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "host/backend/backend_reference.h"
#include "host/backend/batch.h"
#include "host/study_file/load_study.h"
#include "tests/soak/soak_report.h"

namespace zwang::soak {
namespace {

constexpr const char* text = R"toml(
title = "A ball on a string over a floor"
[[anchor]]
name = "nail"
position = [0, 0]
[[point]]
name = "ball"
mass = 2
position = [0.9, 0]
velocity = [0, 1]
[system]
gravity = [0, -9.81]
[[constraint]]
name = "string"
require = "distance(ball, nail) <= 1"
[[constraint]]
name = "floor"
require = "ball.y >= -0.8"
restitution = 0.5
[[event]]
name = "gate"
when = "ball.x"
[time]
end = 2
samples = 201
)toml";

struct Record {
  Study study = read_study(text, "ball.toml");
  BackendMotion motion;
  Audit audit;
  long long steps = 0;

  Record() {
    const unsigned long long numbers[] = {0};
    const Batch batch = prepare_batch(study, numbers, 1);
    const BatchResults results =
        BackendReference(study, 1).run(batch, {.observables = true, .states = true, .events = true});
    motion = motion_of(study, batch, results, 0);
    audit = results.audits[0];
    steps = results.steps[0];
  }

  // The names of the broken laws.
  std::vector<std::string> broken() const {
    Laws laws(study, {.length = 1, .speed = 3});
    laws.judge(motion, audit, steps, false, 0);
    std::vector<std::string> names;
    for (const Breach& breach : laws.breaches()) names.push_back(breach.law);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }

  // A sample at which the condition is closed (or open), in the middle of such a time.
  Sample& sample_where(std::size_t condition, bool closed) {
    for (std::size_t j = 1; j + 1 < motion.samples.size(); ++j)
      if ((motion.samples[j - 1].closed[condition] != 0) == closed &&
          (motion.samples[j].closed[condition] != 0) == closed &&
          (motion.samples[j + 1].closed[condition] != 0) == closed)
        return motion.samples[j];
    throw std::logic_error("no such sample");
  }
  Event& event_of(EventKind kind) {
    return *std::find_if(motion.events.begin(), motion.events.end(),
                         [&](const Event& event) { return event.kind == kind; });
  }
};

constexpr std::size_t string = 0, bottom = 1;

TEST(SoakLaws, ASoundMotionBreaksNone) {
  const Record record;
  ASSERT_EQ(record.motion.status, Status::ok);
  EXPECT_EQ(record.broken(), std::vector<std::string>{});
}

TEST(SoakLaws, WhatIsWrongIsFoundByItsLaw) {
  struct Wrong {
    const char* law;
    std::function<void(Record&)> spoil;
  };
  const Wrong wrongs[] = {
      {"open: f <= 0", [](Record& r) { r.sample_where(bottom, false).state.q(1) = -0.8 - 1e-6; }},
      {"closed: |f|", [](Record& r) { r.sample_where(string, true).state.q *= 1 - 1e-6; }},
      {"held: |f'|",
       [](Record& r) {
         Sample& sample = r.sample_where(string, true);
         sample.state.v += 1e-6 * sample.state.q;
       }},
      // The string is recorded as closed where it is slack: it would have to push.
      {"multiplier >= 0",
       [](Record& r) {
         Sample& sample = r.sample_where(string, true);
         sample.state.q(1) = std::abs(sample.state.q(1)) + 0.5;
         sample.state.v.setZero();
       }},
      {"recorded multiplier >= 0",
       [](Record& r) { r.sample_where(string, true).multipliers(string) = -1e-12; }},
      {"recorded multiplier of an open condition",
       [](Record& r) { r.sample_where(bottom, false).multipliers(bottom) = 1e-12; }},
      {"energy law", [](Record& r) { r.audit.energy_drift = 1e-4; }},
      {"energy made at a shock", [](Record& r) { r.audit.energy_created = 1e-4; }},
      {"Carnot", [](Record& r) { r.audit.carnot = 1e-6; }},
      {"judge of Gauss's principle", [](Record& r) { r.audit.kkt = 1e-3; }},
      {"drift left in positions", [](Record& r) { r.audit.position_violation = 1e-6; }},
      {"drift left in velocities", [](Record& r) { r.audit.velocity_violation = 1e-6; }},
      {"events in order", [](Record& r) { r.motion.events.back().t = 0; }},
      {"impulse >= 0", [](Record& r) { r.event_of(EventKind::shock).impulses.at(0) = -0.1; }},
      {"energy lost as listed", [](Record& r) { r.event_of(EventKind::shock).energy_lost += 1e-5; }},
      {"watched crossings, none lost",
       [](Record& r) {
         auto& events = r.motion.events;
         events.erase(std::find_if(events.begin(), events.end(),
                                   [](const Event& event) { return event.kind == EventKind::event; }));
       }},
  };
  for (const Wrong& wrong : wrongs) {
    Record record;
    wrong.spoil(record);
    const std::vector<std::string> found = record.broken();
    EXPECT_NE(std::find(found.begin(), found.end(), wrong.law), found.end())
        << wrong.law << " was broken and not found; found: " << joined(found);
  }
}

TEST(SoakReport, AFailureIsNamedWithItsStudyAndMember) {
  SoakReport report;
  EXPECT_TRUE(report.good());
  report.fail("energy law (cpu)", 17, 4, "t = 1");
  report.fail("energy law (cpu)", 18, 5, "t = 2");
  EXPECT_FALSE(report.good());
  EXPECT_NE(report.text().find("energy law (cpu): 2 times; first in study 17, member 4: t = 1"),
            std::string::npos);
  EXPECT_EQ(report.suspects, (std::set<std::uint64_t>{17, 18}));
}

TEST(RandomStudy, TheSameSeedGivesTheSameStudyAndAnotherAnother) {
  EXPECT_EQ(random_study(5, 10).text, random_study(5, 10).text);
  EXPECT_NE(random_study(5, 10).text, random_study(6, 10).text);
}

}  // namespace
}  // namespace zwang::soak
