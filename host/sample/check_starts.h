// Checks starts before a run begins.
#pragma once

#include "host/study/study.h"

namespace zwang {

// Throws Error, as Sampler::prepare does, if the study has consistency = "error" and one of the first members
// of [first, end) starts off its constraints. Later members are checked when their batch is drawn: to draw
// all of a large ensemble twice would cost more than it saves.
void require_consistent_starts(const Study& study, long long first, long long end, unsigned threads);

}  // namespace zwang
