// Joins the statistics of consecutive shards.
#include <fmt/format.h>

#include "host/estimators/moments.h"
#include "host/statistics/plan.h"
#include "host/statistics/statistics.h"
#include "src/base/error.h"

namespace zwang {

void Statistics::check_follows(const Statistics& next) const {
  const auto refuse = [](const std::string& message, const std::string& found, const std::string& expected) {
    throw Error({.message = message,
                 .found = found,
                 .expected = expected,
                 .hint = "join only the shards of one run"});
  };
  if (plan_text(plan_) != plan_text(next.plan_)) {
    refuse("the shards belong to different studies", plan_text(next.plan_), plan_text(plan_));
  }
  const long long end = first_member_ + members_;
  if (next.first_member_ != end || open_rows() != 0) {
    refuse("the shards do not follow one another", fmt::format("a shard from member {}", next.first_member_),
           fmt::format("a shard from member {}, a multiple of {}", end, block_members));
  }
  if (pilot_ && next.pilot_ && *pilot_ != *next.pilot_) {
    refuse("the shards had different first members", "other medians of the members 0 to 255",
           "the same medians");
  }
}

void Statistics::join(const Statistics& next) {
  check_follows(next);
  if (next.members_ == 0) return;
  if (!pilot_ && next.pilot_) apply_pilot(*next.pilot_);
  for (std::size_t k = 0; k < tiles_.size(); ++k) tiles_[k].columns.join(next.tiles_[k].columns);
  for (const auto& node : next.related_tree_.nodes()) related_tree_.push(node);
  device_columns_.insert(device_columns_.end(), next.device_columns_.begin(), next.device_columns_.end());
  related_open_ = next.related_open_;
  if (pick_freeze_) pick_freeze_->join(*next.pick_freeze_);
  members_ += next.members_;
  entered_ += next.entered_;
}

}  // namespace zwang
