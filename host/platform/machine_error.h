// Errors of the machine, not of the input: no compiler, no device, a full disk. Printed like an Error, with
// exit code 2.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "src/base/error.h"

namespace zwang {

// Deliberately not derived from Error: code that catches a mistake in the input must not catch this one.
class MachineError : public std::runtime_error {
 public:
  explicit MachineError(Problem problem) : std::runtime_error(problem.text()), problem_(std::move(problem)) {}

  const Problem& problem() const { return problem_; }

 private:
  Problem problem_;
};

}  // namespace zwang
