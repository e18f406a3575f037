// Members with values of every awkward kind, reduced by blocks on some machine and added row by row on the host.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "host/backend/device_reduction.h"
#include "tests/support/statistics_fixture.h"

namespace zwang {

// Values of every awkward kind, in tables as kernels leave them.
struct AwkwardMembers {
  AwkwardMembers(long long count, std::size_t series_columns, std::size_t measure_columns, unsigned seed = 5)
      : members(count), series(series_columns), measures_count(measure_columns) {
    std::mt19937_64 generator(seed);
    const auto uniform = [&] { return (double(generator() >> 11) + 0.5) * 0x1p-53; };
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    constexpr double inf = std::numeric_limits<double>::infinity();
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

  // Members [first, first + count), their tables being where `there` says.
  KernelBatch batch(const KernelBatch& there, long long first, long long count) const {
    KernelBatch made{};
    made.count = count;
    made.parameters = there.parameters + first * parameter_count;
    made.status = there.status + first;
    made.measures = there.measures + first * static_cast<long long>(measures_count);
    made.observables = there.observables + first * static_cast<long long>(series);
    made.steps = there.steps + 2 * first;
    made.event_counts = there.event_counts + first * event_kinds;
    made.audits = there.audits + first * audit_numbers;
    made.redundant = there.redundant + first;
    return made;
  }
  KernelBatch here() {
    KernelBatch made{};
    made.parameters = parameters.data();
    made.status = status.data();
    made.measures = measures.data();
    made.observables = observables.data();
    made.steps = steps.data();
    made.event_counts = event_counts.data();
    made.audits = audits.data();
    made.redundant = redundant.data();
    return made;
  }
  KernelBatch batch(long long first, long long count) { return batch(here(), first, count); }

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

inline StatisticsPlan plan_of(const AwkwardMembers& given, std::size_t observables, std::size_t memory) {
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
  std::vector<long long> cuts;                      // where batches end, each a multiple of 256 or the end
  std::optional<KernelBatch> there = std::nullopt;  // where the tables are, if not here
};

// The whole ensemble by blocks.
inline Statistics by_blocks(ReductionDevice& machine, AwkwardMembers& given, const StatisticsPlan& plan,
                            const Way& way) {
  Statistics made(plan);
  long long first = 0;
  if (!made.accepts_blocks()) {
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
    const auto reduced = reduce_members(
        machine, reduction, given.batch(way.there.value_or(given.here()), first, end - first), first);
    EXPECT_TRUE(reduced.has_value());
    long long entered = 0;
    for (long long k = first; k < first + reduced->blocks.blocks * block_members; ++k)
      entered += given.enters(k, way.nominal);
    made.add_blocks(reduction, reduced->blocks, entered, 2);
    const long long whole = first + reduced->blocks.blocks * block_members;
    if (whole < end) {
      EXPECT_EQ(reduced->tail.status.size(), std::size_t(end - whole));
      given.add_rows(made, whole, end - whole, way.nominal);
    }
    first = end;
  }
  return made;
}

inline Statistics by_rows(const AwkwardMembers& given, const StatisticsPlan& plan, bool nominal) {
  Statistics made(plan);
  given.add_rows(made, 0, given.members, nominal);
  return made;
}

inline std::string bytes_of(const Statistics& statistics) {
  std::ostringstream stream;
  statistics.save(stream);
  return stream.str();
}

// Bits where numbers are; NaN has many, and all mean the same.
inline void expect_same(Statistics& found, Statistics& expected, const std::string& what) {
  const auto a = bits_of(found.finish(2)), b = bits_of(expected.finish(2));
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const bool both_nan = std::isnan(std::bit_cast<double>(a[k])) && std::isnan(std::bit_cast<double>(b[k]));
    ASSERT_TRUE(both_nan || a[k] == b[k]) << what << ": number " << k << " is " << std::bit_cast<double>(a[k])
                                          << ", expected " << std::bit_cast<double>(b[k]);
  }
}

}  // namespace zwang
