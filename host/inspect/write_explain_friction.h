// Friction and bounded multipliers of an explanation as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/analysis/explain_friction.h"

namespace zwang {

std::string friction_text(const ExplainedFriction& friction, const std::vector<std::string>& coordinates);
// Adds "contacts", "bounds" and "modes".
void add_friction_json(const ExplainedFriction& friction, nlohmann::ordered_json& json);

}  // namespace zwang
