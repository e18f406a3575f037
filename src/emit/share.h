// Values that the functions of a model share instead of computing them: constants of a member, computed once,
// and values in the motion that depend on time alone, computed before a step for all its stages.
#pragma once

#include <string>
#include <vector>

#include "src/emit/function.h"
#include "src/emit/text.h"
#include "src/expression/expression.h"
#include "src/system/system.h"

namespace zwang {

// motion and free_motion receive the values that depend on time alone, as w.
bool is_motion(const Function& function);

class Shared {
 public:
  Shared(const System& system, const std::vector<Function>& functions);

  // Names of the shared values: k[i], and in the motion w[i].
  const Hoisted& constants() const { return constants_; }
  const Hoisted& in_motion() const { return in_motion_; }
  const Hoisted& of(const Function& function) const { return is_motion(function) ? in_motion_ : constants_; }

  // k: the parameters, values computed from them alone, then the modes of friction and bounds, which change at
  // events only, then the branches of integrands, which are constant within a step.
  std::size_t first_mode() const;
  std::size_t first_branch() const;
  std::size_t drives() const { return drive_.size(); }

  // The functions that compute k and w. The first has other names for the parameters.
  Function make_constants() const;
  Hoisted parameter_names() const;
  std::string make_drive() const;

 private:
  void share_constants(const std::vector<Function>& functions);
  void name_branches();
  void share_drive(const std::vector<Function>& functions);

  const System& system_;
  Expressions& pool_;
  Hoisted constants_, in_motion_;
  std::vector<Expr> constant_;  // in the order of k, after the parameters
  std::vector<Expr> drive_;     // in the order of w
};

}  // namespace zwang
