// Joints as links and constraints, with limits, dry friction, damping and springs.
#pragma once

#include "host/import/mechanism.h"
#include "host/import/study_draft.h"

namespace zwang {

// Throws Error for joints of one body that cannot be combined.
void write_joints(const Mechanism& mechanism, StudyDraft& draft);

}  // namespace zwang
