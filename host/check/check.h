// Compares a backend with the reference implementation (docs/results.md, `check`).
#pragma once

#include <functional>
#include <map>

#include "host/backend/backend.h"
#include "host/check/findings.h"
#include "host/study/study.h"
#include "kernels/base/status.h"

namespace zwang {

struct CheckProgress {
  std::size_t done = 0, of = 0;  // members; with --reverse those that run back
  std::size_t segments = 0;      // so far
};

struct CheckOptions {
  std::size_t sample = 64;  // members, spread evenly over the ensemble
  unsigned threads = 0;     // of the reference; 0: all cores
  double budget = 1;        // multiplies the work that the reference may spend (WorkBudget)
  // Called after every segment and every member, from several threads.
  std::function<void(const CheckProgress&)> progress = [](const CheckProgress&) {};
};

enum class CheckVerdict { pass, disagree, undecided };

struct CheckReport {
  bool reverse = false;
  std::string backend, device;
  std::vector<unsigned long long> members;           // numbers of the members compared
  std::size_t segments = 0, undecided_segments = 0;  // with --reverse: round trips, one per member
  double decided_duration = 0;                       // of the segments that are not undecided, all members
  std::size_t measures = 0, undecided_measures = 0;
  Findings findings;
  // In the order of the members. Besides segments it lists whole runs in which a limit was to be confirmed.
  std::vector<UndecidedStretch> undecided;
  struct Ended {
    unsigned long long member;
    Status status;
    double t;
  };
  std::vector<Ended> failed;  // members that ended neither ok nor stopped, by the backend's status
  std::map<std::string, std::size_t> left_out;  // with --reverse: number of members by reason

  CheckVerdict verdict() const;
  std::string verdict_text() const;
  std::map<std::string, std::size_t> undecided_by_cause() const;

 private:
  std::string undecided_text() const;
};

// `sample` evenly spaced member numbers out of 0 .. members - 1.
std::vector<unsigned long long> sampled_members(long long members, std::size_t sample);

// Compares segment by segment: the reference restarts from the backend's own state at each output time, so
// that differences do not accumulate over the motion.
CheckReport check(const Study& study, Backend& backend, const CheckOptions& options);

// Runs every member to its end, reverses the velocities and runs it for the same time again; it must return
// to its start (mechanics section 7). Throws Error if the motion of the study is not reversible.
CheckReport check_reverse(const Study& study, Backend& backend, const CheckOptions& options);

}  // namespace zwang
