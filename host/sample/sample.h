// Draws single members: the inputs of member k depend only on (seed, k, name of the draw). Ensembles are
// drawn with a Sampler (host/sample/sampler.h); host/sample/uniform.h states what the other samplers depend
// on.
#pragma once

#include "host/sample/prepared_member.h"
#include "host/study/study.h"

namespace zwang {

// Throws Error if a distribution's arguments are invalid for this member (std < 0, a > b, ...).
MemberInputs draw_member(const Study& study, unsigned long long member, unsigned attempt = 0);

// Every distribution at its centre, at a point of the sweeps.
MemberInputs nominal_member(const Study& study, unsigned long long point = 0);

}  // namespace zwang
