// Error messages: text, order, suggestions.
#include "src/base/error.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "tests/support/system_builder.h"

namespace zwang::error_test {
namespace {

TEST(ErrorTest, AProblemSaysWhereWhatAndWhatElse) {
  const Problem problem{{"a.toml", 3, 7}, "not a number", "x", "a number", "remove the quotes"};
  EXPECT_EQ(
      problem.text(),
      "a.toml:3:7: error: not a number\n  found:    x\n  expected: a number\n  hint:     remove the quotes");
  EXPECT_EQ((Problem{.message = "bad"}).text(), "error: bad");
}

TEST(ErrorTest, ProblemsComeInTheOrderOfTheFile) {
  const Error error(
      {{{"f", 9, 1}, "last"}, {{"f", 2, 5}, "second"}, {{"f", 2, 1}, "first"}, {{"f", 2, 5}, "third"}});
  ASSERT_EQ(error.problems().size(), 4u);
  EXPECT_EQ(error.problems()[0].message, "first");
  EXPECT_EQ(error.problems()[1].message, "second");
  EXPECT_EQ(error.problems()[2].message, "third");
  EXPECT_EQ(error.problems()[3].message, "last");
  EXPECT_NE(std::string(error.what()).find("last"), std::string::npos);
}

TEST(ErrorTest, TheNearestWordIsTheOneProbablyMeant) {
  const std::vector<std::string> words = {"velocity", "position", "mass", "name"};
  EXPECT_EQ(nearest("velocty", words), "velocity");
  EXPECT_EQ(nearest("mas", words), "mass");
  EXPECT_EQ(nearest("zzz", words), "");
  EXPECT_EQ(nearest(std::string(100'000, 'a'), words), "");
  EXPECT_EQ(suggestion("positon", words), "did you mean 'position'?");
  EXPECT_EQ(suggestion("", words), "");
}

TEST(ErrorTest, NumbersReadBackAsTheSameDouble) {
  Dice dice(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const double x = dice.between(-1, 1) * std::pow(10, dice.between(-300, 300));
    const std::string text = number_text(x);
    double back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    EXPECT_EQ(back, x) << text;
  }
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(number_text(std::nan("")), "nan");
}

TEST(ErrorTest, ListsReadLikeSentences) {
  EXPECT_EQ(list_text({}), "");
  EXPECT_EQ(list_text({"a"}), "a");
  EXPECT_EQ(list_text({"a", "b"}), "a and b");
  EXPECT_EQ(list_text({"a", "b", "c"}, "or"), "a, b or c");
  EXPECT_EQ(joined({"a", "b"}), "a, b");
}

}  // namespace
}  // namespace zwang::error_test
