// Blocks reduced by the kernels' functions against the host's own statistics: the same bits.
#include "host/reducer.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "tests/host/reduce_on_host.h"
#include "tests/host/statistics_fixture.h"

namespace zwang {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

// Values of every awkward kind, in tables as kernels leave them.
struct AwkwardMembers {
  AwkwardMembers(long long count, std::size_t series_columns, std::size_t measure_columns, unsigned seed = 5)
      : members(count), series(series_columns), measures_count(measure_columns) {
    std::mt19937_64 generator(seed);
    const auto uniform = [&] { return (double(generator() >> 11) + 0.5) * 0x1p-53; };
    const auto value = [&](std::size_t column) -> double {
      const double u = uniform(), v = uniform();
      switch (column % 9) {
        case 0:
          return u < 0.3 ? 0.0 : u < 0.6 ? -0.0 : v - 0.5;  // both zeros
        case 1:
          return 1e9 + 1e-3 * u;  // a small spread about a large offset
        case 2:
          return u < 0.4 ? nan : u < 0.41 ? inf : u < 0.42 ? -inf : v;
        case 3:
          return std::floor(5 * u);  // ties
        case 4:
          return std::tan(3.14159 * (u - 0.5));  // heavy tails
        case 5:
          return nan;
        case 6:
          return u < 0.5 ? 1e308 * v : -1e308 * v;  // distances beyond the range of doubles
        case 7:
          return 5e-324 * std::floor(100 * u);  // below the normal numbers
        default:
          return 7.25;  // constant
      }
    };
    for (long long k = 0; k < count; ++k) {
      const double u = uniform();
      status.push_back(u < 0.02 ? int(Status::singular) : u < 0.1 ? int(Status::stopped) : int(Status::ok));
      for (std::size_t c = 0; c < series; ++c) observables.push_back(value(c));
      for (std::size_t c = 0; c < measures_count; ++c) measures.push_back(value(8 * c + 3));
      for (int c = 0; c < parameter_count; ++c) parameters.push_back(c == 1 ? 4.0 : uniform());
      steps.insert(steps.end(), {static_cast<long long>(100 * u), static_cast<long long>(10 * u)});
      for (int kind = 0; kind < event_kinds; ++kind) event_counts.push_back(kind * (k % 3));
      for (int a = 0; a < audit_numbers; ++a)
        audits.push_back(a == 2 ? nan : a == 3 ? -1.0 : a == 4 ? -0.0 : 1e-9 * uniform());
      redundant.push_back(k % 5 == 0 ? 1 : 0);
    }
  }

  KernelBatch batch(long long first, long long count) {
    KernelBatch made{};
    const auto f = static_cast<std::size_t>(first);
    made.count = count;
    made.parameters = parameters.data() + f * parameter_count;
    made.status = status.data() + f;
    made.measures = measures.data() + f * measures_count;
    made.observables = observables.data() + f * series;
    made.steps = steps.data() + 2 * f;
    made.event_counts = event_counts.data() + f * event_kinds;
    made.audits = audits.data() + f * audit_numbers;
    made.redundant = redundant.data() + f;
    return made;
  }

  bool enters(long long k, bool nominal) const {
    const auto how = static_cast<Status>(status[static_cast<std::size_t>(k)]);
    return (how == Status::ok || how == Status::stopped) && !(nominal && k == 0);
  }

  // As the host's statistics take them.
  void add_rows(Statistics& statistics, long long first, long long count, bool nominal) const {
    const auto f = static_cast<std::size_t>(first), n = static_cast<std::size_t>(count);
    std::vector<char> entered;
    std::vector<double> inputs;
    for (long long k = first; k < first + count; ++k) {
      entered.push_back(enters(k, nominal) ? 1 : 0);
      for (const int p : drawn)
        inputs.push_back(parameters[static_cast<std::size_t>(k) * parameter_count + std::size_t(p)]);
    }
    statistics.add({first, entered, std::span(observables).subspan(f * series, n * series),
                    std::span(measures).subspan(f * measures_count, n * measures_count), inputs},
                   2);
  }

