// Sweeps, records and their reductions against closed forms.
#include <gtest/gtest.h>

#include <cmath>

#include "host/backend/backend.h"
#include "host/backend/backend_reference.h"
#include "host/backend/batch.h"
#include "host/backend/record_rows.h"
#include "host/run/backend_factory.h"
#include "host/run/run.h"
#include "host/study_file/load_study.h"
#include "kernels/base/status.h"
#include "src/system/system.h"

namespace zwang::sweeps_and_records_test {
namespace {

Study case_study(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return read_study(text, "case.toml", overrides);
}

// One member by a backend.
BatchResults one_member(const Study& study, const std::string& backend, unsigned long long member = 0) {
  const std::vector<unsigned long long> numbers = {member};
  return make_backend(backend, study, {.threads = 1})->run(prepare_batch(study, numbers, 1), {});
}

RecordedRows first_record(const Study& study, const BatchResults& results) {
  return {study.system->records.front(), reinterpret_cast<const char*>(results.records.data())};
}

// A ball dropped from height h; recorded at the floor.
const std::string dropped_ball = R"toml(title = "Records"
[[coordinate]]
name = "z"
position = 1
[system]
kinetic = "0.5*z'^2"
potential = "9.81*z"
[[constraint]]
name = "floor"
require = "z >= 0"
restitution = 0.8
[time]
end = 3.5
[[record]]
name = "hits"
at = "shock(floor)"
values = { v = "z'", z = "z" }
most = 5
[measure]
kept  = "count(hits)"
last_v = "last(hits.v)"
)toml";

class RecordsOnBackend : public testing::TestWithParam<const char*> {};

// t_k = t1 (1 + 2 sum e^j), v_k = e^k sqrt(2 g h).
TEST_P(RecordsOnBackend, ABallIsRecordedAtItsBounces) {
  const Study study = case_study(dropped_ball);
  const BatchResults results = one_member(study, GetParam());
  const RecordedRows rows = first_record(study, results);
  ASSERT_EQ(rows.count(), 5U);
  EXPECT_EQ(rows.total(), 9);
  const double t1 = std::sqrt(2 / 9.81), v1 = std::sqrt(2 * 9.81);
  double sum = 1;
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_NEAR(rows.time(k), t1 * sum, 1e-9);
    EXPECT_NEAR(rows.value(k, 0), std::pow(0.8, k + 1) * v1, 1e-9);
    EXPECT_NEAR(rows.value(k, 1), 0, 1e-12);
    EXPECT_EQ(rows.occurrence(k), static_cast<long long>(k));
    sum += 2 * std::pow(0.8, k + 1);
  }
  EXPECT_EQ(results.measures[0], 5);
  EXPECT_NEAR(results.measures[1], 1.4514411661131842, 1e-9);
}

TEST_P(RecordsOnBackend, SideSkipFromAndKeepChooseTheRows) {
  const double v1 = std::sqrt(2 * 9.81);
  const auto rows = [&](const std::vector<std::string>& overrides) {
    const Study study = case_study(dropped_ball, overrides);
    const BatchResults results = one_member(study, GetParam());
    const RecordedRows of = first_record(study, results);
    std::vector<double> speeds;
    for (std::size_t k = 0; k < of.count(); ++k) speeds.push_back(of.value(k, 0));
    return speeds;
  };
  const std::vector<double> before = rows({"record.0.side=\"before\""});
  for (std::size_t k = 0; k < before.size(); ++k) EXPECT_NEAR(before[k], -std::pow(0.8, k) * v1, 1e-9);
  const std::vector<double> last = rows({"record.0.keep=\"last\"", "record.0.most=3"});
  ASSERT_EQ(last.size(), 3U);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(last[k], std::pow(0.8, k + 7) * v1, 1e-9);
  const std::vector<double> late = rows({"record.0.from=1.5", "record.0.skip=1"});
  ASSERT_EQ(late.size(), 5U);
  EXPECT_NEAR(late[0], std::pow(0.8, 4) * v1, 1e-9);
}

