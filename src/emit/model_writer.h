// Collects the functions of an emitted model, then their shared values, then the text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/emit/emitted_model.h"
#include "src/emit/families.h"
#include "src/emit/function.h"
#include "src/emit/share.h"
#include "src/emit/taylor_series.h"
#include "src/emit/text.h"
#include "src/expression/expression.h"
#include "src/system/system.h"

namespace zwang {

// Writes a model from rearranged formulas.
class ModelWriter {
 public:
  ModelWriter(const System& system, Elimination elimination, std::size_t long_from);

  EmittedModel write();

 private:
  // Functions, in the order of the text.
  void add_parameters();
  void add_dynamics();
  void add_conditions();
  void add_event_functions();
  void add_modes();
  void add_observation();
  // Those with eliminations (model_motion.cpp).
  void add_motion();
  void add_free_motion();
  std::vector<Expr> with(const Replacements& replacements, const std::vector<Expr>& formulas) const;
  std::vector<Expr> auxiliary_rates(const std::vector<Expr>& acceleration,
                                    const Replacements& replacements) const;
  void add_steps();
  void add_dependence();
  void add_light_events();
  std::string member_values_text() const;
  // Returns the text of its eliminations.
  std::string add_long_motion();
  std::string text_of(const Hoisted& hoisted, const Function& function);

  Function& add(const std::string& comment, const std::string& result, const std::string& name,
                std::vector<Argument> more, std::vector<FunctionCase> cases,
                const std::string& chosen_by = "");
  // One formula per index, after the arguments `more`.
  Function& add_choice(const std::string& comment, const std::string& name, const std::vector<Expr>& formulas,
                       double otherwise = 0, std::vector<Argument> more = {});
  template <class Pick>
  std::vector<Expr> of_conditions(const Pick& pick) const {
    std::vector<Expr> list;
    for (const Constraint& constraint : system_.constraints) list.push_back(pick(constraint));
    return list;
  }
  std::vector<Expr> signals() const;
  void count_motion(const Function& motion, const Shared& shared, EmittedModel& made) const;
  EmittedSeries series(const Shared& shared) const;

  const System& system_;
  Expressions& pool_;
  bool long_;  // formulas of the same shape are loops
  bool masked_;
  std::vector<Function> functions_;
  Tables tables_;
  long long long_multiplications_ = 0;
  std::vector<Expr> free_rates_;  // of all but the positions, with nothing held
};

}  // namespace zwang
