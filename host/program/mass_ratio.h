// How far apart the masses are that constraints couple, which decides how a program eliminates them.
#pragma once

#include "host/study/study.h"

namespace zwang {

// Two rows that share a light coordinate are nearly dependent in the mass metric once they are in line: Phi =
// A M^-1 A^T then has a condition number of the ratio of the heaviest mass of the two rows to the shared one.
// The largest such ratio, over the nominal member and the first members drawn, at their starts; 1 where no
// two rows share a coordinate. Reproducible: it depends on the study alone.
double largest_mass_ratio(const Study& study);

// True where multipliers computed from Phi lose more digits than the tolerance can spare: accelerations then
// have to come from an orthogonal factor of the rows.
bool needs_orthogonal_elimination(const Study& study);

}  // namespace zwang
