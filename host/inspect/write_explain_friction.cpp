// Tables of contacts, bounded rows and admissible modes.
#include "host/inspect/write_explain_friction.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/platform/table.h"
#include "src/base/error.h"

namespace zwang {

namespace {

std::string components_text(const Eigen::VectorXd& x) {
  std::vector<std::string> numbers;
  for (const double value : x) numbers.push_back(short_number(value));
  return x.size() == 1 ? numbers[0] : "(" + joined(numbers) + ")";
}

nlohmann::ordered_json components_json(const Eigen::VectorXd& x) {
  return std::vector<double>(x.data(), x.data() + x.size());
}

std::string contacts_text(const ExplainedFriction& friction) {
  TextTable table(
      {"contact", "mode", "lambda_N", "lambda_T", "margin", "slip s", "s'", "kappa", "without friction"});
  std::string notes;
  for (const ExplainedContact& contact : friction.contacts) {
    const bool slips = contact.mode == "slips";
    table.add({contact.name, contact.mode, short_number(contact.normal), components_text(contact.tangential),
               short_number(contact.margin), components_text(contact.slip),
               components_text(contact.slip_rate), slips ? short_number(contact.kappa) : "-",
               slips ? short_number(contact.kappa_smooth) : "-"});
    if (contact.lengths_differ)
      notes += fmt::format(
          "  {}: the gradient of the condition has length {}, that of the slip {}: friction multiplies "
          "lambda_N as it "
          "stands, which is a force at the contact only if both are of the same touching point\n",
          contact.name, short_number(contact.normal_length), short_number(contact.slip_length));
    if (contact.impacts_ignore_static)
      notes += "  " + contact.name +
               ": impacts use friction; friction_static holds in stick only, restitution_tangential in "
               "impacts only\n";
  }
  return "\nfriction: margin = mu_s lambda_N - |lambda_T|; kappa = A_N M^-1 (A_N + mu d A_T)^T\n" +
         table.text() + notes;
}

std::string bounds_text(const ExplainedFriction& friction) {
  TextTable table({"bounded constraint", "mode", "multiplier", "limit", "rate"});
  for (const ExplainedBound& bound : friction.bounds)
    table.add({bound.name, bound.mode, short_number(bound.multiplier), short_number(bound.limit),
               short_number(bound.rate)});
  return "\nbounded multipliers\n" + table.text();
}

std::string modes_text(const ExplainedFriction& friction, const std::vector<std::string>& coordinates) {
  std::vector<std::string> header = {"admissible modes"};
  for (const std::string& name : coordinates) header.push_back(name + "''");
  TextTable table(header);
  for (const ExplainedMode& mode : friction.admissible) {
    std::vector<std::string> row = {joined(mode.modes)};
    for (const double a : mode.acceleration) row.push_back(short_number(a));
    table.add(std::move(row));
  }
  return "\n" + table.text();
}

}  // namespace

std::string friction_text(const ExplainedFriction& friction, const std::vector<std::string>& coordinates) {
  std::string text;
  if (!friction.contacts.empty()) text += contacts_text(friction);
  if (!friction.bounds.empty()) text += bounds_text(friction);
  const bool named = std::any_of(friction.admissible.begin(), friction.admissible.end(),
                                 [](const ExplainedMode& mode) { return !mode.modes.empty(); });
  if (named) text += modes_text(friction, coordinates);
  if (!friction.unique_forces)
    text += "the multipliers are not unique: those of least norm inside the cones and bounds are shown\n";
  if (!friction.certified)
    text +=
        "too many contacts to try every combination of modes: that there is no other motion is not "
        "certified\n";
  if (!friction.verdict.empty()) text += friction.verdict + "\n";
  return text;
}

void add_friction_json(const ExplainedFriction& friction, nlohmann::ordered_json& json) {
  json["contacts"] = nlohmann::ordered_json::array();
  for (const ExplainedContact& contact : friction.contacts)
    json["contacts"].push_back({{"name", contact.name},
                                {"mode", contact.mode},
                                {"normal", contact.normal},
                                {"tangential", components_json(contact.tangential)},
                                {"margin", contact.margin},
                                {"slip", components_json(contact.slip)},
                                {"slip_rate", components_json(contact.slip_rate)},
                                {"kappa", contact.kappa},
                                {"kappa_without_friction", contact.kappa_smooth},
                                {"impacts_ignore_friction_static", contact.impacts_ignore_static},
                                {"gradient_lengths", {contact.normal_length, contact.slip_length}}});
  json["bounds"] = nlohmann::ordered_json::array();
  for (const ExplainedBound& bound : friction.bounds)
    json["bounds"].push_back({{"name", bound.name},
                              {"mode", bound.mode},
                              {"multiplier", bound.multiplier},
                              {"limit", bound.limit},
                              {"rate", bound.rate}});
  json["modes"] = nlohmann::ordered_json::array();
  for (const ExplainedMode& mode : friction.admissible)
    json["modes"].push_back({{"modes", mode.modes}, {"acceleration", components_json(mode.acceleration)}});
  json["multipliers_unique"] = friction.unique_forces;
  json["modes_certified"] = friction.certified;
}

}  // namespace zwang
