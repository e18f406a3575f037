// Proportions k of n with Wilson's 95 % interval.
#pragma once

namespace zwang {

// Members that fulfil a condition, of those counted.
struct Proportion {
  long long hits = 0, of = 0;
  double low = 0, high = 0;  // Wilson's interval; NaN if none were counted

  double share() const;  // hits / of; NaN if none were counted
  double halfwidth() const { return (high - low) / 2; }
  // Fewer cases on either side say little about the error of a proportion.
  bool decides() const { return hits >= 10 && of - hits >= 10; }
};

// E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927) 209. The
// interval is inside [0, 1]; it begins at exactly 0 for none and ends at exactly 1 for all.
Proportion proportion(long long hits, long long of);

}  // namespace zwang