  static constexpr int parameter_count = 4;
  std::vector<int> drawn = {0, 2, 3};
  long long members;
  std::size_t series, measures_count;
  std::vector<int> status, redundant;
  std::vector<double> parameters, observables, measures, audits;
  std::vector<long long> steps, event_counts;
};

StatisticsPlan plan_of(const AwkwardMembers& given, std::size_t observables, std::size_t memory) {
  StatisticsPlan plan;
  plan.members = given.members;
  plan.outputs = given.series / observables;
  plan.observables = observables;
  plan.measures = given.measures_count;
  plan.inputs = given.drawn.size();
  plan.quantiles = {0, 0.05, 0.5, 0.95, 1};
  plan.memory = memory;
  if (observables > 0 && given.series > 0)
    plan.histograms = {{.of_measure = false, .index = 0, .bins = 20, .range = Range{-1, 1}},
                       {.of_measure = false, .index = 1, .bins = 7, .range = {}},
                       {.of_measure = true, .index = 0, .bins = 10, .range = {}}};
  return plan;
}

struct Way {
  bool nominal = false;
  std::vector<long long> cuts;  // where batches end, each a multiple of 256 or the end
};

// The whole ensemble by blocks.
Statistics by_blocks(HostMachine& machine, AwkwardMembers& given, const StatisticsPlan& plan,
                     const Way& way) {
  Statistics made(plan);
  long long first = 0;
  if (!made.takes_blocks()) {
    first = std::min<long long>(block_members, given.members);
    given.add_rows(made, 0, first, way.nominal);
  }
  for (const long long end : way.cuts) {
    if (end <= first) continue;
    ReductionPlan reduction = made.reduction();
    reduction.parameters = AwkwardMembers::parameter_count;
    reduction.drawn = given.drawn;
    reduction.nominal = way.nominal;
    reduction.first_drawn = way.nominal ? 1 : 0;
    const auto reduced = reduce_members(machine, reduction, given.batch(first, end - first), first);
    EXPECT_TRUE(reduced.has_value());
    long long entered = 0;
    for (long long k = first; k < first + reduced->blocks.blocks * block_members; ++k)
      entered += given.enters(k, way.nominal);
    made.add_blocks(reduction, reduced->blocks, entered, 2);
    const long long whole = first + reduced->blocks.blocks * block_members;
    if (whole < end) {
      EXPECT_EQ(reduced->tail_status.size(), std::size_t(end - whole));
      given.add_rows(made, whole, end - whole, way.nominal);
    }
    first = end;
  }
  return made;
}

Statistics by_rows(const AwkwardMembers& given, const StatisticsPlan& plan, bool nominal) {
  Statistics made(plan);
  given.add_rows(made, 0, given.members, nominal);
  return made;
}

std::string bytes_of(const Statistics& statistics) {
  std::ostringstream stream;
  statistics.save(stream);
  return stream.str();
}

// Bits where numbers are; NaN has many, and all mean the same.
void expect_same(Statistics& found, Statistics& expected, const std::string& what) {
  const auto a = bits_of(found.finish(2)), b = bits_of(expected.finish(2));
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const bool both_nan = std::isnan(std::bit_cast<double>(a[k])) && std::isnan(std::bit_cast<double>(b[k]));
    ASSERT_TRUE(both_nan || a[k] == b[k]) << what << ": number " << k << " is " << std::bit_cast<double>(a[k])
                                          << ", expected " << std::bit_cast<double>(b[k]);
  }
}

TEST(Reducer, GivesTheBitsOfTheHostWhereValuesAreKept) {
  AwkwardMembers given(3000, 27, 3);
  const StatisticsPlan plan = plan_of(given, 9, std::size_t{512} << 20);
  for (const std::vector<long long>& cuts :
       {std::vector<long long>{3000}, {256, 768, 2816, 3000}, {1280, 1536, 2560, 3000}}) {
    HostMachine machine;
    Statistics found = by_blocks(machine, given, plan, {.nominal = false, .cuts = cuts});
    Statistics expected = by_rows(given, plan, false);
    expect_same(found, expected, "cut into " + std::to_string(cuts.size()));
  }
}

