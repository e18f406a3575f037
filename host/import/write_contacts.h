// Surfaces, the shapes of bodies, and the contacts between them.
#pragma once

#include "host/import/mechanism.h"
#include "host/import/study_draft.h"

namespace zwang {

void write_contacts(const Mechanism& mechanism, StudyDraft& draft);

}  // namespace zwang
