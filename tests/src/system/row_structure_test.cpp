// Which systems can have linearly dependent rows: those that close a loop.
#include "src/system/row_structure.h"

#include <gtest/gtest.h>

#include "tests/support/system_builder.h"

namespace zwang::row_structure_test {
namespace {

SystemBuilder two_points() {
  SystemBuilder builder;
  builder.point("p", "1", {0, -1}).point("q", "2", {2, -1});
  return builder;
}

bool may(SystemBuilder builder) { return rows_may_become_dependent(*builder.make().system); }

TEST(RowStructure, ChainsAndTreesAreNeverDependent) {
  EXPECT_FALSE(may(two_points().require("a", "norm(p) == 1").require("b", "distance(p, q) == 2")));
  EXPECT_FALSE(may(two_points().require("a", "norm(p) <= 1").require("b", "distance(p, q) <= 2")));
  EXPECT_FALSE(may(two_points().require("a", "norm(p) == 1")));
}

TEST(RowStructure, LoopsMayBe) {
  EXPECT_TRUE(may(two_points()
                      .require("a", "norm(p) == 1")
                      .require("b", "distance(p, q) == 2")
                      .require("c", "norm(q) == 1")));
  // Rods to the same point, which may come to lie in one line.
  EXPECT_TRUE(may(two_points().require("a", "norm(p) == 1").require("b", "(p.x - 1)^2 + p.y^2 == 1")));
}

TEST(RowStructure, AGuideAlongAConstantDirectionIsIndependentOfWhatHasOtherCoordinates) {
  EXPECT_FALSE(may(two_points().require("a", "p.y == 0").require("b", "distance(p, q) == 2")));
  // The rod's row may have no part along x, the only coordinate of its own.
  EXPECT_TRUE(may(two_points()
                      .require("a", "p.y == 0")
                      .require("b", "distance(p, q) == 2")
                      .require("c", "q.y == 0")
                      .require("d", "p.x*q.x == 1")));
}

TEST(RowStructure, ContactsThatReboundDoNotCount) {
  EXPECT_FALSE(may(two_points().require("a", "p.y >= 0", "0.5").require("b", "p.y + p.x >= 0", "0.5")));
}

}  // namespace
}  // namespace zwang::row_structure_test
