// Recognition of accumulations: infinitely many shocks in a finite time (mechanics section 5, requirement 5).
#pragma once

#include <optional>
#include <vector>

namespace zwang {

class AccumulationWatch {
 public:
  explicit AccumulationWatch(double gap) : gap_(gap) {}

  // Adds a shock at time t caused by the conditions `reached`.
  void note(double t, std::vector<std::size_t> reached);
  void forget();

  struct Sequence {
    std::vector<std::size_t> conditions;  // all that take part
    double limit = 0;                     // time of its end if it continues as a geometric sequence
    double remaining = 0;                 // time from the last shock until the end
    double length = 0;                    // time since it began
    bool nearly_over() const { return remaining <= gap * length; }
    double gap = 0;
  };
  // The geometric sequence of the last shocks, if they form one: the same conditions in the same order, cycle
  // after cycle, each cycle shorter than the one before by nearly the same factor.
  const std::optional<Sequence>& sequence() const { return sequence_; }
  // The conditions that caused the last two shocks.
  std::vector<std::size_t> latest() const;

 private:
  std::optional<Sequence> recognise() const;

  struct Shock {
    double t;
    std::vector<std::size_t> reached;
  };
  double gap_;
  double began_ = 0;           // start time of the present sequence
  std::vector<Shock> shocks_;  // the most recent ones
  std::optional<Sequence> sequence_;
};

}  // namespace zwang
