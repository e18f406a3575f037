// Motion and projection of a long system (a chain, a rope, a tree): Phi and all other formulas as loops over
// families (src/emit/families.h), and the elimination of the conditions by the kernels, along index tables
// (kernels/dynamics/sparse_elimination.h). Text and compile time do not grow with the number of bodies, and
// the work of a step grows in proportion to it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/emit/families.h"
#include "src/emit/function.h"
#include "src/system/system.h"

namespace zwang {

// Conditions from which a system is long. On a CPU straight-line code of 16 rods is still a fifth faster, of 20 rods as
// fast. On a GPU a chain of 40 rods in loops takes as long per rod as one of 10 in straight-line code, which takes
// 50 s to compile instead of 7.
constexpr std::size_t long_on_cpu = 16, long_on_gpu = 10;

// True for systems with at least so many conditions, each on few bodies, whose elimination fills in little.
// Their mass matrix is diagonal: a coupled one has an inverse without zeros.
bool is_long(const System& system, std::size_t from = long_on_cpu);

struct LongMotion {
  std::vector<Function> functions;  // with the names and arguments of those of short systems
  std::string eliminations;         // text of the structs that describe the eliminations
  long long multiplications = 0;    // of one elimination
};

LongMotion write_long_motion(const System& system, Tables& tables);

}  // namespace zwang