TEST(Reducer, GivesTheBitsOfTheHostWhereValuesAreCountedInBuckets) {
  AwkwardMembers given(2900, 36, 3);
  const StatisticsPlan plan = plan_of(given, 9, 20'000);
  ASSERT_FALSE(choose_storage(plan).exact_observables);
  ASSERT_FALSE(choose_storage(plan).exact_measures);
  ASSERT_GT(choose_storage(plan).stride, 1);
  HostMachine machine;
  Statistics found = by_blocks(machine, given, plan, {.nominal = true, .cuts = {512, 1792, 2900}});
  Statistics expected = by_rows(given, plan, true);
  expect_same(found, expected, "buckets");
}

TEST(Reducer, GivesTheBitsOfTheHostForReplicates) {
  AwkwardMembers given(2600, 9, 2);
  StatisticsPlan plan = plan_of(given, 9, std::size_t{512} << 20);
  plan.replicates = 16;
  for (const bool nominal : {false, true}) {
    plan.replicate_of = [nominal](long long member) {
      return member < (nominal ? 1 : 0) ? 0 : static_cast<int>((member - (nominal ? 1 : 0)) % 16);
    };
    HostMachine machine;
    Statistics found = by_blocks(machine, given, plan, {.nominal = nominal, .cuts = {256, 2304, 2600}});
    Statistics expected = by_rows(given, plan, nominal);
    expect_same(found, expected, nominal ? "with a nominal member" : "all drawn");
  }
}

TEST(Reducer, LeavesTheSameCheckpointAsTheHost) {
  // NaN as the data has it comes through in other bits; here nothing is missing.
  AwkwardMembers given(1536, 9, 1);
  for (std::vector<double>* values : {&given.observables, &given.measures})
    for (double& x : *values)
      if (std::isnan(x)) x = 1;
  for (int& status : given.status) status = 0;
  const StatisticsPlan plan = plan_of(given, 9, std::size_t{512} << 20);
  HostMachine machine;
  EXPECT_EQ(bytes_of(by_blocks(machine, given, plan, {.nominal = false, .cuts = {512, 1536}})),
            bytes_of(by_rows(given, plan, false)));
}

TEST(Reducer, LeavesObservablesWhereTheyAre) {
  AwkwardMembers given(2048, 27, 2);
  const StatisticsPlan plan = plan_of(given, 9, std::size_t{512} << 20);
  HostMachine machine;
  {
    Statistics statistics = by_blocks(machine, given, plan, {.nominal = false, .cuts = {512, 2048}});
    EXPECT_EQ(machine.kept, 2);
    EXPECT_LT(machine.brought, 2048 * 27 * sizeof(double));
    statistics.finish();
  }
  EXPECT_EQ(machine.kept, 0);
}

TEST(Reducer, AddsUpHowMembersEnded) {
  AwkwardMembers given(1000, 9, 2);
  HostMachine machine;
  ReductionPlan plan;
  plan.series = 9;
  plan.measures = 2;
  plan.parameters = AwkwardMembers::parameter_count;
  plan.nominal = true;
  const auto reduced = reduce_members(machine, plan, given.batch(0, 1000), 0);
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
  EXPECT_EQ(reduced->examples[static_cast<std::size_t>(Status::singular)], singular);
  EXPECT_TRUE(reduced->examples[static_cast<std::size_t>(Status::ok)].empty());
}

TEST(Reducer, SaysWhenThereIsNoRoom) {
  AwkwardMembers given(512, 9, 2);
  HostMachine machine;
  machine.room = 1000;
  ReductionPlan plan;
  plan.series = 9;
  plan.measures = 2;
  plan.parameters = AwkwardMembers::parameter_count;
  EXPECT_FALSE(reduce_members(machine, plan, given.batch(0, 512), 0).has_value());
}

TEST(Reducer, BringsBackLittleBesideTheMembers) {
  AwkwardMembers given(8192, 36, 3);
  const StatisticsPlan plan = plan_of(given, 9, 20'000);
  Statistics statistics(plan);
  given.add_rows(statistics, 0, 256, false);
  ReductionPlan reduction = statistics.reduction();
  reduction.parameters = AwkwardMembers::parameter_count;
  reduction.drawn = given.drawn;
  for (int& status : given.status) status = 0;
  // Three columns of the nine kinds have many different values; the others few.
  HostMachine machine;
  reduce_members(machine, reduction, given.batch(256, 7936), 256);
  EXPECT_LT(machine.brought, 7936 * 36 * sizeof(double));
}

}  // namespace
}  // namespace zwang
