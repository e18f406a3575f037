// Blocks reduced by the functions of kernels/reduce/ give the bits of the host's statistics.
#include "host/backend/device_reduction.h"

#include <gtest/gtest.h>

#include "host/backend/sketch_window.h"
#include "kernels/base/portable.h"
#include "kernels/reduce/worst_share.h"
#include "tests/support/awkward_members.h"
#include "tests/support/reduce_on_host.h"

namespace zwang::device_reduction_test {
namespace {

TEST(DeviceReduction, GivesTheBitsOfTheHostForStoredValues) {
  AwkwardMembers given(3000, 27, 3);
  const StatisticsPlan plan = plan_of(given, 9, std::size_t{512} << 20);
  for (const std::vector<long long>& cuts :
       {std::vector<long long>{3000}, {256, 768, 2816, 3000}, {1280, 1536, 2560, 3000}}) {
    HostMachine device;
    Statistics found = by_blocks(device, given, plan, {.nominal = false, .cuts = cuts});
    Statistics expected = by_rows(given, plan, false);
    expect_same(found, expected, "cut into " + std::to_string(cuts.size()));
  }
}

TEST(DeviceReduction, GivesTheBitsOfTheHostForBuckets) {
  AwkwardMembers given(2900, 36, 3);
  const StatisticsPlan plan = plan_of(given, 9, 20'000);
  ASSERT_FALSE(choose_storage(plan).exact_observables);
  ASSERT_FALSE(choose_storage(plan).exact_measures);
  ASSERT_GT(choose_storage(plan).stride, 1);
  HostMachine device;
  Statistics found = by_blocks(device, given, plan, {.nominal = true, .cuts = {512, 1792, 2900}});
  Statistics expected = by_rows(given, plan, true);
  expect_same(found, expected, "buckets");
}

// So many members that several groups of threads count each column.
TEST(DeviceReduction, GivesTheBitsOfTheHostForBucketsOfSeveralGroups) {
  AwkwardMembers given(14'000, 9, 2);
  const StatisticsPlan plan = plan_of(given, 9, 20'000);
  HostMachine device;
  Statistics found = by_blocks(device, given, plan, {.nominal = false, .cuts = {512, 14'000}});
  Statistics expected = by_rows(given, plan, false);
  expect_same(found, expected, "groups");
}

unsigned key_of(double distance) {
  return static_cast<unsigned>(bits_of_double(distance) >> (52 - sketch_digits)) & (sketch_side - 1);
}
ColumnPart part_of(double pivot, double spread, double minimum, double maximum) {
  ColumnPart made{};
  made.finite = 100;
  made.pivot = pivot;
  made.m2 = 100 * spread * spread;
  made.minimum = minimum;
  made.maximum = maximum;
  return made;
}

TEST(SketchWindow, ReachesFourStandardDeviationsOrTheFarthestValue) {
  const auto last_key = [](double pivot, const std::vector<ColumnPart>& parts) {
    return first_key_of_window(pivot, parts) + sketch_window_side - 1;
  };
  EXPECT_EQ(last_key(5, {part_of(5, 1, -100, 90)}), key_of(4));
  EXPECT_EQ(last_key(5, {part_of(5, 1, 3, 6.5)}), key_of(2));
  // Two sets of members, one of them around another value.
  EXPECT_EQ(last_key(5, {part_of(5, 1, -100, 90), part_of(15, 0, 15, 15)}), key_of(40));
  // Values that are not finite, an empty set, equal values.
  const double infinite = infinity<double>();
  EXPECT_EQ(last_key(5, {part_of(5, 1, -infinite, infinite), ColumnPart{}}), key_of(4));
  EXPECT_EQ(first_key_of_window(5, std::vector<ColumnPart>{part_of(5, 0, 5, 5)}), 0u);
  EXPECT_EQ(first_key_of_window(5, {}), 0u);
}

TEST(DeviceReduction, GivesTheBitsOfTheHostForReplicates) {
  AwkwardMembers given(2600, 9, 2);
  StatisticsPlan plan = plan_of(given, 9, std::size_t{512} << 20);
  plan.replicates = 16;
  for (const bool nominal : {false, true}) {
    plan.replicate_of = [nominal](long long member) {
      return member < (nominal ? 1 : 0) ? 0 : static_cast<int>((member - (nominal ? 1 : 0)) % 16);
    };
    HostMachine device;
    Statistics found = by_blocks(device, given, plan, {.nominal = nominal, .cuts = {256, 2304, 2600}});
    Statistics expected = by_rows(given, plan, nominal);
    expect_same(found, expected, nominal ? "with a nominal member" : "all drawn");
  }
}

TEST(DeviceReduction, GivesTheBitsOfTheHostForMembersWithAFlag) {
  // One measure and two flags; the second selects observables too.
  AwkwardMembers given(2900, 18, 3);
  for (std::size_t k = 0; k < 2900; ++k) {
    given.measures[3 * k + 1] = k % 3 == 0 ? 1 : 0;
    given.measures[3 * k + 2] = k % 7 < 4 ? 1 : 0;
  }
  for (const std::size_t memory : {std::size_t{512} << 20, std::size_t{20'000}}) {
    StatisticsPlan plan = plan_of(given, 9, memory);
    plan.measures = 1;
    plan.flags = 2;
    plan.givens = {{.flag = 0, .observables = false}, {.flag = 1, .observables = true}};
    plan.exceedances = {{.measure = 0, .at = {}, .points = 20}};
    HostMachine device;
    Statistics found = by_blocks(device, given, plan, {.nominal = true, .cuts = {512, 1792, 2900}});
    Statistics expected = by_rows(given, plan, true);
    ASSERT_EQ(plan.columns(), 2 * 18 + 1 + 2 + 3 + 2 * (1 + 3));
    expect_same(found, expected, memory > 20'000 ? "stored" : "buckets");
  }
}

TEST(DeviceReduction, GivesTheCheckpointOfTheHost) {
  // A NaN of the data may change its bits on the way; here no value is missing.
  AwkwardMembers given(1536, 9, 1);
  for (std::vector<double>* values : {&given.observables, &given.measures})
    for (double& x : *values)
      if (std::isnan(x)) x = 1;
  for (int& status : given.status) status = 0;
  const StatisticsPlan plan = plan_of(given, 9, std::size_t{512} << 20);
  HostMachine device;
  EXPECT_EQ(bytes_of(by_blocks(device, given, plan, {.nominal = false, .cuts = {512, 1536}})),
            bytes_of(by_rows(given, plan, false)));
}

TEST(DeviceReduction, LeavesObservablesOnTheDevice) {
  AwkwardMembers given(2048, 27, 2);
  const StatisticsPlan plan = plan_of(given, 9, std::size_t{512} << 20);
  HostMachine device;
  {
    Statistics statistics = by_blocks(device, given, plan, {.nominal = false, .cuts = {512, 2048}});
    EXPECT_EQ(device.kept, 2);
    EXPECT_LT(device.brought, 2048 * 27 * sizeof(double));
    statistics.finish();
  }
  EXPECT_EQ(device.kept, 0);
}

TEST(DeviceReduction, CountsTheStatusesOfMembers) {
  AwkwardMembers given(1000, 9, 2);
  HostMachine device;
  ReductionPlan plan;
  plan.series = 9;
  plan.measures = 2;
  plan.parameters = AwkwardMembers::parameter_count;
  plan.nominal = true;
  const auto reduced = reduce_members(device, plan, given.batch(0, 1000), 0);
  ASSERT_TRUE(reduced);
  TallyCounts expected{};
  std::vector<long long> singular;
  for (long long k = 0; k < 1000; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const bool well = given.enters(k, false);
    expected.entered += given.enters(k, true);
    expected.steps += static_cast<unsigned long long>(given.steps[2 * at]);
    expected.rejected += static_cast<unsigned long long>(given.steps[2 * at + 1]);
    expected.redundant += given.redundant[at] != 0;
    ++expected.status[given.status[at]];
    if (given.status[at] == int(Status::singular) && singular.size() < 10) singular.push_back(k);
    for (std::size_t kind = 0; kind < event_kinds; ++kind)
      expected.events[kind] += static_cast<unsigned long long>(given.event_counts[at * event_kinds + kind]);
    for (std::size_t a = 0; well && a < audit_numbers; ++a)
      expected.worst[a] = std::fmax(expected.worst[a], given.audits[at * audit_numbers + a]);
  }
  EXPECT_EQ(reduced->tally.entered, expected.entered);
  EXPECT_EQ(reduced->tally.steps, expected.steps);
  EXPECT_EQ(reduced->tally.rejected, expected.rejected);
  EXPECT_EQ(reduced->tally.redundant, expected.redundant);
  for (int how = 0; how < status_count; ++how) EXPECT_EQ(reduced->tally.status[how], expected.status[how]);
  for (int kind = 0; kind < event_kinds; ++kind)
    EXPECT_EQ(reduced->tally.events[kind], expected.events[kind]);
  for (int a = 0; a < audit_numbers; ++a) EXPECT_EQ(reduced->tally.worst[a], expected.worst[a]) << a;
  for (int a = 0; a < audit_shares; ++a) {
    long long worst = -1;
    double share = 0;
    for (long long k = 0; k < 1000; ++k) {
      const double next =
          kept_share(given.audits[static_cast<std::size_t>(k * audit_numbers + audit_violations + a)]);
      if (!given.enters(k, false) || next <= share) continue;
      share = next;
      worst = k;
    }
    EXPECT_EQ(share_of_key(reduced->tally.shares[a]), share) << a;
    EXPECT_EQ(member_of_key(reduced->tally.shares[a]), worst) << a;
  }
  EXPECT_EQ(reduced->examples[static_cast<std::size_t>(Status::singular)], singular);
  EXPECT_TRUE(reduced->examples[static_cast<std::size_t>(Status::ok)].empty());
}

TEST(DeviceReduction, ReportsThatTheDeviceIsOutOfMemory) {
  AwkwardMembers given(512, 9, 2);
  HostMachine device;
  device.room = 1000;
  ReductionPlan plan;
  plan.series = 9;
  plan.measures = 2;
  plan.parameters = AwkwardMembers::parameter_count;
  EXPECT_FALSE(reduce_members(device, plan, given.batch(0, 512), 0).has_value());
}

TEST(DeviceReduction, CopiesLessThanTheMembers) {
  AwkwardMembers given(8192, 36, 3);
  const StatisticsPlan plan = plan_of(given, 9, 20'000);
  Statistics statistics(plan);
  given.add_rows(statistics, 0, 256, false);
  ReductionPlan reduction = statistics.reduction();
  reduction.parameters = AwkwardMembers::parameter_count;
  reduction.drawn = given.drawn;
  for (int& status : given.status) status = 0;
  // Of nine kinds of columns three have many different values, the others few.
  HostMachine device;
  reduce_members(device, reduction, given.batch(256, 7936), 256);
  EXPECT_LT(device.brought, 7936 * 36 * sizeof(double));
}

}  // namespace
}  // namespace zwang::device_reduction_test
