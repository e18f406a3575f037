// Sobol' indices by pick-freeze, in one pass and bounded memory.
//
// Row j has the values of a measure with the inputs A_j, B_j, and A_j with input i from B_j. With f_A, f_B,
// f_i, their mean m and variance V (of the 2N values of A and B, divisor 2N - 1):
//   S_i = mean((f_B - m)(f_i - f_A)) / V   first order: A. Saltelli et al., Comput. Phys. Commun. 181 (2010)
//                                          259, with f_B relative to m: same expectation, smaller variance
//   T_i = mean((f_A - f_i)^2) / (2V)       total: M. J. W. Jansen, Comput. Phys. Commun. 117 (1999) 35
// Standard errors are by the delta method: an index I = mean(u)/V with row terms u_j, and w_j = ((f_A - m)^2
// + (f_B - m)^2)/2, has se^2 = var(u_j - I w_j)/(N V^2).
//
// Rows are summed by blocks of 256 row numbers relative to the block's mean, and blocks are merged in a fixed
// tree, so that results do not depend on threads, batches or shards.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "host/platform/bytes.h"
#include "host/statistics/tree.h"

namespace zwang {

struct SobolIndex {
  double first = 0, first_stderr = 0;  // NaN: the measure is constant
  double total = 0, total_stderr = 0;
};

// One measure.
struct PickFreezeResult {
  std::vector<SobolIndex> inputs;
  double interaction = 0, interaction_stderr = 0;  // 1 - sum of the first-order indices
  double variance = 0;
  long long rows = 0;                 // used
  long long failed = 0, missing = 0;  // rows left out: a member failed, or the measure was missing
};

// Sums over rows with a = f_A - pivot, b = f_B - pivot.
struct PairSums {
  long long rows = 0;
  double pivot = 0;
  // a + b, a^2 + b^2, (a + b)^2, (a^2 + b^2)(a + b), (a^2 + b^2)^2
  double s = 0, q = 0, ss = 0, qs = 0, qq = 0;
};
// The same rows with e = f_i - f_A.
struct InputSums {
  double e = 0, ea = 0, eb = 0, eaa = 0, eab = 0, ebb = 0, eaab = 0, ebbb = 0;  // e times powers of a and b
  double ee = 0, eeb = 0, eebb = 0;                                             // e^2 times powers of b
  double ees = 0, eeq = 0, eeee = 0;  // e^2 (a + b), e^2 (a^2 + b^2), e^4
};
struct MeasureSums {
  PairSums pair;
  std::vector<InputSums> inputs;  // the inputs, then the sum of their e, for the interaction
  long long failed = 0, missing = 0;
};
using PickFreezeSums = std::vector<MeasureSums>;  // by measure
PickFreezeSums merged_sums(const PickFreezeSums& left, const PickFreezeSums& right);

// Rows of values: [A, B, input 1, input 2 ...] of one measure.
MeasureSums sums_of_rows(std::span<const double> rows, std::size_t inputs, std::span<const char> usable);
PickFreezeResult indices_of(const MeasureSums& sums);

class PickFreeze {
 public:
  // first_row: a multiple of 256.
  PickFreeze(std::size_t measures, std::size_t inputs, long long first_row);

  // Rows in order: values[(row x blocks + block) x measures + measure], blocks A, B, input 1 ...; whole[row]:
  // no member of it failed.
  void add(std::span<const double> values, std::span<const char> whole);
  void join(const PickFreeze& next);

  std::size_t blocks() const { return inputs_ + 2; }
  std::vector<PickFreezeResult> results() const;  // by measure, of all rows so far

  void save(ByteWriter& bytes) const;
  void load(ByteReader& bytes, long long rows);  // into a new one; `rows`: the number it contained

 private:
  PickFreezeSums sums_of_open_rows() const;

  std::size_t measures_, inputs_;
  long long block_;           // number of the open block
  std::vector<double> open_;  // rows of the open block, as in add()
  std::vector<char> open_whole_;
  MergeTree<PickFreezeSums, merged_sums> tree_;
};

// Serialises results; every number keeps its bits.
void save_pick_freeze_result(ByteWriter& bytes, const PickFreezeResult& result);
// inputs: of the plan; rows: the most that the result can have.
PickFreezeResult load_pick_freeze_result(ByteReader& bytes, std::size_t inputs, long long rows);

}  // namespace zwang
