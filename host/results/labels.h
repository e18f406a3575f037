// Labels of attractors: reductions label(record, tolerance), decided in the order of the members once all
// have ended, and the measures and conditions that are computed from them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "host/backend/member_bytes.h"
#include "host/files/member_records.h"
#include "host/run/run_result.h"
#include "host/statistics/ensemble_statistics.h"
#include "host/study/study.h"
#include "src/expression/evaluate.h"
#include "src/expression/expression.h"

namespace zwang {

using ReadMembers = std::function<void(const TakeMembers& take)>;

class Labels {
 public:
  // The study must outlive it.
  explicit Labels(const Study& study);

  bool any() const { return !numbered_.empty(); }

  // Numbers the attractors: 1, 2, ... in the order of the first member, at most 64, 65 for further ones, 0
  // for members without a period; missing where the period is.
  void decide(const ReadMembers& read);

  // Passes on the members with the measures and flags that use labels computed anew.
  ReadMembers entering(ReadMembers read) const;

  // Repeats the statistics of measures and inputs with the labels, and counts the labels of measures that are
  // one. `plan`: that of the run; `read` passes on members with their labels.
  void complete(const EnsemblePlan& plan, const ReadMembers& read, unsigned threads, RunResult& result) const;

 private:
  struct Numbered {
    std::size_t reduction = 0, record = 0;
    double tolerance = 0;
    std::vector<std::uint8_t> labels;  // by member
  };
  struct Alone {
    std::size_t measure = 0;  // it is the label
  };
  void find_values();
  void enter(std::size_t member, std::vector<double>& scratch, char* record) const;

  const Study& study_;
  MemberRecordLayout layout_;
  std::vector<Numbered> numbered_;
  std::vector<Alone> alone_;
  // Measures and flags (numbered after the measures) that use labels; their formulas; and the flags that hold
  // the other reductions and the parameters in them.
  std::vector<std::size_t> values_;
  Program formulas_;
  std::vector<std::pair<Symbol, std::size_t>> held_;
};

}  // namespace zwang
