// Recognition of accumulations: infinitely many shocks in a finite time (mechanics section 5, requirement 5).
#pragma once

#include <optional>
#include <vector>

namespace zwang {

// A part of the time that an accumulation still takes, with the conditions that hold as equations during it.
struct RestPhase {
  double share = 1;               // of the time
  std::vector<std::size_t> held;  // equations in force and closed conditions
};

class AccumulationWatch {
 public:
  // `gap` and `tolerance` are shares of a sequence's length: what may be left of it, and the error of its
  // limit.
  explicit AccumulationWatch(double gap, double tolerance = 1) : gap_(gap), tolerance_(tolerance) {}

  // Adds a shock at time t caused by the conditions `reached`; those of `held` have held as equations since
  // the shock before.
  void note(double t, std::vector<std::size_t> reached, std::vector<std::size_t> held = {});
  void forget();

  struct Sequence {
    std::vector<std::size_t> conditions;  // all that take part
    double limit = 0;                     // time of its end if it continues as a geometric sequence
    double remaining = 0;                 // time from the last shock until the end
    double length = 0;                    // time since it began
    std::vector<RestPhase> cycle;         // its last cycle, from one shock to the next; the rest repeats it
    // By how much the last cycle has moved the limit. 0 for a single condition, whose limit is known by its
    // speed.
    double uncertainty = 0;
    bool nearly_over() const { return remaining <= gap * length && uncertainty <= tolerance * length; }
    double gap = 0, tolerance = 1;
  };
  // The geometric sequence of the last shocks, if they form one: the same conditions in the same order, cycle
  // after cycle, each cycle shorter than the one before by nearly the same factor.
  const std::optional<Sequence>& sequence() const { return sequence_; }
  // The end of a sequence of several conditions, and the phases until then.
  struct Continuation {
    double limit = 0;
    std::vector<RestPhase> phases;
  };
  // The sequence that continues with a shock of `contact` at the time `landing`, if the shocks since its last
  // one repeat those before: then the ratio of these two cycles is that of all further ones. `now`: the
  // present time, from which on the conditions of `held` hold.
  std::optional<Continuation> continued_by(std::size_t contact, double landing, double now,
                                           const std::vector<std::size_t>& held) const;
  // The conditions of the shocks since the last one of `contact`, with that shock.
  std::vector<std::size_t> since(std::size_t contact) const;
  // When the last shock occurred; minus infinity if there was none.
  double last() const;
  // The conditions that caused the last two shocks.
  std::vector<std::size_t> latest() const;

 private:
  std::optional<Sequence> recognise() const;

  struct Shock {
    double t;
    std::vector<std::size_t> reached, held;
  };
  double gap_, tolerance_;
  double began_ = 0;           // start time of the present sequence
  std::vector<Shock> shocks_;  // the most recent ones
  std::optional<Sequence> sequence_;
};

}  // namespace zwang
