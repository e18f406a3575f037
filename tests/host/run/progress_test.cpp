// The progress display.
#include "host/run/progress.h"

#include <gtest/gtest.h>

#include "host/platform/parse_fraction.h"
#include "src/base/error.h"
#include "tests/support/scratch.h"

namespace zwang::progress_test {
namespace {

const RunProgress halfway{
    .done = 500'000, .of = 1'000'000, .failed = 12, .may_stop_early = false, .seconds = 100};

TEST(ProgressTest, ABarShowsPercentFailuresTimeRateAndCount) {
  EXPECT_EQ(
      progress_bar(halfway, 120),
      "[###############...............]  50 %  12 failed  1 min 40 s left  5000/s  500 000 of 1 000 000");
}

TEST(ProgressTest, ANarrowTerminalGetsWhatFits) {
  for (std::size_t width = 5; width < 120; ++width)
    EXPECT_LE(progress_bar(halfway, width).size(), width) << width;
  EXPECT_EQ(progress_bar(halfway, 20), " 50 %  12 failed");
  EXPECT_EQ(progress_bar(halfway, 8), " 50 %");
  EXPECT_EQ(progress_bar(halfway, 3), "");
}

TEST(ProgressTest, ALineForALogShowsTheSame) {
  EXPECT_EQ(progress_line(halfway),
            "500 000 of 1 000 000 members (50 %), 5000/s, 1 min 40 s left, 12 failed");
  RunProgress capped = halfway;
  capped.may_stop_early = true;
  capped.failed = 0;
  EXPECT_EQ(progress_line(capped), "500 000 of 1 000 000 members (50 %), 5000/s, at most 1 min 40 s left");
}

TEST(ProgressTest, HundredPercentMeansDone) {
  const RunProgress nearly{
      .done = 999'999, .of = 1'000'000, .failed = 0, .may_stop_early = false, .seconds = 1};
  EXPECT_TRUE(progress_bar(nearly, 80).find(" 99 %") != std::string::npos);
}

// The output of a display for a run of 100 members in 20 seconds.
std::string written_by(ProgressDisplay::Kind kind) {
  const Scratch scratch;
  const std::string path = scratch.path() / "shown";
  std::FILE* file = std::fopen(path.c_str(), "w");
  {
    ProgressDisplay display(file, kind);
    for (int k = 1; k <= 100; ++k)
      display.show({.done = k, .of = 100, .failed = 0, .may_stop_early = false, .seconds = 0.2 * k});
  }
  std::fclose(file);
  return read_text(path);
}

TEST(ProgressTest, FilesGetALineEveryFewSecondsAndNoControlCharacters) {
  const std::string text = written_by(ProgressDisplay::Kind::lines);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
  EXPECT_EQ(text.find_first_of("\r\x1b"), std::string::npos);
}

TEST(ProgressTest, TheBarIsRemovedAtTheEnd) {
  const std::string text = written_by(ProgressDisplay::Kind::bar);
  EXPECT_NE(text.find("100 of 100"), std::string::npos);
  EXPECT_TRUE(text.ends_with("\r\x1b[K"));
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(ProgressTest, ASilentDisplayWritesNothing) { EXPECT_EQ(written_by(ProgressDisplay::Kind::silent), ""); }

// What a delayed line writes about work that takes 0.2 s.
std::string delayed_text(std::chrono::milliseconds delay) {
  std::FILE* file = std::tmpfile();
  {
    const DelayedLine line(file, "compiling", delay);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  std::rewind(file);
  std::string text(100, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

TEST(ProgressTest, ADelayedLineIsPrintedOnceAndOnlyForLongWork) {
  EXPECT_EQ(delayed_text(std::chrono::milliseconds(1)), "zwang: compiling\n");
  EXPECT_EQ(delayed_text(std::chrono::hours(1)), "");
}

TEST(ProgressTest, NumbersAndTimesReadWell) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(9999), "9999");
  EXPECT_EQ(count_text(10000), "10 000");
  EXPECT_EQ(count_text(1234567), "1 234 567");
  EXPECT_EQ(duration_text(0.4), "0 s");
  EXPECT_EQ(duration_text(59.6), "1 min 00 s");
  EXPECT_EQ(duration_text(7260), "2 h 01 min");
  EXPECT_EQ(duration_text(5.5 * 86400), "5 days");
  EXPECT_EQ(duration_text(1e12), "31688 years");
  EXPECT_EQ(duration_text(std::numeric_limits<double>::infinity()), "a long time");
}

TEST(ShareTest, AFractionOrAPercentage) {
  EXPECT_EQ(parse_fraction("0.05", "--max-failed"), 0.05);
  EXPECT_EQ(parse_fraction("5%", "--max-failed"), 0.05);
  EXPECT_EQ(parse_fraction("2.5 %", "--max-failed"), 0.025);
  EXPECT_EQ(parse_fraction("0", "--max-failed"), 0);
  EXPECT_EQ(parse_fraction("100%", "--max-failed"), 1);
  for (const char* wrong : {"5", "-1%", "101%", "nan", "many", "", "%", "0.1x"})
    EXPECT_NE(message_of<Error>([&] { parse_fraction(wrong, "--max-failed"); }).find("--max-failed"),
              std::string::npos)
        << wrong;
}

}  // namespace
}  // namespace zwang::progress_test
