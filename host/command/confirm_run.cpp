// Thresholds, the question, and the refusal where nobody can answer it.
#include "host/command/confirm_run.h"

#include <unistd.h>

#include <iostream>

#include "host/command/command.h"
#include "host/results/run_estimate.h"
#include "host/run/progress.h"
#include "src/base/error.h"

namespace zwang {

namespace {

constexpr double noted_seconds = 60, asked_seconds = 3600;
constexpr double asked_bytes = 10e9;

}  // namespace

void RunConfirmation::ask(const std::string& cost) {
  if (yes_) return;
  Problem refusal{
      .message = "this run would take " + cost,
      .found = "no --yes",
      .expected = "--yes, which accepts this cost without a question",
      .hint = "fewer --members, or [output] members = false, take less; --resume continues a run"};
  if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0) throw Error(refusal);
  std::cerr << "zwang: this run takes " << cost << ". Continue? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  if (answer != "y" && answer != "Y" && answer != "yes") {
    refusal.found = "the answer '" + answer + "'";
    refusal.expected = "y, or --yes, which accepts this cost without a question";
    throw Error(refusal);
  }
  yes_ = true;
}

void RunConfirmation::before(const Study& study, long long members) {
  bytes_ = estimated_bytes(study, members);
  if (bytes_ > asked_bytes) ask("about " + bytes_text(bytes_) + " of disk for its results");
}

void RunConfirmation::during(const RunProgress& progress, const std::function<void()>& clear) {
  const std::optional<double> left = time_.seconds_left(progress);
  if (!left || *left <= noted_seconds) return;
  const std::string cost = (progress.may_stop_early ? "at most " : "about ") + duration_text(*left) +
                           " and " + bytes_text(bytes_) + " of disk";
  clear();
  if (*left > asked_seconds) ask(cost);
  if (!quiet_) note("estimate: " + cost + " for " + count_text(progress.of) + " members");
}

}  // namespace zwang
