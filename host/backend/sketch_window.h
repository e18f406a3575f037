// Which buckets of a column the threads of a GPU count in the memory that they share (kernels/reduce/quantile_buckets.h).
#pragma once

#include <span>

#include "kernels/reduce/reduce_layout.h"

namespace zwang {

// The smallest key of the window of a column with these moments, one for each of some sets of its members. The largest
// key is that of four standard deviations from the pivot, or of the value farthest from it: at most a sixteenth of the
// values are beyond, and those within a thousandth of a standard deviation are below. They are counted one by one.
unsigned first_key_of_window(double pivot, std::span<const ColumnPart> parts);

}  // namespace zwang
