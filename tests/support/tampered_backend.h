// Checks in tests: a backend with something wrong put into its results, and the study it is tried on.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "host/backend/backend_reference.h"
#include "host/backend/batch.h"
#include "host/check/write_check.h"
#include "host/study_file/load_study.h"

namespace zwang {

// Two threads everywhere: results do not depend on it, and the tests share the machine.
constexpr unsigned check_threads = 2;

inline std::string config_path(const std::string& name) {
  return std::string(ZWANG_SOURCE_DIR) + "/configs/" + name + ".toml";
}

using Tamper = std::function<void(BatchResults&)>;

// The reference, its results handed to `tamper` before they are given out.
class TamperedBackend : public Backend {
 public:
  TamperedBackend(const Study& study, Tamper tamper)
      : reference_(study, check_threads), tamper_(std::move(tamper)) {}
  std::string name() const override { return "tampered"; }
  std::string device() const override { return "a test"; }
  unsigned threads() const override { return check_threads; }
  BatchResults run(const Batch& batch, const Wanted& wanted) override {
    BatchResults results = reference_.run(batch, wanted);
    tamper_(results);
    return results;
  }

 private:
  BackendReference reference_;
  Tamper tamper_;
};

inline CheckReport checked(const Study& study, Backend& backend, std::size_t sample) {
  return check(study, backend, {.sample = sample, .threads = check_threads});
}

inline CheckReport self_checked(const Study& study, std::size_t sample) {
  BackendReference reference(study, check_threads);
  return checked(study, reference, sample);
}

// A load on a cable that goes slack and snaps taut, over a second and a half: four members, 3 coordinates, 1
// condition.
struct SlungLoad {
  static constexpr std::size_t members = 4, outputs = 17, row = 8, observables = 5, measures = 8;
  static constexpr double end = 1.6;

  static Study study(std::vector<std::string> overrides = {}) {
    overrides.insert(overrides.end(),
                     {"ensemble.members=4", "time.end=1.6", "time.samples=17", "parameters.gust=7.5"});
    return load_study(config_path("slung_load"), overrides);
  }
  // x y z x' y' z' multiplier closed, at an output time.
  static double& state(BatchResults& results, std::size_t member, std::size_t output, std::size_t number) {
    return results.states[(member * outputs + output) * row + number];
  }
};

// The disagreement about a quantity of a member; a failure that shows what was found instead when there is
// none.
inline CheckCase disagreement(const CheckReport& report, unsigned long long member,
                              const std::string& quantity) {
  for (const CheckCase& one : report.findings.worst())
    if (one.severity() > 1 && one.member == member && one.quantity == quantity) return one;
  ADD_FAILURE() << "no disagreement about " << quantity << " of member " << member << " in\n"
                << check_table({}, report);
  return {};
}

}  // namespace zwang
