// Partial statistics: interrupted and continued, divided into shards and joined, damaged and refused.
#include <gtest/gtest.h>

#include <sstream>

#include "host/statistics/statistics.h"
#include "src/base/error.h"
#include "tests/support/statistics_fixture.h"

namespace zwang::statistics_parts_test {
namespace {

std::string saved(const Statistics& statistics) {
  std::ostringstream stream;
  statistics.save(stream);
  return stream.str();
}

Statistics loaded(const StatisticsPlan& plan, const std::string& bytes) {
  std::istringstream stream(bytes);
  return Statistics::load(plan, stream, "part");
}

// Buckets, a mixture, and everything exact.
class Parts : public testing::TestWithParam<std::size_t> {
 protected:
  Parts() : plan(ensemble.plan()) {
    plan.memory = GetParam();
    plan.replicates = 3;
    plan.replicate_of = [](long long member) { return int(member % 3); };
  }
  Statistics shard(long long first, long long end) const {
    Statistics statistics(plan, first);
    if (statistics.needs_pilot()) statistics.set_pilot(ensemble.rows(0, 256));
    ensemble.add_to(statistics, first, end, 300, 1);
    return statistics;
  }

  const MadeUpEnsemble ensemble{5000};
  StatisticsPlan plan;
};

TEST_P(Parts, ContinueAfterAnInterruptionWithTheSameBits) {
  const auto expected = bits_of(ensemble.result(plan, 5000, 1));
  for (const long long stop : {0, 100, 256, 1000, 4999, 5000}) {
    Statistics before(plan);
    ensemble.add_to(before, 0, stop, 333, 2);
    Statistics after = loaded(plan, saved(before));
    EXPECT_EQ(saved(after), saved(before));
    ensemble.add_to(after, stop, 5000, 450, 1);
    EXPECT_EQ(bits_of(after.finish(2)), expected) << stop;
  }
}

TEST_P(Parts, JoinedShardsAreTheWhole) {
  const auto expected = bits_of(ensemble.result(plan, 5000, 1));
  for (const long long shards : {1, 2, 3, 7, 20, 30}) {
    Statistics joined(plan);
    for (long long k = 0; k < shards; ++k) {
      const auto [first, end] = shard_members(5000, k, shards);
      // Saved and loaded, as shards are.
      joined.join(loaded(plan, saved(shard(first, end))));
    }
    EXPECT_EQ(bits_of(joined.finish()), expected) << shards;
  }
}

TEST_P(Parts, MayBeJoinedInAnyGrouping) {
  Statistics left = shard(0, 1280), right = shard(1280, 2560);
  right.join(shard(2560, 5000));
  left.join(right);
  EXPECT_EQ(bits_of(left.finish()), bits_of(ensemble.result(plan, 5000, 1)));
}

TEST_P(Parts, ThatDoNotFollowAreRefused) {
  Statistics first = shard(0, 1280);
  EXPECT_THROW(first.join(shard(2560, 5000)), Error);
  Statistics ragged = shard(0, 1300);
  EXPECT_THROW(ragged.join(shard(1536, 5000)), Error);
}

TEST_P(Parts, OfAnotherPlanAreRefused) {
  StatisticsPlan other = plan;
  other.quantiles.push_back(0.99);
  EXPECT_THROW(loaded(other, saved(shard(0, 1280))), Error);
  Statistics first(other);
  EXPECT_THROW(first.join(shard(0, 1280)), Error);
}

TEST_P(Parts, DamagedAnywhereAreRefused) {
  const std::string bytes = saved(shard(1280, 2700));
  // Single bits, spread over the whole; then truncated bytes.
  for (std::size_t k = 0; k < 400; ++k) {
    std::string damaged = bytes;
    const std::size_t place = k * (bytes.size() - 1) / 399;
    damaged[place] = char(damaged[place] ^ char(1 << k % 8));
    EXPECT_THROW(loaded(plan, damaged), Error) << place;
  }
  for (std::size_t k = 0; k < 100; ++k) {
    EXPECT_THROW(loaded(plan, bytes.substr(0, k * bytes.size() / 100)), Error) << k;
  }
}

TEST_P(Parts, OfAnotherVersionAreRefusedByName) {
  std::string bytes = saved(shard(0, 1280));
  bytes[8] = 99;  // after the eight bytes that identify the format
  try {
    loaded(plan, bytes);
    FAIL() << "loaded";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("version 99"), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Budget, Parts, testing::Values(20'000, 400'000, std::size_t{512} << 20));

TEST(ShardMembers, CoverEveryMemberOnceBetweenBlocks) {
  for (const long long members : {0LL, 1LL, 256LL, 1000LL, 123'457LL, 9'000'000'000'000'000LL}) {
    for (const long long shards : {1, 2, 3, 64}) {
      long long end = 0;
      for (long long k = 0; k < shards; ++k) {
        const auto [first, last] = shard_members(members, k, shards);
        EXPECT_EQ(first, end);
        EXPECT_LE(first, last);
        EXPECT_TRUE(first % 256 == 0 || first == members);
        end = last;
      }
      EXPECT_EQ(end, members);
    }
  }
}

TEST(Pilot, IsRequestedOnlyIfNeeded) {
  const MadeUpEnsemble ensemble(5000);
  StatisticsPlan plan = ensemble.plan();
  EXPECT_FALSE(Statistics(plan, 256).needs_pilot());
  plan.memory = 20'000;
  EXPECT_FALSE(Statistics(plan).needs_pilot());
  EXPECT_TRUE(Statistics(plan, 256).needs_pilot());
}

}  // namespace
}  // namespace zwang::statistics_parts_test
