// Known answers about an ensemble, run by a backend of the parameter: as many members as the statement has, or fewer.
#pragma once

#include <gtest/gtest.h>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numbers>
#include "host/backend/member_bytes.h"
#include "host/backend/record_rows.h"
#include "host/platform/buffer_pool.h"
#include "host/results/labels.h"
#include "host/results/record_histograms.h"
#include "host/run/backend_factory.h"
#include "host/run/ensemble_plan.h"
#include "host/run/run.h"
#include "host/sample/sampler.h"
#include "host/study_file/load_study.h"
#include "src/base/error.h"
#include "src/system/system.h"
#include "tests/support/ensemble_study.h"
#include "tests/support/scratch.h"

namespace zwang {

struct CaseRun {
  const char* name;
  const char* backend;
  long long divisor;  // of the number of members
};

class AnswerOnBackend : public testing::TestWithParam<CaseRun> {
 protected:
  // A run and the records of its members, completed as by `zwang run`.
  struct CaseResult {
    RunResult result;
    std::vector<std::string> parts;  // records of members, batch by batch
  };

  static long long members(long long stated) { return stated / GetParam().divisor; }
  static std::string number_of_members(const char* key, long long stated) {
    return std::string(key) + "=" + std::to_string(members(stated));
  }

  static RunResult run(const Study& study) {
    const auto backend = make_backend(GetParam().backend, study, {.threads = 2});
    return run_ensemble(study, *backend, {.threads = 2});
  }

  static CaseResult run_with_records(const Study& study) {
    CaseResult made;
    const auto backend = make_backend(GetParam().backend, study, {.threads = 2});
    RunOptions options{.threads = 2, .batch = 7};
    options.members = [&](long long, const std::shared_ptr<const HostBuffer>& records) {
      made.parts.emplace_back(records->bytes().begin(), records->bytes().end());
    };
    made.result = run_ensemble(study, *backend, options);
    const std::size_t bytes = MemberRecordLayout(study, drawn_inputs(study)).bytes();
    const ReadMembers read = [&](const TakeMembers& take) {
      long long first = 0;
      for (const std::string& part : made.parts) {
        take(first, part);
        first += static_cast<long long>(part.size() / bytes);
      }
    };
    Labels labels(study);
    labels.decide(read);
    const Sampler sampler(study);
    if (labels.any())
      labels.complete(ensemble_plan(study, sampler, options.statistics_memory), labels.entering(read), 2,
                      made.result);
    pool_records(study, read, made.result);
    return made;
  }
};

// A study beside a CSV file with one column.
inline Study study_with_column(const Scratch& folder, const std::string& file, const std::string& column,
                               const std::vector<double>& values, const std::string& text) {
  std::ofstream csv(folder.path() / file);
  csv << column << "\n";
  for (const double value : values) csv << value << "\n";
  csv.close();
  std::ofstream(folder.path() / "case.toml") << text;
  return load_study((folder.path() / "case.toml").string());
}

}  // namespace zwang
