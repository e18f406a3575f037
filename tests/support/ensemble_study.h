// Ensembles in tests: run by the cpu backend and tested by z-scores.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "host/run/backend_factory.h"
#include "host/run/run.h"
#include "host/study_file/load_study.h"
#include "tests/support/study_runs.h"

namespace zwang {

// Standard errors; a correct answer is within them in all but 7 of a million cases.
constexpr double alarm = 4.5;

// An ensemble run by the cpu backend: statistics by name, measures and final states of every member.
class EnsembleStudy {
 public:
  explicit EnsembleStudy(const std::string& text, const Overrides& overrides = {})
      : study(read_study(text, "written.toml", overrides)) {
    const auto backend = make_backend("cpu", study, {.threads = 2});
    RunOptions options{.threads = 2};
    const MemberRecordLayout layout(study, Sampler(study).drawn());
    options.members = [&](long long, const std::shared_ptr<const HostBuffer>& records) {
      const RecordPlaces& at = layout.places();
      for (const char* record = records->bytes().data();
           record < records->bytes().data() + records->bytes().size(); record += layout.bytes()) {
        for (int k = at.measures; k < at.position_moved; ++k)
          measures.push_back(MemberRecordLayout::real(record, k));
        for (int k = at.state; k < at.end_time; ++k) ends.push_back(MemberRecordLayout::real(record, k));
      }
    };
    result = run_ensemble(study, *backend, std::move(options));
    EXPECT_EQ(result.tally.failed, 0);
    EXPECT_EQ(result.tally.entered, study.ensemble.members);
  }

  double members() const { return static_cast<double>(result.tally.entered); }
  const SeriesStatistics& observable(const std::string& name, std::size_t time) const {
    const std::size_t count = study.system->observables.size();
    return result.statistics.observables[time * count + number_of(names_of(study.system->observables), name)];
  }
  std::size_t measure_number(const std::string& name) const {
    return number_of(names_of(study.system->measures), name);
  }
  const SeriesStatistics& measure(const std::string& name) const {
    return result.statistics.measures[measure_number(name)];
  }
  double covariance(std::size_t i, std::size_t j) const {
    const std::size_t n = study.system->measures.size() + result.inputs.size();
    return result.statistics.covariance[i * n + j];
  }

  Study study;
  RunResult result;
  std::vector<double> measures, ends;
};

inline void expect_mean(const SeriesStatistics& series, double expected, const std::string& what) {
  EXPECT_LT(std::abs(series.moments.mean - expected), alarm * series.standard_error)
      << what << ": " << series.moments.mean << ", expected " << expected
      << ", z = " << (series.moments.mean - expected) / series.standard_error;
}

inline void expect_within(double found, double expected, double error, const std::string& what) {
  EXPECT_LT(std::abs(found - expected), alarm * error)
      << what << ": " << found << ", expected " << expected << ", z = " << (found - expected) / error;
}

// The variance of a sample of n has the standard error s^2 sqrt((2 + excess kurtosis) / n).
inline void expect_variance(const SeriesStatistics& series, double expected, const std::string& what) {
  const double variance = series.moments.std * series.moments.std;
  const double n = static_cast<double>(series.moments.count);
  expect_within(variance, expected, variance * std::sqrt((2 + series.moments.kurtosis) / n), what);
}

inline void expect_share(long long hits, double members, double expected, const std::string& what) {
  expect_within(static_cast<double>(hits) / members, expected, std::sqrt(expected * (1 - expected) / members),
                what);
}

}  // namespace zwang
