#include "host/sample/drawn_ranges.h"

#include <fmt/format.h>

#include <cstddef>

#include "host/study/study.h"
#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/system/system.h"

namespace zwang {

DrawnRanges::DrawnRanges(const Study& study) : study_(&study) {
  std::vector<Expr> values;
  for (const DrawnRange& range : study.ranges) values.push_back(range.value);
  values_ = Program(*study.system->pool, values);
}

std::optional<std::size_t> DrawnRanges::violated(std::span<const double> parameters,
                                                 std::vector<double>& slots,
                                                 std::vector<double>& outputs) const {
  if (study_->ranges.empty()) return {};
  outputs.resize(study_->ranges.size());
  values_.run<double>({.time = 0, .parameters = parameters}, slots, outputs);
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (!study_->ranges[k].holds(outputs[k])) return k;
  return {};
}

std::string DrawnRanges::violation(std::span<const double> parameters) const {
  std::vector<double> slots, outputs;
  const std::optional<std::size_t> found = violated(parameters, slots, outputs);
  if (!found) return "";
  const DrawnRange& range = study_->ranges[*found];
  return fmt::format("{}: found {:.6g}, expected {}", range.what, outputs[*found], range.expected);
}

}  // namespace zwang
