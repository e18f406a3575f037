// The rows of one [[record]] of one member, in the order of their occurrence.
#pragma once

#include <cstddef>
#include <cstring>

#include "kernels/base/layout.h"
#include "src/system/system.h"

namespace zwang {

class RecordedRows {
 public:
  // `numbers`: those of this record in the layout of the kernels, 8 bytes each and not necessarily aligned.
  RecordedRows(const RecordFormula& formula, const char* numbers)
      : numbers_(numbers), length_(record_row_head + formula.values.size()) {
    const double counted = number(1);
    const auto most = static_cast<double>(formula.most);
    // Damaged bytes must not lead out of the rows.
    total_ = counted > 0 && counted < 9e15 ? static_cast<long long>(counted) : 0;
    count_ = static_cast<std::size_t>(counted > 0 ? (counted < most ? total_ : formula.most) : 0);
    most_ = static_cast<std::size_t>(formula.most);
    if (formula.keep_last && total_ > formula.most) start_ = static_cast<std::size_t>(total_ % formula.most);
  }

  std::size_t count() const { return count_; }  // rows kept
  long long total() const { return total_; }    // occurrences since `from` and after `skip`
  std::size_t values() const { return length_ - record_row_head; }
  double time(std::size_t row) const { return in_row(row, 0); }
  long long occurrence(std::size_t row) const { return static_cast<long long>(in_row(row, 1)); }
  double value(std::size_t row, std::size_t column) const { return in_row(row, record_row_head + column); }

 private:
  double number(std::size_t place) const {
    double made = 0;
    std::memcpy(&made, numbers_ + 8 * place, sizeof made);
    return made;
  }
  double in_row(std::size_t row, std::size_t place) const {
    return number(record_head + (start_ + row) % most_ * length_ + place);
  }

  const char* numbers_;
  std::size_t length_, most_ = 1, count_ = 0, start_ = 0;
  long long total_ = 0;
};

}  // namespace zwang
