// A run that ends without results because of what its members did; exit code 3.
#pragma once

#include <stdexcept>
#include <utility>

#include "src/base/error.h"

namespace zwang {

class BadVerdict : public std::runtime_error {
 public:
  explicit BadVerdict(Problem problem) : std::runtime_error(problem.text()), problem_(std::move(problem)) {}
  const Problem& problem() const { return problem_; }

 private:
  Problem problem_;
};

}  // namespace zwang
