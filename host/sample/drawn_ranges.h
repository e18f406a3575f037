// The requirements on drawn values (Study::ranges) that every member is tested for before it is integrated.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/study/study.h"
#include "src/expression/evaluate.h"

namespace zwang {

// Immutable; any number of threads may share it. The study must outlive it.
class DrawnRanges {
 public:
  explicit DrawnRanges(const Study& study);

  // The first requirement that a member with these parameters violates, as an index into Study::ranges.
  std::optional<std::size_t> violated(std::span<const double> parameters, std::vector<double>& slots,
                                      std::vector<double>& outputs) const;
  // What it violates: "body 'b': mass: a mass must be positive: found -0.3, expected a finite number > 0". Empty: nothing.
  std::string violation(std::span<const double> parameters) const;

 private:
  const Study* study_;
  Program values_;
};

}  // namespace zwang
