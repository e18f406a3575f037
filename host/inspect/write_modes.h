// Small oscillations as text or JSON (results.md, `modes`).
#pragma once

#include <optional>
#include <string>

#include "host/study/study.h"
#include "src/analysis/modes.h"

namespace zwang {

// Whose parameters and start: a member's, or (no number) the nominal ones.
using ModesMember = std::optional<unsigned long long>;

std::string modes_text(const Study& study, const ModesMember& member, const Modes& modes);
std::string modes_json(const Study& study, const ModesMember& member, const Modes& modes);

}  // namespace zwang
