// Draws members of a study, makes their starts consistent and arranges them in arrays for a backend.
#pragma once

#include <span>

#include "host/backend/backend.h"
#include "host/study/study.h"

namespace zwang {

class Sampler;

// Draws the members of these numbers and moves their starts onto the constraints as the study specifies.
// Throws Error as prepare_member does.
Batch prepare_batch(const Study& study, std::span<const unsigned long long> members, unsigned threads);
// With an existing sampler of this study, for repeated calls.
Batch prepare_batch(const Study& study, const Sampler& sampler, std::span<const unsigned long long> members,
                    unsigned threads);

}  // namespace zwang
