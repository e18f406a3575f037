// The machine's trouble, not the user's: no compiler, no device, a full disk. Printed like an Error; exit code 2.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "src/base/error.h"

namespace zwang {

// Deliberately not an Error: whoever catches a user's mistake must not catch this one by accident.
class MachineError : public std::runtime_error {
 public:
  explicit MachineError(Problem problem) : std::runtime_error(problem.text()), problem_(std::move(problem)) {}

  const Problem& problem() const { return problem_; }

 private:
  Problem problem_;
};

}  // namespace zwang
