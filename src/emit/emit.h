// Emission of a System as the C++ text of one `struct Model`: pure functions on numbers, the template
// argument of the kernels.
//
// Names of the study never enter the text. Arguments of the functions: k the member's constants (its
// parameters first), t, q, v, z the state, w the values that depend on time alone (drive()), lambda the
// multipliers, held one number per condition: above 0 where it is held.
#pragma once

#include <cstddef>

#include "src/emit/emitted_model.h"
#include "src/emit/long_model.h"
#include "src/system/system.h"

namespace zwang {

// `long_from`: conditions from which formulas of the same shape become loops (src/emit/long_model.h).
EmittedModel emit_model(const System& system, Elimination elimination = Elimination::straight_where_short,
                        std::size_t long_from = long_on_cpu);

}  // namespace zwang
