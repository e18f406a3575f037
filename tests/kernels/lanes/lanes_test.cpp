// Packs and pairs of packs (kernels/simd/pack.h, kernels/simd/pack_pair.h): each lane computes what a single
// number would. The work queue of a CPU's threads (kernels/entry/work_queue.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>
#include <vector>

#include "kernels/entry/work_queue.h"
#include "kernels/simd/lane_traits.h"
#include "kernels/simd/pack.h"
#include "kernels/simd/pack_pair.h"

namespace zwang::lanes_test {
namespace {

template <class Number>
class Numbers : public testing::Test {
 protected:
  using Real = typename Lanes<Number>::Real;
  static constexpr int count = Lanes<Number>::count;
  static Number spread(Real first, Real step) {
    Number x(0);
    for (int lane = 0; lane < count; ++lane) set_lane(x, lane, first + Real(lane) * step);
    return x;
  }
  template <class Function>
  static void expect_alike(const Function& function, const Number& a, const Number& b) {
    const Number made = function(a, b);
    for (int lane = 0; lane < count; ++lane)
      EXPECT_EQ(lane_of(made, lane), function(lane_of(a, lane), lane_of(b, lane))) << "lane " << lane;
  }
};
using Packs = testing::Types<Pack<double>, Pack<float>, PackPair<Pack<double>>, PackPair<Pack<float>>>;
TYPED_TEST_SUITE(Numbers, Packs);

TYPED_TEST(Numbers, ComputeLaneByLane) {
  using Plain = typename Lanes<TypeParam>::Real;
  const auto a = this->spread(Plain(-1.5), Plain(0.7)), b = this->spread(Plain(2), Plain(-0.6));
  this->expect_alike([](auto x, auto y) { return x + y; }, a, b);
  this->expect_alike([](auto x, auto y) { return x - y; }, a, b);
  this->expect_alike([](auto x, auto y) { return x * y; }, a, b);
  this->expect_alike([](auto x, auto y) { return x / y; }, a, b);
  this->expect_alike([](auto x, auto) { return -x; }, a, b);
  this->expect_alike([](auto x, auto) { return absolute(x); }, a, b);
  this->expect_alike([](auto x, auto) { return sqrt(absolute(x)); }, a, b);
  this->expect_alike([](auto x, auto) { return sign(x); }, a, b);
  this->expect_alike([](auto x, auto) { return round_down(x); }, a, b);
  this->expect_alike([](auto x, auto) { return exp(x); }, a, b);
  this->expect_alike([](auto x, auto) { return rough_16th(absolute(x)); }, a, b);
  this->expect_alike([](auto x, auto) { return rough_3_32nds(absolute(x)); }, a, b);
  this->expect_alike([](auto x, auto) { return rough_inverse(absolute(x)); }, a, b);
  this->expect_alike([](auto x, auto y) { return minimum(x, y); }, a, b);
  this->expect_alike([](auto x, auto y) { return maximum(x, y); }, a, b);
  this->expect_alike([](auto x, auto y) { return lesser(x, y); }, a, b);
  this->expect_alike([](auto x, auto y) { return larger(x, y); }, a, b);
  this->expect_alike([](auto x, auto y) { return atan2(x, y); }, a, b);
  this->expect_alike([](auto x, auto y) { return if_less(x, y, x, y * x); }, a, b);
  this->expect_alike([](auto x, auto y) { return select(x > y || !(x <= y), x, y); }, a, b);
  this->expect_alike([](auto x, auto y) { return select(x < y && x >= -y, x, y); }, a, b);
}

TYPED_TEST(Numbers, WithoutSignAreNeverBelowZero) {
  using Plain = typename Lanes<TypeParam>::Real;
  const Plain infinite = std::numeric_limits<Plain>::infinity();
  for (const Plain x : {Plain(-0.0), Plain(0), -infinite, std::numeric_limits<Plain>::denorm_min()}) {
    const Plain made = lane_of(absolute(TypeParam(x)), 0);
    EXPECT_EQ(made, std::abs(x));
    EXPECT_FALSE(std::signbit(made));
  }
  EXPECT_TRUE(std::isnan(lane_of(absolute(TypeParam(std::numeric_limits<Plain>::quiet_NaN())), 0)));
}

// Every pattern of up to three lanes, and their complements.
TYPED_TEST(Numbers, LanesOfAMaskAreVisitedOnceAndInOrder) {
  constexpr int lanes = Lanes<TypeParam>::count;
  for (int i = 0; i < lanes; ++i)
    for (int j = i; j < lanes; ++j)
      for (int k = j; k < lanes; ++k)
        for (const bool all_but : {false, true}) {
          auto mask = no_lanes<TypeParam>();
          std::vector<int> wanted;
          for (int lane = 0; lane < lanes; ++lane) {
            const bool on = (lane == i || lane == j || lane == k) != all_but;
            set_lane(mask, lane, on);
            if (on) wanted.push_back(lane);
          }
          std::vector<int> visited;
          each_lane(mask, [&](int lane) { visited.push_back(lane); });
          EXPECT_EQ(visited, wanted);
          EXPECT_EQ(any(mask), !wanted.empty());
        }
}

TEST(MemberQueue, GivesEveryNumberOnce) {
  for (const long long count : {0LL, 1LL, 7LL, 63LL, 64LL, 1000LL, 20'000LL}) {
    long long counter = 0;
    std::vector<std::vector<long long>> given(4);
    {
      std::vector<std::jthread> threads;
      for (auto& mine : given)
        threads.emplace_back([&] {
          MemberQueue queue{&counter, count};
          for (long long number = queue(); number >= 0; number = queue()) mine.push_back(number);
          EXPECT_EQ(queue(), -1);
        });
    }
    std::vector<long long> all, wanted(static_cast<std::size_t>(count));
    for (const auto& mine : given) all.insert(all.end(), mine.begin(), mine.end());
    std::sort(all.begin(), all.end());
    std::iota(wanted.begin(), wanted.end(), 0LL);
    EXPECT_EQ(all, wanted);
  }
}

// A slow member delays few others taken with it: at most 1/64 of the members that are left.
TEST(MemberQueue, TakesNoMoreThanAShareOfTheRest) {
  for (const long long count : {2LL, 40LL, 127LL, 130LL, 700LL, 5000LL}) {
    long long counter = 0;
    MemberQueue queue{&counter, count};
    while (true) {
      const long long left = count - counter, before = counter;
      if (queue() < 0) break;
      EXPECT_LE(counter - before, std::max(1LL, left / 64)) << left << " of " << count;
    }
  }
}

}  // namespace
}  // namespace zwang::lanes_test
