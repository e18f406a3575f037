// What statistics are taken of, and what of it fits into memory.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/statistics/histogram.h"

namespace zwang {

struct HistogramPlan {
  bool of_measure = false;  // of an observable otherwise: one histogram per output time, with common edges
  std::size_t index = 0;    // of the measure or observable
  std::size_t bins = 50;
  std::optional<Range> range;  // automatic otherwise
};

// Everything but threads and batches: two parts of an ensemble can be joined when their plans are equal.
struct StatisticsPlan {
  long long members = 0;  // of the whole ensemble, over all shards; with `until`, the cap
  std::size_t outputs = 0, observables = 0, measures = 0, inputs = 0;
  std::vector<double> quantiles;
  std::vector<HistogramPlan> histograms;
  std::size_t memory = std::size_t{512} << 20;  // bytes for values and buckets

  // Scrambled Sobol: how many replicates, and which one a member belongs to.
  int replicates = 0;
  std::function<int(long long)> replicate_of;

  std::size_t columns() const { return outputs * observables + measures + inputs; }
  // Measures, then inputs: the columns of covariance and rank correlation.
  std::size_t related() const { return measures + inputs; }
};

// How much is kept, by the number of members planned and the memory allowed. Measures and inputs come first: a value
// costs 12 bytes (itself, and its rank in the end), and they may take three quarters. Observables at their output
// times cost 8 bytes a value. What does not fit is counted in buckets, and ranks are of every stride-th member.
struct Storage {
  bool exact_measures = true;
  bool exact_observables = true;
  long long stride = 1;             // of the members whose measures and inputs are kept: a power of two
  std::size_t measure_buckets = 0;  // by column; 0 where exact
  std::size_t observable_buckets = 0;
};
Storage choose_storage(const StatisticsPlan& plan);

// The members [first, second) of one of so many shards, numbered from 0: cut between blocks, so that joined shards are
// the same tree.
std::pair<long long, long long> shard_members(long long members, long long shard, long long shards);

// The plan in words: equal texts, equal plans.
std::string plan_text(const StatisticsPlan& plan);

}  // namespace zwang
