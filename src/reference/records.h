// Records of one member: states at events or at the times of a period, and reductions over them. The kernels
// have the same in kernels/record/member_records.h.
#pragma once

#include <string>
#include <vector>

#include "src/expression/evaluate.h"
#include "src/reference/measures.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

class Records {
 public:
  explicit Records(const Equations& equations);

  // The motion starts at time t. Returns the cause if a period is not a positive number, else "".
  std::string start(double t);
  // The next time of a periodic record; infinity: there is none.
  double next_time() const;
  // Everything that is due at `when`, at this moment of the motion.
  void note_time(double when, const Moment& moment);
  // The moment is that after the event.
  void note_event(const Event& event, const Moment& after);

  std::vector<MemberRecord> finish() const { return made_; }
  // A reduction over the rows of its record; `tolerance` of a period. NaN: missing.
  double reduced(const ReductionFormula& formula, double tolerance) const;

 private:
  double time_of(std::size_t record) const;
  void keep(std::size_t record, double t, long long occurrence, const Moment& moment);

  const Equations* equations_;
  struct Setting {
    double every = 0, phase = 0, from = 0;
    long long next = 0;     // number of the next occurrence of a periodic record
    long long skipped = 0;  // occurrences since `from` that were left out
    Program values;
  };
  std::vector<Setting> settings_;
  std::vector<MemberRecord> made_;
};

// The smallest p <= n/3 with |y(i + p) - y(i)| <= tolerance for every row i and every value; 0: none.
std::size_t period_of(const std::vector<RecordRow>& rows, double tolerance);

}  // namespace zwang
