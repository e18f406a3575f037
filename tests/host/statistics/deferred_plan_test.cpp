#include "host/statistics/deferred_plan.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <exception>
#include <future>
#include <stdexcept>

#include "host/statistics/reduction_plan.h"

namespace zwang::deferred_plan_test {
namespace {

// The plan has as many parameters as rows were read.
DeferredPlan counting_rows() {
  return DeferredPlan({}, [](const DeviceRows& rows) {
    ReductionPlan made;
    made.parameters = rows.status.size();
    return made;
  });
}
DeviceRows read(std::size_t count) {
  DeviceRows rows;
  rows.status.resize(count);
  return rows;
}
DeviceRows read_nothing(std::size_t) {
  throw std::logic_error("rows of a part without member 0 are not read");
}

std::exception_ptr failure() { return std::make_exception_ptr(std::runtime_error("a lost device")); }

TEST(DeferredPlan, IsMadeByThePartWithTheFirstMemberAndAwaitedByTheOthers) {
  DeferredPlan plan = counting_rows();
  std::future<std::size_t> other =
      std::async(std::launch::async, [&] { return plan.plan(512, read_nothing).parameters; });
  EXPECT_EQ(plan.plan(0, read).parameters, 256U);
  EXPECT_EQ(other.get(), 256U);
  EXPECT_EQ(plan.first_block().status.size(), 256U);
}

TEST(DeferredPlan, EndsThoseThatWaitWhenItIsAbandoned) {
  DeferredPlan plan = counting_rows();
  std::future<std::size_t> other =
      std::async(std::launch::async, [&] { return plan.plan(512, read_nothing).parameters; });
  plan.abandon(failure());
  EXPECT_THROW(other.get(), std::runtime_error);
}

// A batch that fails must not take those before it along.
TEST(DeferredPlan, IsMadeAlthoughALaterPartHasFailed) {
  DeferredPlan plan = counting_rows();
  plan.abandon(failure());
  EXPECT_EQ(plan.plan(0, read).parameters, 256U);
  EXPECT_EQ(plan.plan(512, read_nothing).parameters, 256U);
}

}  // namespace
}  // namespace zwang::deferred_plan_test
