// Blocks of members reduced on a device: the plan of the reduction, and adding its results.
#include <algorithm>
#include <cassert>

#include "host/estimators/correlation.h"
#include "host/estimators/histogram.h"
#include "host/estimators/moments.h"
#include "host/estimators/quantiles.h"
#include "host/platform/parallel.h"
#include "host/statistics/column_store.h"
#include "host/statistics/plan.h"
#include "host/statistics/reduction_plan.h"
#include "host/statistics/replicates.h"
#include "host/statistics/statistics.h"
#include "host/statistics/tile.h"
#include "kernels/reduce/reduce_layout.h"

namespace zwang {

// The pilot must be set, by set_pilot() or by the first block added by members; an open block must be completed first.
bool Statistics::accepts_blocks() const {
  return !finished_ && open_rows() == 0 && !needs_pilot() && (pilot_ || !wants_pilot());
}

ReductionPlan Statistics::reduction() const {
  assert(accepts_blocks());
  ReductionPlan made;
  made.series = plan_.series();
  made.measures = plan_.measures;
  made.flags = plan_.flags;
  for (const GivenPlan& given : plan_.givens) {
    if (given.observables) made.series_given.push_back(static_cast<int>(given.flag));
    made.given.push_back(static_cast<int>(given.flag));
  }
  made.replicates = plan_.replicates;
  for (const Tile& tile : tiles_) {
    const TileSetup& setup = tile.columns.setup();
    const std::size_t first = column_number(tile);
    for (std::size_t c = 0; c < setup.columns; ++c) {
      const auto column = static_cast<long long>(first + c);
      if (setup.stride > 0) {
        // Observables are the bulk of the values. Measures and inputs are copied to the host for their ranks.
        const bool resident = is_series(tile.kind);
        if (made.kept.empty() || made.kept.back().stride != setup.stride ||
            made.kept.back().resident != resident)
          made.kept.push_back({.columns = {}, .stride = setup.stride, .resident = resident});
        made.kept.back().columns.push_back(column);
      }
      if (setup.buckets > 0) {
        made.sketched.push_back(column);
        made.pivots.push_back(tile.columns.sketches()[c].pivot());
      }
      if (const std::optional<Histogram>& histogram = tile.columns.histogram(c))
        made.histograms.push_back(
            {.column = first + c, .edges = histogram->edges(), .per_width = histogram->per_width()});
    }
  }
  return made;
}

ReductionPlan Statistics::reduction_with_pilot(const StatisticsPlan& plan, const MemberRows& first_block) {
  Statistics scratch(plan);
  scratch.set_pilot(first_block);
  return scratch.reduction();
}

namespace {

// Visits the columns with stored values, with their position in a summary.
template <class Visit>
void each_kept(const ReductionPlan& plan, const Visit& visit) {
  for (std::size_t group = 0; group < plan.kept.size(); ++group)
    for (std::size_t k = 0; k < plan.kept[group].columns.size(); ++k)
      visit(static_cast<std::size_t>(plan.kept[group].columns[k]), group, k);
}

TilePart part_of_node(const ReductionPlan& plan, const BlockSummary& blocks, std::size_t node,
                      std::size_t first, std::size_t columns) {
  TilePart made;
  const auto replicates = static_cast<std::size_t>(plan.replicates);
  made.replicates.count.resize(replicates * tile_columns, 0);
  made.replicates.offset.resize(replicates * tile_columns, 0.0);
  for (std::size_t c = 0; c < columns; ++c) {
    const std::size_t place = node * plan.columns() + first + c;
    set_column(made.moments, c, blocks.parts[place]);
    for (std::size_t r = 0; r < replicates; ++r) {
      const ReplicatePart& part = blocks.replicates[place * replicates + r];
      made.replicates.count[r * tile_columns + c] = part.count;
      made.replicates.offset[r * tile_columns + c] = part.offset;
    }
  }
  return made;
}

CoMoments comoments_of_node(const ReductionPlan& plan, const BlockSummary& blocks, std::size_t node) {
  CoMoments made(plan.related());
  for (std::size_t c = 0; c < plan.related(); ++c) {
    const RelatedColumn& column = blocks.related[node * plan.related() + c];
    made.known[c] = column.known != 0 ? 1 : 0;
    made.pivot[c] = column.pivot;
  }
  for (std::size_t p = 0; p < plan.pairs(); ++p) {
    const RelatedPair& pair = blocks.pairs[node * plan.pairs() + p];
    made.count[p] = pair.count;
    made.offset_i[p] = pair.offset_i;
    made.offset_j[p] = pair.offset_j;
    made.product[p] = pair.product;
  }
  return made;
}

}  // namespace

void Statistics::add_blocks(const ReductionPlan& plan, const BlockSummary& blocks, long long entered,
                            unsigned threads) {
  assert(accepts_blocks() && blocks.first_block * block_members == first_member_ + members_);
  assert(plan.columns() == plan_.columns());
  if (blocks.blocks == 0) return;

  // The data of each column in the summary.
  struct Sources {
    const std::vector<double>* kept = nullptr;
    const BlockSummary::Sketch* sketch = nullptr;
    const std::vector<long long>* histogram = nullptr;
  };
  std::vector<Sources> sources(plan.columns());
  each_kept(plan, [&](std::size_t column, std::size_t group, std::size_t k) {
    if (!plan.kept[group].resident) sources[column].kept = &blocks.kept[group][k];
  });
  if (blocks.device_columns) device_columns_.push_back(blocks.device_columns);
  for (std::size_t k = 0; k < plan.sketched.size(); ++k)
    sources[static_cast<std::size_t>(plan.sketched[k])].sketch = &blocks.sketches[k];
  for (std::size_t k = 0; k < plan.histograms.size(); ++k)
    sources[plan.histograms[k].column].histogram = &blocks.histograms[k];

  in_parallel(tiles_.size() + 1, threads, [&](std::size_t k) {
    if (k == 0) {
      for (std::size_t n = 0; n < blocks.nodes.size() && plan.related() > 0; ++n)
        related_tree_.push(
            {blocks.nodes[n].level, blocks.nodes[n].number, comoments_of_node(plan, blocks, n)});
      return;
    }
    Tile& tile = tiles_[k - 1];
    const std::size_t first = column_number(tile), columns = tile.columns.setup().columns;
    for (std::size_t n = 0; n < blocks.nodes.size(); ++n)
      tile.columns.push_node(blocks.nodes[n].level, blocks.nodes[n].number,
                             part_of_node(plan, blocks, n, first, columns));
    for (std::size_t c = 0; c < columns; ++c) {
      const Sources& of = sources[first + c];
      tile.columns.add_counts(c, of.kept, of.sketch, of.histogram);
    }
  });
  members_ += blocks.blocks * block_members;
  entered_ += entered;
}

// --- Values on the device -------------------------------------------------------------------------------

std::vector<double> Statistics::device_values(std::size_t column) const {
  std::vector<double> values;
  for (const auto& part : device_columns_) {
    const std::vector<double> some = part->column(column);
    values.insert(values.end(), some.begin(), some.end());
  }
  return values;
}

// Calls `ask` with all values of observables, those on the host and those on the device.
template <class Ask>
auto Statistics::with_all_values(const Ask& ask) const {
  std::vector<std::span<const double>> on_host;
  for (const Tile& tile : tiles_)
    for (std::size_t c = 0; c < tile.columns.setup().columns && is_series(tile.kind); ++c)
      on_host.push_back(tile.columns.kept(c));
  HostColumns host_columns(std::move(on_host));
  std::vector<ColumnStore*> parts{&host_columns};
  for (const auto& part : device_columns_) parts.push_back(part.get());
  return ask(std::span<ColumnStore* const>(parts));
}

void Statistics::select_on_device() {
  if (device_columns_.empty()) return;
  std::vector<std::vector<long long>> ranks;
  for (const Tile& tile : tiles_) {
    if (!is_series(tile.kind)) continue;
    const TilePart part = tile.columns.part();
    for (std::size_t c = 0; c < tile.columns.setup().columns; ++c) {
      const Moments moments = column_moments(part.moments, c);
      std::vector<long long>& wanted = ranks.emplace_back(ranks_needed(moments.count, plan_.quantiles));
      // The smallest and largest finite value, for histograms.
      if (part.moments.finite[c] == 0) continue;
      wanted.push_back(part.moments.below[c]);
      wanted.push_back(part.moments.below[c] + part.moments.finite[c] - 1);
      std::sort(wanted.begin(), wanted.end());
      wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    }
  }
  std::vector<std::vector<double>> values = with_all_values(
      [&](std::span<ColumnStore* const> parts) { return select_order_statistics(parts, ranks); });
  selected_.clear();
  for (std::size_t c = 0; c < ranks.size(); ++c)
    selected_.emplace_back(std::move(ranks[c]), std::move(values[c]));
}

std::optional<Range> Statistics::device_finite_range(std::size_t column) const {
  const Tile& tile = tile_of(Kind::observable, column);
  const TileMoments moments = tile.columns.part().moments;
  const std::size_t c = column - tile.first_column;
  if (moments.finite[c] == 0) return std::nullopt;
  return Range{selected_[column].at(moments.below[c]),
               selected_[column].at(moments.below[c] + moments.finite[c] - 1)};
}

std::vector<Histogram> Statistics::device_histograms(const std::vector<std::size_t>& columns,
                                                     const Histogram& empty) const {
  const std::vector<long long> numbers(columns.begin(), columns.end());
  const std::size_t width = empty.counts().size() + 2;
  std::vector<long long> counts(columns.size() * width, 0);
  with_all_values([&](std::span<ColumnStore* const> parts) {
    for (ColumnStore* part : parts) part->count_bins(numbers, empty.edges(), empty.per_width(), counts);
    return 0;
  });
  std::vector<Histogram> made(columns.size(), empty);
  for (std::size_t k = 0; k < made.size(); ++k)
    made[k].add_counts(std::span(counts).subspan(k * width, width));
  return made;
}

}  // namespace zwang
