#include "host/statistics/deferred_plan.h"

#include <utility>

#include "kernels/reduce/reduce_layout.h"

namespace zwang {

DeferredPlan::DeferredPlan(ReductionPlan known) : outline_(std::move(known)), plan_(outline_) {}

DeferredPlan::DeferredPlan(ReductionPlan outline, MakePlan make)
    : outline_(std::move(outline)), make_(std::move(make)) {}

const ReductionPlan& DeferredPlan::plan(long long first, const ReadRows& read) {
  std::unique_lock lock(guard_);
  if (first == 0 && !plan_) {
    lock.unlock();
    DeviceRows rows = read(reduced_block);
    ReductionPlan made = make_(rows);
    lock.lock();
    first_block_ = std::move(rows);
    plan_ = std::move(made);
    changed_.notify_all();
  }
  changed_.wait(lock, [&] { return plan_ || reason_; });
  if (!plan_) std::rethrow_exception(reason_);
  return *plan_;
}

void DeferredPlan::abandon(std::exception_ptr reason) {
  const std::scoped_lock lock(guard_);
  if (!plan_ && !reason_) reason_ = std::move(reason);
  changed_.notify_all();
}

}  // namespace zwang
