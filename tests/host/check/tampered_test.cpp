// `zwang check`: every wrong number is found and named by member, time and quantity.
#include <algorithm>
#include <stdexcept>

#include "tests/support/tampered_backend.h"

namespace zwang::tampered_test {
namespace {

const Study& slung_load() {
  static const Study study = SlungLoad::study();
  return study;
}

CheckReport tampered(const Tamper& tamper) {
  TamperedBackend backend(slung_load(), tamper);
  return checked(slung_load(), backend, SlungLoad::members);
}

TEST(TamperedCheckTest, TheTamperedStudyIsRightWhenNothingIsTamperedWith) {
  const CheckReport report = tampered([](BatchResults&) {});
  EXPECT_EQ(report.verdict(), CheckVerdict::pass) << check_table(slung_load(), report);
  EXPECT_GT(report.findings.comparisons(), 1000u);
}

TEST(TamperedCheckTest, FindsAPositionAMillionthOff) {
  const CheckReport report = tampered([](BatchResults& r) { SlungLoad::state(r, 2, 7, 1) += 1e-6; });
  EXPECT_EQ(report.verdict(), CheckVerdict::disagree);
  const CheckCase found = disagreement(report, 2, "load.y");
  EXPECT_NEAR(found.t, 0.7, 1e-12);
  EXPECT_NEAR(found.difference(), 1e-6, 1e-7);
}

TEST(TamperedCheckTest, FindsAVelocityAMillionthOff) {
  const CheckReport report = tampered([](BatchResults& r) { SlungLoad::state(r, 0, 12, 3) += 1e-6; });
  EXPECT_NEAR(disagreement(report, 0, "load.x'").t, 1.2, 1e-12);
}

TEST(TamperedCheckTest, FindsAWrongMultiplierAndAWrongObservable) {
  const CheckReport report = tampered([](BatchResults& r) {
    SlungLoad::state(r, 1, 3, 6) *= 1 + 1e-6;
    r.observables[(3 * SlungLoad::outputs + 5) * SlungLoad::observables] += 1e-6;
  });
  EXPECT_NEAR(disagreement(report, 1, "multiplier(cable)").t, 0.3, 1e-12);
  EXPECT_NEAR(disagreement(report, 3, "observable height").t, 0.5, 1e-12);
}

TEST(TamperedCheckTest, FindsAConditionTakenForOpen) {
  const CheckReport report = tampered([](BatchResults& r) { SlungLoad::state(r, 1, 3, 7) = 0; });
  EXPECT_NEAR(disagreement(report, 1, "closed(cable)").t, 0.3, 1e-12);
}

TEST(TamperedCheckTest, FindsAWrongEnd) {
  const CheckReport report = tampered([](BatchResults& r) { r.end_state[3 * 6 + 2] += 1e-6; });
  EXPECT_EQ(disagreement(report, 3, "load.z").t, SlungLoad::end);
}

TEST(TamperedCheckTest, FindsAnOutputThatIsNotThere) {
  const CheckReport report = tampered([](BatchResults& r) {
    for (std::size_t k = 0; k < SlungLoad::row; ++k) SlungLoad::state(r, 0, 4, k) = std::nan("");
  });
  EXPECT_NEAR(disagreement(report, 0, "output").t, 0.4, 1e-12);
}

// The first event of a kind; each study here has one.
Event& event_of(BatchResults& results, std::size_t member, EventKind kind) {
  auto& events = results.events[member];
  const auto found =
      std::find_if(events.begin(), events.end(), [kind](const Event& event) { return event.kind == kind; });
  if (found == events.end()) throw std::out_of_range("no such event in the study of this test");
  return *found;
}

TEST(TamperedCheckTest, FindsAnEventAMillionthOfASecondLate) {
  double when = 0;
  const CheckReport report = tampered([&](BatchResults& r) {
    when = event_of(r, 1, EventKind::release).t;
    event_of(r, 1, EventKind::release).t += 1e-6;
  });
  const CheckCase found = disagreement(report, 1, "event release cable");
  EXPECT_NEAR(found.reference, when, 1e-7);
  EXPECT_NEAR(found.backend, when + 1e-6, 1e-7);
}

TEST(TamperedCheckTest, FindsAnEventThatIsNotThere) {
  double when = 0;
  const CheckReport report = tampered([&](BatchResults& r) {
    when = event_of(r, 1, EventKind::release).t;
    std::erase_if(r.events[1], [](const Event& event) { return event.kind == EventKind::release; });
    r.event_counts[1 * event_kinds + static_cast<std::size_t>(EventKind::release)] = 0;
  });
  const CheckCase found = disagreement(report, 1, "event release cable");
  EXPECT_TRUE(std::isnan(found.backend));
  EXPECT_NEAR(found.reference, when, 1e-7);
}

TEST(TamperedCheckTest, FindsAnEventTooMany) {
  const CheckReport report = tampered([](BatchResults& r) {
    r.events[0].insert(r.events[0].begin(), Event{.t = 0.15, .kind = EventKind::press, .constraints = {0}});
    r.event_counts[static_cast<std::size_t>(EventKind::press)] += 1;
  });
  const CheckCase found = disagreement(report, 0, "event press cable");
  EXPECT_EQ(found.backend, 0.15);
  EXPECT_TRUE(std::isnan(found.reference));
}

TEST(TamperedCheckTest, FindsAWrongImpulse) {
  const CheckReport report =
      tampered([](BatchResults& r) { event_of(r, 3, EventKind::shock).impulses[0] *= 1 + 1e-5; });
  disagreement(report, 3, "impulse(cable)");
}

TEST(TamperedCheckTest, FindsCountsThatDoNotMatchTheList) {
  const CheckReport report = tampered([](BatchResults& r) {
    r.event_counts[2 * event_kinds + static_cast<std::size_t>(EventKind::shock)] += 1;
  });
  disagreement(report, 2, "number of events of kind shock");
}

TEST(TamperedCheckTest, FindsAWrongMeasureOfEachKind) {
  // peak_tension first_slack snaps hardest_snap
  // total_snap slack_time highest final_x: four at a time, so that all are among the worst cases.
  for (const std::size_t first : {0U, 4U}) {
    const CheckReport report = tampered([first](BatchResults& r) {
      for (std::size_t i = first; i < first + 4; ++i)
        r.measures[3 * SlungLoad::measures + i] += i == 2 ? 1 : 1e-5;
    });
    for (std::size_t i = first; i < first + 4; ++i)
      disagreement(report, 3, "measure " + slung_load().system->measures[i].name);
  }
}

TEST(TamperedCheckTest, FindsAMeasureThatIsMissing) {
  const CheckReport report =
      tampered([](BatchResults& r) { r.measures[1 * SlungLoad::measures + 1] = std::nan(""); });
  EXPECT_TRUE(std::isnan(disagreement(report, 1, "measure first_slack").backend));
}

TEST(TamperedCheckTest, FindsAWrongStatus) {
  const CheckReport report = tampered([](BatchResults& r) { r.status[2] = Status::singular; });
  const CheckCase found = disagreement(report, 2, "status");
  EXPECT_EQ(found.backend_word, "singular");
  EXPECT_EQ(found.reference_word, "ok");
  ASSERT_EQ(report.failed.size(), 1u);
  EXPECT_EQ(report.failed[0].member, 2u);
}

TEST(TamperedCheckTest, FindsALimitThatTheReferenceDoesNotReach) {
  const CheckReport report = tampered([](BatchResults& r) { r.status[2] = Status::step_limit; });
  EXPECT_EQ(disagreement(report, 2, "status").backend_word, "step_limit");
}

TEST(TamperedCheckTest, FindsABackendThatComputesAnotherMechanics) {
  // A cable longer by a millionth, or a missing constraint: wrong from the first segment on.
  const Study longer = SlungLoad::study({"constraint.0.require=\"distance(load, hook) <= L*1.000001\""});
  const Study loose = SlungLoad::study({"constraint.0.require=\"distance(load, hook) <= 100*L\""});
  for (const Study* other : {&longer, &loose}) {
    BackendReference backend(*other, check_threads);
    EXPECT_EQ(checked(slung_load(), backend, SlungLoad::members).verdict(), CheckVerdict::disagree);
  }
}

}  // namespace
}  // namespace zwang::tampered_test
