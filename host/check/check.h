// Judging a backend by the reference (results.md, `check`).
#pragma once

#include <functional>
#include <map>

#include "host/backend/backend.h"
#include "host/check/findings.h"
#include "host/study/study.h"
#include "kernels/base/status.h"

namespace zwang {

struct CheckOptions {
  std::size_t sample = 64;  // members, spread evenly over the ensemble
  unsigned threads = 0;     // of the reference; 0: all cores
  std::function<void(std::size_t done, std::size_t of)> progress = [](std::size_t, std::size_t) {};
};

enum class CheckVerdict { pass, disagree, undecided };

struct CheckReport {
  bool reverse = false;
  std::string backend, device;
  std::vector<unsigned long long> members;           // that were looked at
  std::size_t segments = 0, undecided_segments = 0;  // of a round trip: members
  std::size_t measures = 0, undecided_measures = 0;
  Findings findings;
  struct Ended {
    unsigned long long member;
    Status status;
    double t;
  };
  std::vector<Ended> failed;                    // neither ok nor stopped, as the backend says
  std::map<std::string, std::size_t> left_out;  // of a round trip: members by reason

  CheckVerdict verdict() const;
  std::string verdict_text() const;

 private:
  std::string undecided_text() const;
};

// Members 0 <= k < members, `sample` of them at equal distances.
std::vector<unsigned long long> sampled_members(long long members, std::size_t sample);

// Stretch by stretch, from the backend's own state at each output time.
CheckReport check(const Study& study, Backend& backend, const CheckOptions& options);

// There and back: to the end, velocities reversed, and to the end again (mechanics section 7). Throws Error where the
// study's motion cannot be retraced.
CheckReport check_reverse(const Study& study, Backend& backend, const CheckOptions& options);

}  // namespace zwang
