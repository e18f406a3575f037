// Statistics computed on the device: the plan of a reduction, and its results, which replace the members.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "host/platform/buffer_pool.h"
#include "kernels/base/status.h"
#include "kernels/reduce/reduce_layout.h"

namespace zwang {

class ColumnStore;

// What to compute. Columns are numbered as in Statistics: observables by time, the same of members with a
// flag, measures, flags, inputs, and measures and inputs of members with a flag.
struct ReductionPlan {
  std::size_t series = 0, measures = 0;  // columns of observables, of measures
  std::size_t flags = 0;                 // numbers 0 or 1 that follow the measures of a member
  std::vector<int> series_given, given;  // flags that select members, for observables and for the others
  std::size_t parameters = 0;
  std::vector<int> drawn;     // by input: index of the parameter
  bool nominal = false;       // member 0 is not counted
  int replicates = 0;         // 0: none
  long long first_drawn = 0;  // the member that belongs to replicate 0

  // Values stored for order statistics and ranks.
  struct Kept {
    std::vector<long long> columns;
    long long stride = 1;   // values of members 0, stride, 2 stride ...
    bool resident = false;  // on the device; at most one of the lists
  };
  std::vector<Kept> kept;

  std::vector<long long> sketched;  // columns counted in buckets ...
  std::vector<double> pivots;       // ... and their pivots

  struct Counted {
    std::size_t column = 0;
    std::vector<double> edges;
    double per_width = 0;
  };
  std::vector<Counted> histograms;

  std::size_t columns() const {
    return series * (1 + series_given.size()) + measures + flags + drawn.size() + given.size() * related();
  }
  std::size_t related() const { return measures + drawn.size(); }
  std::size_t pairs() const { return related() * (related() + 1) / 2; }
};

// Statistics of whole blocks of 256 members.
struct BlockSummary {
  long long first_block = 0, blocks = 0;

  // Nodes of the tree that cover the blocks, ascending and without gaps.
  struct Place {
    int level = 0;
    long long number = 0;
  };
  std::vector<Place> nodes;
  std::vector<ColumnPart> parts;          // nodes x columns
  std::vector<ReplicatePart> replicates;  // nodes x columns x replicates
  std::vector<RelatedColumn> related;     // nodes x related
  std::vector<RelatedPair> pairs;         // nodes x pairs

  struct Sketch {
    SketchExtras extras{};
    std::span<const SketchEntry> entries;  // in any order, in sketch_memory
  };
  std::vector<std::shared_ptr<const HostBuffer>> sketch_memory;
  std::vector<Sketch> sketches;                        // as ReductionPlan::sketched
  std::vector<std::vector<long long>> histograms;      // as ReductionPlan::histograms: below, the bins, above
  std::vector<std::vector<std::vector<double>>> kept;  // as ReductionPlan::kept: by column, unless resident
  std::shared_ptr<ColumnStore> device_columns;
};

// Rows of consecutive members, as they were on the device.
struct DeviceRows {
  std::vector<int> status;
  std::vector<double> observables, measures, parameters;
};

// Consecutive members of an ensemble: statistics of the whole blocks, and the rows of an incomplete last
// block.
struct ReducedMembers {
  long long first = 0, count = 0;
  BlockSummary blocks;
  DeviceRows tail;
  std::vector<int> status;                                    // of all members; empty if all are ok
  TallyCounts tally{};                                        // of all members, tail included
  std::array<std::vector<long long>, status_count> examples;  // the first members of each status but ok
};

}  // namespace zwang
