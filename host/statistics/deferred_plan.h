// The plan of a reduction, shared by the batches that are under way. Where statistics use buckets, their pivots come from
// the first block of the ensemble: the plan is then made when that block has been integrated on the device, so that it
// need not be integrated apart, before all others.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>

#include "host/statistics/reduction_plan.h"

namespace zwang {

class DeferredPlan {
 public:
  // Copies that many rows from the device, from the first member of a part on.
  using ReadRows = std::function<DeviceRows(std::size_t count)>;
  using MakePlan = std::function<ReductionPlan(const DeviceRows& first_block)>;

  explicit DeferredPlan(ReductionPlan known);
  // `outline`: as long as the plan, with other pivots and ranges.
  DeferredPlan(ReductionPlan outline, MakePlan make);

  // What the plan needs of memory can be read off it at any time.
  const ReductionPlan& outline() const { return outline_; }

  // The plan for a part that has been integrated and begins with this member. The part with member 0 makes it, the others
  // wait for that part, by calls from different threads. Throws what abandon() was given.
  const ReductionPlan& plan(long long first, const ReadRows& read);

  // A part failed, perhaps the one with member 0: the others no longer wait for the plan. The part with member 0 makes it all
  // the same, so that a batch is counted although one after it has failed. Without effect on a plan that is made.
  void abandon(std::exception_ptr reason);

  // Once it is made:
  const ReductionPlan& made() const { return *plan_; }
  const DeviceRows& first_block() const { return first_block_; }  // empty if the plan was known

 private:
  ReductionPlan outline_;
  MakePlan make_;
  std::mutex guard_;
  std::condition_variable changed_;
  std::optional<ReductionPlan> plan_;
  DeviceRows first_block_;
  std::exception_ptr reason_;
};

}  // namespace zwang
