// Labels of attractors: measures label(record, tolerance), decided in the order of the members once all have
// ended.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "host/backend/member_bytes.h"
#include "host/files/member_records.h"
#include "host/run/run_result.h"
#include "host/statistics/ensemble_statistics.h"
#include "host/study/study.h"

namespace zwang {

using ReadMembers = std::function<void(const TakeMembers& take)>;

class Labels {
 public:
  // The study must outlive it.
  explicit Labels(const Study& study);

  bool any() const { return !measures_.empty(); }

  // Numbers the attractors: 1, 2, ... in the order of the first member, at most 64, 65 for further ones, 0 for
  // members without a period; missing where the period is.
  void decide(const ReadMembers& read);

  // Passes on the members with their labels entered.
  ReadMembers entering(ReadMembers read) const;

  // Repeats the statistics of measures and inputs with the labels, and counts the labels. `plan`: that of the
  // run; `read` passes on members with their labels.
  void complete(const EnsemblePlan& plan, const ReadMembers& read, unsigned threads, RunResult& result) const;

 private:
  struct LabelMeasure {
    std::size_t measure = 0, record = 0;
    double tolerance = 0;
    std::vector<std::uint8_t> labels;  // by member
  };

  const Study& study_;
  MemberRecordLayout layout_;
  std::vector<LabelMeasure> measures_;
};

}  // namespace zwang
