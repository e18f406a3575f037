// Statistics of an ensemble by the points of its sweeps. An ensemble without a sweep has one point.
//
// A point has exactly the statistics of an ensemble of its members alone: blocks, merge tree and pilot begin
// anew with each point. Members are added in order, so at most one point is incomplete; the results of a
// complete one are computed at once and replace its values. Memory is thus that of one point, and of the
// results of all.
#pragma once

#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "host/estimators/rank_correlation.h"
#include "host/statistics/plan.h"
#include "host/statistics/reduction_plan.h"
#include "host/statistics/statistics.h"
#include "host/statistics/statistics_result.h"

namespace zwang {

struct EnsemblePlan {
  StatisticsPlan point;  // of one point; its `members` are those of a point
  long long points = 1;

  MemberBlocks blocks() const { return {points, point.members}; }
};

class EnsembleStatistics {
 public:
  // first_member: of the shard, where a block begins.
  explicit EnsembleStatistics(EnsemblePlan plan, long long first_member = 0);

  long long first_member() const { return first_member_; }
  long long position() const { return position_; }  // the next member
  long long members() const { return members_; }    // added so far, entered or not
  long long entered() const { return entered_; }    // of these, in the statistics

  // The point to which the next member belongs, and its statistics.
  Statistics& current();
  long long current_point() const { return position_ / plan_.point.members; }

  // As those of Statistics; rows and members are numbered in the whole ensemble.
  void add(const MemberRows& rows, unsigned threads = 1);
  // Whole blocks of the current point reduced on a device, numbered in the point. `entered` of their members
  // are in the statistics; `failed`: of these members, and of those of an incomplete last block that are
  // added next.
  bool accepts_blocks() const;
  ReductionPlan current_reduction() const { return points_.back().statistics->reduction(); }
  void add_blocks(const ReductionPlan& plan, const BlockSummary& blocks, long long entered, long long failed,
                  unsigned threads = 1);

  // The members added so far, [first, second) by [first, second) in order: `until` leaves out the last members
  // of points that are sure. To be called before finish().
  std::vector<std::pair<long long, long long>> added_members() const;

  // Leaves out the remaining members of the current point, of which at least one has been added.
  void end_point(unsigned threads = 1);

  // Appends the shard that follows. Throws Error if it does not follow or belongs to another study.
  void join(const EnsembleStatistics& next, unsigned threads = 1);

  void save(std::ostream& stream) const;
  static EnsembleStatistics load(EnsemblePlan plan, std::istream& stream, const std::string& name);

  // By point; points without members have empty results. Nothing can be added afterwards.
  std::vector<StatisticsResult> finish(unsigned threads = 1, const ColumnRanker& ranker = {});

  bool has_device_values() const;
  // Values that finish() ranks in one column, at most.
  long long longest_column() const;
  Storage storage() const { return choose_storage(plan_.point); }
  const EnsemblePlan& plan() const { return plan_; }

 private:
  // A point of which members have been added: its statistics, or its results once it is complete.
  struct PointPart {
    long long number = 0;
    long long failed = 0;
    std::optional<Statistics> statistics;
    std::optional<StatisticsResult> result;
  };

  PointPart& open_point();
  StatisticsResult result_of(PointPart& point, unsigned threads, const ColumnRanker& ranker = {}) const;
  void complete(PointPart& point, unsigned threads);
  void complete_if_ended(PointPart& point, unsigned threads);
  void add_to_point(const MemberRows& rows, std::size_t begin, std::size_t count, PointPart& point,
                    unsigned threads) const;
  bool whole_so_far(const PointPart& point) const;
  void check_follows(const EnsembleStatistics& next) const;

  EnsemblePlan plan_;
  long long first_member_ = 0, position_ = 0;
  long long members_ = 0, entered_ = 0;
  std::vector<PointPart> points_;  // ascending; all but the first and the last have results
};

// Serialises results; every number keeps its bits.
class ByteReader;
class ByteWriter;
void save_result(ByteWriter& bytes, const StatisticsResult& result);
StatisticsResult load_result(ByteReader& bytes, const StatisticsPlan& plan);

}  // namespace zwang
