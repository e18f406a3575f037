// Blocks of members that were reduced elsewhere: what to ask for, and taking it in.
#include <cassert>

#include "host/batch.h"
#include "host/statistics.h"

namespace zwang {

// The first block fixes the buckets, so it must have been looked at; an open one must be filled first.
bool Statistics::takes_blocks() const {
  return !finished_ && open_rows() == 0 && !needs_pilot() && (pilot_ || !wants_pilot());
}

ReductionPlan Statistics::reduction() const {
  assert(takes_blocks());
  ReductionPlan made;
  made.series = plan_.outputs * plan_.observables;
  made.measures = plan_.measures;
  made.replicates = plan_.replicates;
  for (const Tile& tile : tiles_) {
    const TileSetup& setup = tile.columns.setup();
    const std::size_t first = column_number(tile);
    for (std::size_t c = 0; c < setup.columns; ++c) {
      const auto column = static_cast<long long>(first + c);
      if (setup.stride > 0) {
        if (made.kept.empty() || made.kept.back().stride != setup.stride)
          made.kept.push_back({.columns = {}, .stride = setup.stride});
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

namespace {

// Where the numbers of a column lie in a summary, for those columns that have some.
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
  assert(takes_blocks() && blocks.first_block * block_members == first_member_ + members_);
  assert(plan.columns() == plan_.columns());
  if (blocks.blocks == 0) return;

  // What there is of each column.
  struct Sources {
    const std::vector<double>* kept = nullptr;
    const BlockSummary::Sketch* sketch = nullptr;
    const std::vector<long long>* histogram = nullptr;
  };
  std::vector<Sources> sources(plan.columns());
  each_kept(plan, [&](std::size_t column, std::size_t group, std::size_t k) {
    sources[column].kept = &blocks.kept[group][k];
  });
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
      tile.columns.take_counts(c, of.kept, of.sketch, of.histogram);
    }
  });
  members_ += blocks.blocks * block_members;
  entered_ += entered;
}

}  // namespace zwang
