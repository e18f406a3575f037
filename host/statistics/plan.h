// The plan of the statistics: their columns, quantiles and histograms, and which values fit into memory.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/estimators/histogram.h"

namespace zwang {

struct HistogramPlan {
  bool of_measure = false;  // false: of an observable, one histogram per output time with common edges
  std::size_t index = 0;    // of the measure or observable
  std::size_t bins = 50;
  std::optional<Range> range;  // empty: automatic
};

// What is known about a measure before the run.
struct MeasureTraits {
  bool probability = false;              // its form: 0 or 1, never missing
  std::optional<std::size_t> undecided;  // the flag of a missing value that decided it
  bool can_be_missing = false;           // its form: it may not come about
};

// P(measure > x) at several x.
struct ExceedancePlan {
  std::size_t measure = 0;
  std::vector<double> at;  // ascending; empty: order statistics ...
  std::size_t points = 0;  // ... so many at most
};

// Statistics over the members with a flag.
struct GivenPlan {
  std::size_t flag = 0;
  bool observables = false;  // also of observables
};

// Sobol' indices by pick-freeze of some measures.
struct PickFreezePlan {
  std::vector<std::size_t> measures;
  std::size_t inputs = 0;  // inputs or groups of them that are varied
  std::size_t blocks() const { return inputs + 2; }
};

// Does not contain threads and batches: two parts of an ensemble can be joined if their plans are equal.
struct StatisticsPlan {
  long long members = 0;  // of the whole ensemble, over all shards; with `until`, the limit
  std::size_t outputs = 0, observables = 0, measures = 0, inputs = 0;
  std::size_t flags = 0;                  // numbers 0 or 1 that follow the measures of a member
  std::vector<MeasureTraits> traits;      // by measure; empty: none is known
  std::vector<char> input_takes_choices;  // by input: its values are few; empty: none does
  std::vector<ExceedancePlan> exceedances;
  std::vector<GivenPlan> givens;
  std::optional<PickFreezePlan> pick_freeze;
  std::vector<double> quantiles;
  std::vector<HistogramPlan> histograms;
  std::size_t memory = std::size_t{512} << 20;  // bytes for values and buckets

  // Scrambled Sobol: the number of replicates, and the replicate of a member.
  int replicates = 0;
  std::function<int(long long)> replicate_of;

  // Members that share the number of a row: one, or those of the blocks of pick-freeze.
  long long members_per_row() const {
    return pick_freeze ? static_cast<long long>(pick_freeze->blocks()) : 1;
  }
  std::size_t series() const { return outputs * observables; }
  std::size_t given_series() const;  // columns of observables over the members with a flag
  std::size_t columns() const {
    return series() + given_series() + measures + flags + inputs + givens.size() * related();
  }
  // Measures, then inputs: the columns of covariance and rank correlation.
  std::size_t related() const { return measures + inputs; }
};

// Which values are stored, chosen by the planned number of members and the memory limit. Measures and inputs
// come first: a value costs 12 bytes (itself and, at the end, its rank), and they may take three quarters of
// the memory. Observables at their output times cost 8 bytes per value. Values that do not fit are counted in
// buckets, and rank correlations then use every stride-th member.
struct Storage {
  bool exact_measures = true;
  bool exact_observables = true;
  long long stride = 1;             // measures and inputs of members 0, stride ... are stored; a power of two
  std::size_t measure_buckets = 0;  // per column; 0 if exact
  std::size_t observable_buckets = 0;
};
Storage choose_storage(const StatisticsPlan& plan);

// The members of an ensemble in blocks of 256, which do not go beyond the points of the sweeps: each point
// has the blocks that an ensemble of its members alone would have.
struct MemberBlocks {
  long long points = 1;
  long long per_point = 0;  // members

  long long members() const { return points * per_point; }
  long long blocks_per_point() const;
  long long begin_of(long long block) const;  // its first member; of the number of blocks: all members
  // The first member at or after this one at which a block begins, or all members.
  long long boundary_from(long long member) const;
  bool is_boundary(long long member) const { return boundary_from(member) == member; }
};
std::pair<long long, long long> shard_members(const MemberBlocks& members, long long shard, long long shards);

// The members [first, second) of shard `shard` (from 0) of `shards`. Cuts are between blocks, so that joined
// shards give the same merge tree.
inline std::pair<long long, long long> shard_members(long long members, long long shard, long long shards) {
  return shard_members(MemberBlocks{1, members}, shard, shards);
}

// The plan as text: equal texts mean equal plans.
std::string plan_text(const StatisticsPlan& plan);

}  // namespace zwang