const std::string stroboscope = R"toml(title = "Stroboscope"
[parameters]
zeta = 0.1
omega = 1.7
[[coordinate]]
name = "x"
position = 1
[system]
kinetic = "0.5*x'^2"
potential = "0.5*x^2"
[system.force]
x = "-2*zeta*x' + cos(omega*t)"
[time]
end = 20
[[record]]
name = "strobe"
every = "2*pi/omega"
values = { x = "x", v = "x'" }
most = 6
[measure]
p = "period(strobe, 1e-6)"
)toml";

// The period map of a linear oscillator is linear: closed form at 30 digits.
TEST_P(RecordsOnBackend, AStroboscopeShowsALinearMap) {
  const Study study = case_study(stroboscope);
  const BatchResults results = one_member(study, GetParam());
  const RecordedRows rows = first_record(study, results);
  const double expected[6][2] = {{1, 0},
                                 {-1.4092264711519103, 0.78064480065285719},
                                 {-0.16917636207626815, -0.50980778488383796},
                                 {-0.49232497981413764, 0.65087605713021724},
                                 {-0.70044860653634012, -0.11217268792615581},
                                 {-0.29883386517362494, 0.2403321716983441}};
  ASSERT_EQ(rows.count(), 6U);
  for (std::size_t k = 0; k < 6; ++k) {
    EXPECT_NEAR(rows.time(k), static_cast<double>(k) * 2 * M_PI / 1.7, 1e-12);
    EXPECT_NEAR(rows.value(k, 0), expected[k][0], 1e-8);
    EXPECT_NEAR(rows.value(k, 1), expected[k][1], 1e-8);
  }
  EXPECT_EQ(results.measures[0], 0);
  const Study settled = case_study(stroboscope, {"time.end=300", "record.0.skip=60", "record.0.most=20"});
  EXPECT_EQ(one_member(settled, GetParam()).measures[0], 1);
}

// A pendulum released from the horizontal pulls with 3 m g cos(theta), so y = -T/3 at the tension T.
TEST_P(RecordsOnBackend, EventsAndStopMayUseReactions) {
  const Study study = case_study(R"toml(title = "Tension"
[[anchor]]
name = "pivot"
position = [0, 0]
[[point]]
name = "p"
mass = 1
position = [1, 0]
[system]
gravity = [0, -1]
[[constraint]]
name = "rod"
require = "distance(p, pivot) == 1"
[[event]]
name = "half"
when = "reaction(rod) - 1.5"
[time]
end = 3
stop = "reaction(rod) > 2.4"
[measure]
there = "at(event(half), p.y)"
ended = "final(p.y)"
)toml");
  const BatchResults results = one_member(study, GetParam());
  EXPECT_EQ(results.status[0], Status::stopped);
  EXPECT_NEAR(results.measures[0], -0.5, 1e-8);
  EXPECT_NEAR(results.measures[1], -0.8, 1e-8);
}

// The state of an event is that after it.
TEST_P(RecordsOnBackend, EventsCarryTheState) {
  const Study study = case_study(dropped_ball);
  const std::vector<unsigned long long> numbers = {0};
  const BatchResults results = make_backend(GetParam(), study, {.threads = 1})
                                   ->run(prepare_batch(study, numbers, 1), {.events = true});
  ASSERT_EQ(results.events[0].size(), 18U);
  const Event &contact = results.events[0][0], &shock = results.events[0][1];
  const double v1 = std::sqrt(2 * 9.81);
  EXPECT_NEAR(contact.state.v(0), -v1, 1e-9);
  EXPECT_NEAR(shock.state.v(0), 0.8 * v1, 1e-9);
  EXPECT_NEAR(shock.state.q(0), 0, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Backends, RecordsOnBackend, testing::Values("reference", "cpu"),
                         [](const auto& given) { return std::string(given.param); });

TEST(RecordsTest, AMemberWithoutAPositivePeriodFails) {
  const Study study = case_study(stroboscope, {"parameters.omega={ sweep = { values = [1, -1] } }"});
  for (const char* backend : {"reference"})
    EXPECT_EQ(one_member(study, backend, 1).status[0], Status::not_finite);
}

}  // namespace
}  // namespace zwang::sweeps_and_records_test
