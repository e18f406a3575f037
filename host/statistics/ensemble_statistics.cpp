#include "host/statistics/ensemble_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "host/platform/parallel.h"
#include "host/statistics/plan.h"
#include "src/base/error.h"

namespace zwang {

EnsembleStatistics::EnsembleStatistics(EnsemblePlan plan, long long first_member)
    : plan_(std::move(plan)), first_member_(first_member), position_(first_member) {
  assert(plan_.blocks().is_boundary(first_member));
  if (first_member < plan_.blocks().members()) open_point();
}

// The point of the next member, begun if it has not been.
EnsembleStatistics::PointPart& EnsembleStatistics::open_point() {
  const long long number = current_point();
  if (points_.empty() || points_.back().number != number) {
    points_.push_back({.number = number, .failed = 0, .statistics = {}, .result = {}});
    points_.back().statistics.emplace(plan_.point, position_ % plan_.point.members);
  }
  return points_.back();
}

// At the end of the ensemble: that of the last point.
Statistics& EnsembleStatistics::current() {
  if (position_ < plan_.blocks().members()) open_point();
  assert(points_.back().statistics);
  return *points_.back().statistics;
}

StatisticsResult EnsembleStatistics::result_of(PointPart& point, unsigned threads,
                                               const ColumnRanker& ranker) const {
  StatisticsResult result = point.statistics->finish(threads, ranker);
  result.failed = point.failed;
  return result;
}

// Whether all members of the point since its first are here: a shard may begin within a point.
bool EnsembleStatistics::whole_so_far(const PointPart& point) const {
  return point.statistics && point.statistics->first_member() == 0;
}

// The single point of an ensemble without a sweep is kept as it is: finish() may use a device.
void EnsembleStatistics::complete(PointPart& point, unsigned threads) {
  if (plan_.points == 1 || !whole_so_far(point)) return;
  point.result = result_of(point, threads);
  point.statistics.reset();
}

void EnsembleStatistics::complete_if_ended(PointPart& point, unsigned threads) {
  const long long end = point.statistics->first_member() + point.statistics->members();
  if (end == plan_.point.members) complete(point, threads);
}

void EnsembleStatistics::add_to_point(const MemberRows& rows, std::size_t begin, std::size_t count,
                                      PointPart& point, unsigned threads) const {
  const auto part = [&](const auto& values, std::size_t width) {
    return values.subspan(begin * width, count * width);
  };
  const StatisticsPlan& plan = plan_.point;
  const long long first = rows.first + static_cast<long long>(begin);
  point.statistics->add({.first = first % plan.members,
                         .entered = part(rows.entered, 1),
                         .observables = part(rows.observables, plan.outputs * plan.observables),
                         .measures = part(rows.measures, rows.measures.size() / rows.entered.size()),
                         .inputs = part(rows.inputs, plan.inputs),
                         .row_values = part(rows.row_values, rows.row_values.size() / rows.entered.size()),
                         .row_whole = part(rows.row_whole, rows.row_whole.empty() ? 0 : 1)},
                        threads);
  if (rows.failed.empty()) return;
  const auto failed = part(rows.failed, 1);
  point.failed += std::accumulate(failed.begin(), failed.end(), 0LL);
}

// Rows of many points: each point is a task of its own. Rows of one point: its columns are.
void EnsembleStatistics::add(const MemberRows& rows, unsigned threads) {
  assert(rows.first == position_);
  struct Piece {
    std::size_t begin, count, point;
  };
  std::vector<Piece> pieces;
  const std::size_t total = rows.entered.size();
  for (std::size_t begin = 0; begin < total;) {
    open_point();
    const long long left = plan_.point.members - position_ % plan_.point.members;
    const std::size_t count = std::min(total - begin, static_cast<std::size_t>(left));
    pieces.push_back({begin, count, points_.size() - 1});
    begin += count;
    position_ += static_cast<long long>(count);
  }
  const unsigned inside = pieces.size() > 1 ? 1 : threads;
  in_parallel(pieces.size(), pieces.size() > 1 ? threads : 1, [&](std::size_t k) {
    const Piece& piece = pieces[k];
    PointPart& point = points_[piece.point];
    add_to_point(rows, piece.begin, piece.count, point, inside);
    complete_if_ended(point, inside);
  });
  members_ += static_cast<long long>(total);
  entered_ += std::count_if(rows.entered.begin(), rows.entered.end(), [](char one) { return one != 0; });
}

bool EnsembleStatistics::accepts_blocks() const {
  return !points_.empty() && points_.back().number == current_point() && points_.back().statistics &&
         points_.back().statistics->accepts_blocks();
}

void EnsembleStatistics::add_blocks(const ReductionPlan& plan, const BlockSummary& blocks, long long entered,
                                    long long failed, unsigned threads) {
  PointPart& point = open_point();
  Statistics& statistics = *point.statistics;
  const long long before = statistics.members();
  statistics.add_blocks(plan, blocks, entered, threads);
  const long long added = statistics.members() - before;
  members_ += added;
  position_ += added;
  entered_ += entered;
  point.failed += failed;
  complete_if_ended(point, threads);
}

void EnsembleStatistics::end_point(unsigned threads) {
  const long long place = position_ % plan_.point.members;
  if (place == 0) return;  // it was the last member
  PointPart& point = points_.back();
  assert(whole_so_far(point) && plan_.points > 1);
  complete(point, threads);
  point.result->met_until = true;
  position_ += plan_.point.members - place;
}

std::vector<std::pair<long long, long long>> EnsembleStatistics::added_members() const {
  std::vector<std::pair<long long, long long>> made;
  for (const PointPart& point : points_) {
    const long long begin =
        point.number * plan_.point.members + (point.statistics ? point.statistics->first_member() : 0);
    const long long end = begin + (point.statistics ? point.statistics->members() : point.result->members);
    if (end == begin) continue;
    if (!made.empty() && made.back().second == begin)
      made.back().second = end;
    else
      made.emplace_back(begin, end);
  }
  return made;
}

void EnsembleStatistics::check_follows(const EnsembleStatistics& next) const {
  const auto text = [](const EnsembleStatistics& one) {
    return fmt::format("{} points, {}", one.plan_.points, plan_text(one.plan_.point));
  };
  if (text(*this) != text(next))
    throw Error({.message = "the shards belong to different studies",
                 .found = text(next),
                 .expected = text(*this),
                 .hint = "join only the shards of one run"});
  if (next.first_member_ == position_ && plan_.blocks().is_boundary(position_)) return;
  throw Error({.message = "the shards do not follow one another",
               .found = fmt::format("a shard from member {}", next.first_member_),
               .expected = fmt::format("a shard from member {}, where a block begins", position_),
               .hint = "join only the shards of one run"});
}

// The first point of the shard that follows may be the last one of this shard.
void EnsembleStatistics::join(const EnsembleStatistics& next, unsigned threads) {
  check_follows(next);
  if (!points_.empty() && points_.back().statistics && points_.back().statistics->members() == 0)
    points_.pop_back();
  for (const PointPart& part : next.points_) {
    if (!part.result && part.statistics->members() == 0) continue;
    if (part.result || points_.empty() || points_.back().number != part.number) {
      points_.push_back(part);
      continue;
    }
    PointPart& point = points_.back();
    point.statistics->join(*part.statistics);
    point.failed += part.failed;
    complete_if_ended(point, threads);
  }
  position_ = next.position_;
  members_ += next.members_;
  entered_ += next.entered_;
  if (points_.empty()) open_point();
}

std::vector<StatisticsResult> EnsembleStatistics::finish(unsigned threads, const ColumnRanker& ranker) {
  std::vector<StatisticsResult> made;
  made.reserve(static_cast<std::size_t>(plan_.points));
  std::size_t next = 0;
  std::optional<StatisticsResult> empty;
  for (long long number = 0; number < plan_.points; ++number) {
    if (next < points_.size() && points_[next].number == number) {
      PointPart& point = points_[next++];
      made.push_back(point.result ? std::move(*point.result) : result_of(point, threads, ranker));
      continue;
    }
    if (!empty) empty = Statistics(plan_.point).finish(threads);
    made.push_back(*empty);
  }
  points_.clear();
  return made;
}

bool EnsembleStatistics::has_device_values() const {
  return !points_.empty() && points_.back().statistics && points_.back().statistics->has_device_values();
}

long long EnsembleStatistics::longest_column() const {
  if (points_.empty() || !points_.back().statistics) return 0;
  const Statistics& last = *points_.back().statistics;
  return last.members() / last.storage().stride;
}

}  // namespace zwang
