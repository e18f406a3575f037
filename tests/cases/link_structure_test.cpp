// Which links can have dependent rows: loops, never trees.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/study_file/load_study.h"
#include "src/system/row_structure.h"
#include "tests/support/study_runs.h"

namespace zwang::link_structure_test {
namespace {

// A chain of bodies along x, each linked with the one before by a link of this type, the first with an anchor.
std::string chain_of(const std::string& link, int count, const std::string& more) {
  std::string text = "[[anchor]]\nname = \"o\"\nposition = [0, 0, 0]\n";
  for (int k = 0; k < count; ++k)
    text += "[[body]]\nname = \"b" + std::to_string(k) + "\"\nmass = 1\ninertia = [1, 1, 1]\nposition = [" +
            std::to_string(k) + ".5, 0, 0]\npoints = { a = [-0.5, 0, 0], b = [0.5, 0, 0] }\n";
  for (int k = 0; k < count; ++k)
    text += "[[link]]\nname = \"l" + std::to_string(k) + "\"\n" + link + "between = [\"b" +
            std::to_string(k) + ".a\", \"" + (k ? "b" + std::to_string(k - 1) + ".b" : std::string("o")) +
            "\"]\n";
  return text + more + "[time]\nend = 1\n";
}

const std::vector<std::string> links_in_space = {
    "type = \"ball\"\n", "type = \"weld\"\n", "type = \"hinge\"\naxis = [0, 1, 0]\n",
    "type = \"hinge\"\naxis = [0, 1, 0]\nlimit = 1\n", "type = \"slider\"\naxis = [1, 0, 0]\n"};

TEST(LinkStructure, TreesOfLinksNeverHaveDependentRows) {
  for (const std::string& link : links_in_space)
    EXPECT_FALSE(rows_may_become_dependent(*written(chain_of(link, 4, "")).system)) << link;
  // A branch: two bodies on the second one.
  const std::string branch =
      "[[body]]\nname = \"c\"\nmass = 1\ninertia = [1, 1, 1]\nposition = [2, 0.5, 0]\npoints = { a = [0, "
      "-0.5, 0] }\n"
      "[[link]]\nname = \"branch\"\ntype = \"hinge\"\naxis = [1, 0, 0]\nbetween = [\"c.a\", \"b1.b\"]\n";
  EXPECT_FALSE(rows_may_become_dependent(*written(chain_of(links_in_space[2], 3, branch)).system));
  const std::string rods =
      "[[body]]\nname = \"c\"\nmass = 1\ninertia = [1, 1, 1]\nposition = [4, 1, 0]\npoints = { a = [0, -0.5, "
      "0] }\n"
      "[[link]]\nname = \"rod\"\ntype = \"rod\"\nbetween = [\"c.a\", \"b2.b\"]\n";
  EXPECT_FALSE(rows_may_become_dependent(*written(chain_of(links_in_space[2], 3, rods)).system));
}

TEST(LinkStructure, LoopsMayHaveDependentRows) {
  const std::string closed =
      "[[anchor]]\nname = \"end\"\nposition = [4, 0, 0]\n[[link]]\nname = \"closing\"\ntype = "
      "\"ball\"\nbetween = "
      "[\"b3.b\", \"end\"]\n";
  for (const std::string& link : links_in_space)
    EXPECT_TRUE(rows_may_become_dependent(*written(chain_of(link, 4, closed)).system)) << link;
}

}  // namespace
}  // namespace zwang::link_structure_test
