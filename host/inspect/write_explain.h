// Writes an explanation as text or JSON (docs/results.md, `explain`).
#pragma once

#include <string>

#include "host/sample/prepared_member.h"
#include "host/study/study.h"
#include "src/analysis/explain.h"

namespace zwang {

std::string explain_text(const Study& study, const PreparedMember& member, const Explanation& explanation);
// The derived equations as a LaTeX fragment for amsmath.
std::string explain_latex(const Study& study);
std::string explain_json(const Study& study, const PreparedMember& member, const Explanation& explanation);

}  // namespace zwang
