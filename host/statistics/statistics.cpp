#include "host/statistics/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "host/estimators/correlation.h"
#include "host/estimators/histogram.h"
#include "host/estimators/nan.h"
#include "host/platform/parallel.h"
#include "host/statistics/replicates.h"

namespace zwang {

namespace {
// The lower median: a value of the data, so that a value that occurs often is resolved exactly.
double median_of(std::vector<double> values) {
  std::erase_if(values, [](double x) { return !std::isfinite(x); });
  if (values.empty()) return 0;
  const auto middle = values.begin() + std::ptrdiff_t((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Statistics::Statistics(StatisticsPlan plan, long long first_member)
    : plan_(std::move(plan)), storage_(choose_storage(plan_)), first_member_(first_member) {
  assert(first_member % block_members == 0);
  assert(plan_.replicates == 0 || plan_.replicate_of);
  const long long series_stride = storage_.exact_observables ? 1 : 0;
  add_tiles(Kind::observable, series_stride, storage_.observable_buckets);
  add_tiles(Kind::given_observable, series_stride, storage_.observable_buckets);
  add_tiles(Kind::measure, storage_.stride, storage_.measure_buckets);
  add_tiles(Kind::flag, storage_.stride, 0);
  add_tiles(Kind::input, storage_.stride, 0);
  // Stored values of members with a flag are among those of all members.
  add_tiles(Kind::given_measure, 0, storage_.measure_buckets);
  add_tiles(Kind::given_input, 0, 0);
  related_open_.resize(block_members * plan_.related(), nan);
  if (plan_.pick_freeze)
    pick_freeze_.emplace(plan_.pick_freeze->measures.size(), plan_.pick_freeze->inputs, first_member);
  prepare_histograms();
}

void Statistics::add_tiles(Kind kind, long long stride, std::size_t buckets) {
  const std::size_t columns = columns_of(kind);
  for (std::size_t first = 0; first < columns; first += tile_columns) {
    TileSetup setup{.columns = std::min<std::size_t>(tile_columns, columns - first),
                    .members = plan_.members,
                    .stride = stride,
                    .buckets = buckets,
                    .replicates = plan_.replicates,
                    .replicate_of = plan_.replicate_of};
    tiles_.push_back({kind, first, ColumnTile(std::move(setup), first_member_ / block_members)});
  }
}

// --- Columns -----------------------------------------------------------------------------------------------

const Statistics::Tile& Statistics::tile_of(Kind kind, std::size_t column) const {
  for (const Tile& tile : tiles_) {
    if (tile.kind == kind && tile.first_column == column / tile_columns * tile_columns) return tile;
  }
  assert(false);
  return tiles_.front();
}

Statistics::Tile& Statistics::tile_of(Kind kind, std::size_t column) {
  return const_cast<Tile&>(std::as_const(*this).tile_of(kind, column));
}

std::size_t Statistics::columns_of(Kind kind) const {
  switch (kind) {
    case Kind::observable:
      return plan_.series();
    case Kind::given_observable:
      return plan_.given_series();
    case Kind::measure:
      return plan_.measures;
    case Kind::flag:
      return plan_.flags;
    case Kind::input:
      return plan_.inputs;
    case Kind::given_measure:
      return plan_.givens.size() * plan_.measures;
    case Kind::given_input:
      break;
  }
  return plan_.givens.size() * plan_.inputs;
}

// Among all columns.
std::size_t Statistics::first_column_of(Kind kind) const {
  std::size_t first = 0;
  for (const Kind before : {Kind::observable, Kind::given_observable, Kind::measure, Kind::flag, Kind::input,
                            Kind::given_measure})
    if (before < kind) first += columns_of(before);
  return first;
}

// Number of the tile's first column among all columns.
std::size_t Statistics::column_number(const Tile& tile) const {
  return first_column_of(tile.kind) + tile.first_column;
}

// The columns of a histogram among those of its kind: an observable has one per output time.
std::vector<std::size_t> Statistics::histogram_columns(const HistogramPlan& histogram) const {
  if (histogram.of_measure) return {histogram.index};
  std::vector<std::size_t> columns;
  for (std::size_t t = 0; t < plan_.outputs; ++t) columns.push_back(t * plan_.observables + histogram.index);
  return columns;
}

// --- The pilot ---------------------------------------------------------------------------------------------

bool Statistics::wants_pilot() const { return !storage_.exact_measures || !storage_.exact_observables; }

Pilot Statistics::pilot_of_open_block() const {
  Pilot pilot;
  for (const Tile& tile : tiles_) {
    for (std::size_t c = 0; c < tile.columns.setup().columns; ++c) {
      pilot.pivots.push_back(median_of(tile.columns.open_values(c)));
    }
  }
  for (const HistogramPlan& histogram : plan_.histograms) {
    std::optional<Range> found;
    const Kind kind = histogram.of_measure ? Kind::measure : Kind::observable;
    for (const std::size_t column : histogram_columns(histogram)) {
      const Tile& tile = tile_of(kind, column);
      found = joined_range(found, finite_range(tile.columns.open_values(column - tile.first_column)));
    }
    // Wide enough for a million normally distributed values; others are counted as outside.
    pilot.ranges.push_back(histogram_range(found, 0.5));
  }
  return pilot;
}

void Statistics::apply_pilot(Pilot pilot) {
  pilot_ = std::move(pilot);
  for (Tile& tile : tiles_) {
    const std::size_t columns = tile.columns.setup().columns;
    tile.columns.set_pivots(std::span(pilot_->pivots).subspan(column_number(tile), columns));
  }
  prepare_histograms();
}

// Histograms with known edges count members as they are added. Automatic ones over stored values are counted
// at the end.
void Statistics::prepare_histograms() {
  for (std::size_t h = 0; h < plan_.histograms.size(); ++h) {
    const HistogramPlan& histogram = plan_.histograms[h];
    const Kind kind = histogram.of_measure ? Kind::measure : Kind::observable;
    const bool exact = histogram.of_measure ? storage_.exact_measures : storage_.exact_observables;
    if (!histogram.range && (exact || !pilot_)) continue;
    const Range range = histogram.range ? *histogram.range : pilot_->ranges[h];
    const Histogram empty(range.low, range.high, histogram.bins);
    for (const std::size_t column : histogram_columns(histogram)) {
      Tile& tile = tile_of(kind, column);
      tile.columns.set_histogram(column - tile.first_column, empty);
    }
  }
}

void Statistics::set_pilot(const MemberRows& first_members) {
  assert(awaits_pilot() && first_members.first == 0);
  Statistics scratch(plan_);
  const std::size_t count = std::min<std::size_t>(first_members.entered.size(), block_members);
  const Tables tables = tables_of(first_members);
  for (Tile& tile : scratch.tiles_) tile.columns.fill(tile_rows(tile, tables, 0, count));
  apply_pilot(scratch.pilot_of_open_block());
}

// --- Members -----------------------------------------------------------------------------------------------

Statistics::Tables Statistics::tables_of(const MemberRows& rows) const {
  Tables made{rows, {}, {}, {}};
  const std::size_t count = rows.entered.size(), width = plan_.measures + plan_.flags;
  const auto append = [](std::vector<double>& to, std::span<const double> row, bool flag) {
    if (flag)
      to.insert(to.end(), row.begin(), row.end());
    else
      to.insert(to.end(), row.size(), nan);
  };
  for (std::size_t k = 0; k < count && !plan_.givens.empty(); ++k) {
    const std::span<const double> row = rows.measures.subspan(k * width, width);
    for (const GivenPlan& given : plan_.givens) {
      const bool flag = row[plan_.measures + given.flag] == 1;
      append(made.measures, row.first(plan_.measures), flag);
      append(made.inputs, rows.inputs.subspan(k * plan_.inputs, plan_.inputs), flag);
      if (given.observables)
        append(made.observables, rows.observables.subspan(k * plan_.series(), plan_.series()), flag);
    }
  }
  return made;
}

TileRows Statistics::tile_rows(const Tile& tile, const Tables& tables, std::size_t begin,
                               std::size_t count) const {
  const MemberRows& rows = tables.rows;
  std::span<const double> table;
  std::size_t length = columns_of(tile.kind), skip = 0;
  switch (tile.kind) {
    case Kind::observable:
      table = rows.observables;
      break;
    case Kind::given_observable:
      table = tables.observables;
      break;
    case Kind::measure:
    case Kind::flag:
      table = rows.measures;
      length = plan_.measures + plan_.flags;
      skip = tile.kind == Kind::flag ? plan_.measures : 0;
      break;
    case Kind::input:
      table = rows.inputs;
      break;
    case Kind::given_measure:
      table = tables.measures;
      break;
    case Kind::given_input:
      table = tables.inputs;
      break;
  }
  return {table.data() + begin * length + skip + tile.first_column, length, rows.entered.data() + begin,
          count};
}

void Statistics::fill_related(const MemberRows& rows, std::size_t begin, std::size_t count) {
  const std::size_t place = std::size_t((rows.first + static_cast<long long>(begin)) % block_members);
  for (std::size_t k = 0; k < count; ++k) {
    if (rows.entered[begin + k] == 0) continue;
    const double* measures = rows.measures.data() + (begin + k) * (plan_.measures + plan_.flags);
    const double* inputs = rows.inputs.data() + (begin + k) * plan_.inputs;
    double* to = related_open_.data() + (place + k) * plan_.related();
    std::copy(measures, measures + plan_.measures, to);
    std::copy(inputs, inputs + plan_.inputs, to + plan_.measures);
  }
}

void Statistics::close_related() {
  if (plan_.related() == 0) return;
  const auto& nodes = related_tree_.nodes();
  const long long block = nodes.empty() ? first_member_ / block_members : nodes.back().end_block();
  related_tree_.push({0, block, block_comoments(related_open_, plan_.related())});
  std::fill(related_open_.begin(), related_open_.end(), nan);
}

// The first block sets the pilot as a whole before it is counted.
void Statistics::add_first_block(const Tables& tables, std::size_t& begin) {
  const MemberRows& rows = tables.rows;
  const std::size_t count = std::min(rows.entered.size(), block_members - open_rows());
  for (Tile& tile : tiles_) tile.columns.fill(tile_rows(tile, tables, 0, count));
  fill_related(rows, 0, count);
  begin = count;
  if (open_rows() + count < block_members) return;
  apply_pilot(pilot_of_open_block());
  for (Tile& tile : tiles_) tile.columns.close();
  close_related();
}

void Statistics::add(const MemberRows& rows, unsigned threads) {
  assert(!finished_ && !needs_pilot());
  assert(rows.first == first_member_ + members_);
  const std::size_t total = rows.entered.size();
  std::size_t first = 0;
  const Tables tables = tables_of(rows);
  if (wants_pilot() && !pilot_) add_first_block(tables, first);

  // Each tile adds its columns of all rows, block by block; the covariances are one more task.
  const auto each_block = [&](const auto& fill_and_close) {
    for (std::size_t begin = first; begin < total;) {
      const std::size_t place = std::size_t((rows.first + static_cast<long long>(begin)) % block_members);
      const std::size_t count = std::min(total - begin, block_members - place);
      fill_and_close(begin, count, place + count == block_members);
      begin += count;
    }
  };
  in_parallel(tiles_.size() + 1, threads, [&](std::size_t k) {
    each_block([&](std::size_t begin, std::size_t count, bool complete) {
      if (k == 0) {
        fill_related(rows, begin, count);
        if (complete) close_related();
      } else {
        tiles_[k - 1].columns.fill(tile_rows(tiles_[k - 1], tables, begin, count));
        if (complete) tiles_[k - 1].columns.close();
      }
    });
  });
  if (pick_freeze_) pick_freeze_->add(rows.row_values, rows.row_whole);
  members_ += static_cast<long long>(total);
  entered_ +=
      std::count_if(rows.entered.begin(), rows.entered.end(), [](char entered) { return entered != 0; });
}

MeanEstimate Statistics::measure_so_far(std::size_t measure) const {
  const Tile& tile = tile_of(Kind::measure, measure);
  return mean_estimate(tile.columns.part(), measure - tile.first_column);
}

}  // namespace zwang
