// Members of a study drawn, made consistent and laid out for a backend.
#pragma once

#include <span>

#include "host/backend/backend.h"
#include "host/study/study.h"

namespace zwang {

class Sampler;

// The members of these numbers: drawn, and moved onto their conditions as the study says. Throws Error as
// prepare_member does.
Batch prepare_batch(const Study& study, std::span<const unsigned long long> members, unsigned threads);
// With a sampler of this study at hand: for batch after batch.
Batch prepare_batch(const Study& study, const Sampler& sampler, std::span<const unsigned long long> members,
                    unsigned threads);

}  // namespace zwang
