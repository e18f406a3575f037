// Writes small oscillations as text or JSON (docs/results.md, `modes`).
#pragma once

#include <optional>
#include <string>

#include "host/study/study.h"
#include "src/analysis/modes.h"

namespace zwang {

// Source of the parameters and the start: a member, or the nominal values if empty.
using ModesMember = std::optional<unsigned long long>;

std::string modes_text(const Study& study, const ModesMember& member, const Modes& modes);
std::string modes_json(const Study& study, const ModesMember& member, const Modes& modes);

}  // namespace zwang
