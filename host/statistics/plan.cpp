#include "host/statistics/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/estimators/moments.h"
#include "host/estimators/quantile_sketch.h"
#include "src/base/error.h"

namespace zwang {

namespace {

// Buckets per column that the memory allows, in whole pages.
std::size_t buckets_for(double bytes, std::size_t columns) {
  const double each = bytes / double(std::max<std::size_t>(columns, 1)) / sizeof(std::uint64_t);
  // A heavy-tailed column with both signs fills about 50 000 buckets; more would waste memory.
  constexpr double most = double(std::size_t{1} << 17);
  const auto buckets =
      static_cast<std::size_t>(std::clamp(each, double(QuantileSketch::fewest_buckets), most));
  return buckets / QuantileSketch::page_buckets * QuantileSketch::page_buckets;
}

}  // namespace

std::size_t StatisticsPlan::given_series() const {
  return series() *
         static_cast<std::size_t>(std::count_if(givens.begin(), givens.end(),
                                                [](const GivenPlan& given) { return given.observables; }));
}

Storage choose_storage(const StatisticsPlan& plan) {
  const double memory = double(plan.memory), members = double(plan.members);
  const double related_bytes = members * (double(plan.related()) * 12 + double(plan.flags) * 8);
  const std::size_t series = plan.series() + plan.given_series();
  const double series_bytes = members * double(series) * 8;
  Storage storage;

  // A single block is always stored.
  if (plan.members <= block_members) return storage;

  double left = memory - related_bytes;
  if (related_bytes > 0.75 * memory) {
    storage.exact_measures = false;
    storage.measure_buckets = buckets_for(memory / 4, plan.measures * (1 + plan.givens.size()));
    while (storage.stride < plan.members && related_bytes / double(storage.stride) > memory / 4)
      storage.stride *= 2;
    left = memory / 2;
  }
  if (series_bytes > left) {
    storage.exact_observables = false;
    storage.observable_buckets = buckets_for(left, series);
  }
  return storage;
}

long long MemberBlocks::blocks_per_point() const { return (per_point + block_members - 1) / block_members; }

long long MemberBlocks::begin_of(long long block) const {
  const long long each = blocks_per_point();
  if (each == 0) return 0;  // no members at all
  return block / each * per_point + block % each * block_members;
}

long long MemberBlocks::boundary_from(long long member) const {
  const long long place = member % per_point;
  const long long up = (place + block_members - 1) / block_members * block_members;
  return member - place + std::min(up, per_point);
}

std::pair<long long, long long> shard_members(const MemberBlocks& members, long long shard,
                                              long long shards) {
  const long long blocks = members.points * members.blocks_per_point();
  // blocks * shard / shards, computed without the product, which might overflow.
  const auto begin = [&](long long k) {
    return members.begin_of(blocks / shards * k + blocks % shards * k / shards);
  };
  return {begin(shard), begin(shard + 1)};
}

std::string plan_text(const StatisticsPlan& plan) {
  std::string text = fmt::format(
      "members {} outputs {} observables {} measures {} inputs {} memory {} replicates {}", plan.members,
      plan.outputs, plan.observables, plan.measures, plan.inputs, plan.memory, plan.replicates);
  for (const double p : plan.quantiles) text += " quantile " + number_text(p);
  for (const HistogramPlan& histogram : plan.histograms) {
    text += fmt::format(" histogram {} {} bins {}", histogram.of_measure ? "measure" : "observable",
                        histogram.index, histogram.bins);
    if (histogram.range) {
      text += " from " + number_text(histogram.range->low) + " to " + number_text(histogram.range->high);
    }
  }
  if (plan.flags > 0) text += fmt::format(" flags {}", plan.flags);
  for (const MeasureTraits& traits : plan.traits)
    text += fmt::format(" measure {}{}{}", traits.probability ? "p" : "-", traits.can_be_missing ? "m" : "-",
                        traits.undecided ? fmt::format(" undecided {}", *traits.undecided) : "");
  for (const char choice : plan.input_takes_choices) text += choice != 0 ? " choice" : " drawn";
  for (const ExceedancePlan& exceedance : plan.exceedances) {
    text += fmt::format(" exceedance {} points {}", exceedance.measure, exceedance.points);
    for (const double x : exceedance.at) text += " at " + number_text(x);
  }
  if (plan.pick_freeze) {
    text += fmt::format(" pick-freeze inputs {}", plan.pick_freeze->inputs);
    for (const std::size_t measure : plan.pick_freeze->measures) text += fmt::format(" of {}", measure);
  }
  for (const GivenPlan& given : plan.givens)
    text += fmt::format(" given {}{}", given.flag, given.observables ? " observables" : "");
  return text;
}

}  // namespace zwang
