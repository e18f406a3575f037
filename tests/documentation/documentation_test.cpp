// The documentation is correct: its commands run, its script computes the stated share, its verified cases
// agree.
#include <gtest/gtest.h>

#include "host/results/run_table.h"
#include "tests/support/run_program.h"

namespace zwang::documentation_test {
namespace {

bool has_python(const std::string& modules) {
  const std::string python = ZWANG_PYTHON;
  return !python.empty() && std::system((python + " -c 'import " + modules + "' 2>/dev/null").c_str()) == 0;
}

// Runs a script of the repository; its output is the message of a failure.
void expect_success(const Scratch& scratch, const std::string& script, const std::string& arguments) {
  const std::filesystem::path log = scratch.path() / "log";
  const std::string command = "cd " + shell_word(scratch.path().string()) + " && timeout 550 " +
                              ZWANG_PYTHON + " " + shell_word(std::string(ZWANG_SOURCE_DIR) + script) + " " +
                              arguments + " > " + shell_word(log.string()) + " 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << read_text(log);
}

TEST(Documentation, EveryCommandLineRuns) {
  if (!has_python("xarray, netCDF4, matplotlib"))
    GTEST_SKIP() << "no Python with xarray, netCDF4 and matplotlib";
  const Scratch scratch;
  expect_success(scratch, "/tests/python/run_documented_commands.py",
                 "--zwang " + shell_word(ZWANG_PROGRAM) + " --root " + shell_word(ZWANG_SOURCE_DIR));
}

TEST(Documentation, TheVerifiedCasesHaveTheirDigits) {
  if (!has_python("json")) GTEST_SKIP() << "no Python";
  const Scratch scratch;
  expect_success(scratch, "/docs/verification.py", "--check --zwang " + shell_word(ZWANG_PROGRAM));
}

TEST(Documentation, TheErrorFallsWithTheTolerance) {
  if (!has_python("tomllib")) GTEST_SKIP() << "no Python 3.11";
  const Scratch scratch;
  expect_success(scratch, "/docs/convergence.py",
                 "--check --zwang " + shell_word(ZWANG_PROGRAM) + " string_pendulum bead_on_sphere");
}

TEST(Documentation, ThePythonExampleFindsTheShareThatWasCounted) {
  if (!has_python("xarray, netCDF4, matplotlib"))
    GTEST_SKIP() << "no Python with xarray, netCDF4 and matplotlib";
  const Scratch scratch;
  const ProgramRun made =
      run_program(scratch.path(), {"run", ZWANG_SOURCE_DIR "/configs/slung_load.toml", "--members", "60",
                                   "--backend", "reference", "--out", "results", "--quiet"});
  ASSERT_EQ(made.code, 0) << made.err;
  expect_success(scratch, "/docs/slack_probability.py", "results --picture fan.png");
  EXPECT_GT(std::filesystem::file_size(scratch.path() / "fan.png"), 10'000u);
  const std::string told = read_text(scratch.path() / "log");
  // The summary counts members without a first slack as missing.
  const std::string summary = read_text(scratch.path() / "results/summary.json");
  const std::size_t at = summary.find("\"first_slack\"");
  const long long slack = std::stoll(summary.substr(summary.find("\"count\": ", at) + 9));
  char share[32];
  std::snprintf(share, sizeof share, "%.2f %%", 100.0 * static_cast<double>(slack) / 60);
  EXPECT_NE(told.find(share), std::string::npos) << told;
}

}  // namespace
}  // namespace zwang::documentation_test
