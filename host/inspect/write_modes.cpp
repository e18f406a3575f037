// Formats the equilibrium, the modes and the stability verdict.
#include "host/inspect/write_modes.h"
#include "host/platform/schema_version.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "host/platform/table.h"
#include "src/analysis/equilibrium.h"
#include "src/base/error.h"
#include "src/system/system.h"

namespace zwang {

namespace {

using Json = nlohmann::ordered_json;

constexpr double two_pi = 6.283185307179586;

bool contains(const std::vector<std::size_t>& list, std::size_t entry) {
  return std::find(list.begin(), list.end(), entry) != list.end();
}

std::string condition_state(const System& system, const Equilibrium& at, std::size_t s) {
  if (contains(at.broken, s)) return "not met";
  if (contains(at.touching, s)) return "touching";
  if (!contains(at.set, s)) return "open";
  return system.constraints[s].equation ? "equation" : "pressing";
}

std::string complex_text(std::complex<double> z) {
  if (z.imag() == 0) return short_number(z.real());
  return fmt::format("{} {} {}i", short_number(z.real()), z.imag() < 0 ? "-" : "+",
                     short_number(std::abs(z.imag())));
}

std::string equilibrium_text(const Study& study, const ModesMember& member, const Modes& modes) {
  const System& system = *study.system;
  const Equilibrium& at = modes.equilibrium;
  const std::string whose = member ? fmt::format("member {}", *member) : std::string("the nominal member");
  std::string text = at.found ? fmt::format("equilibrium of {} ({} iterations, forces balanced to {:.1g})\n",
                                            whose, at.iterations, at.residual)
                              : fmt::format("no equilibrium found; smallest imbalance, {}\n", whose);
  std::vector<std::string> header = {"coordinate", "position"};
  if (!at.found) header.emplace_back("remaining force");
  TextTable positions(header);
  for (std::size_t i = 0; i < system.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    std::vector<std::string> row = {system.coordinates[i], short_number(at.state.q(k))};
    if (!at.found) row.push_back(short_number(at.imbalance(k)));
    positions.add(row);
  }
  for (std::size_t j = 0; j < system.auxiliaries.size(); ++j)
    positions.add({system.auxiliaries[j], short_number(at.state.z(static_cast<Eigen::Index>(j)))});
  text += positions.text();
  if (system.constraints.empty()) return text;
  TextTable conditions({"constraint", "state", "multiplier"});
  for (std::size_t s = 0; s < system.constraints.size(); ++s)
    conditions.add({system.constraints[s].name, condition_state(system, at, s),
                    short_number(at.multipliers(static_cast<Eigen::Index>(s)))});
  return text + "\n" + conditions.text();
}

std::string root_text(std::complex<double> root) {
  if (root.imag() == 0) return short_number(root.real());
  return fmt::format("{} +- {}i", short_number(root.real()), short_number(root.imag()));
}

std::string shape_text(const System& system, const Mode& mode) {
  std::vector<std::string> parts;
  for (Eigen::Index i = 0; i < mode.shape.size(); ++i)
    if (std::abs(mode.shape(i)) > 1e-9)
      parts.push_back(system.coordinates[static_cast<std::size_t>(i)] + ": " + complex_text(mode.shape(i)));
  return joined(parts);
}

std::string roots_text(const System& system, const Modes& modes) {
  if (modes.modes.empty()) return "  none: the constraints leave no degree of freedom\n";
  TextTable table({"", modes.second_order ? "lambda^2" : "lambda", "rad/s", "period", "growth", "shape"});
  int number = 0;
  for (const Mode& mode : modes.modes) {
    const double omega = std::abs(mode.root.imag());
    // One line shows both roots of a conjugate pair.
    if (!modes.second_order && mode.root.imag() < 0) continue;
    table.add({std::to_string(++number),
               modes.second_order ? complex_text(mode.squared) : root_text(mode.root), short_number(omega),
               omega > 0 ? short_number(two_pi / omega) : "-", short_number(mode.root.real()),
               shape_text(system, mode)});
  }
  return table.text();
}

std::string notes_text(const Modes& modes) {
  std::string text;
  if (modes.structural_zeros > 0)
    text +=
        fmt::format("  {} more root{} 0: velocity constraints allow a shift to a neighbouring equilibrium\n",
                    modes.structural_zeros, modes.structural_zeros == 1 ? "" : "s");
  if (modes.redundant) text += "  the constraints are dependent: multipliers are not unique\n";
  if (!modes.symmetric) {
    text += fmt::format(
        "  the characteristic matrix is not symmetric (by {:.2g} of its size): its quadratic form does\n"
        "  not decide stability\n",
        modes.asymmetry);
    text += fmt::format("  here the form is {}{}\n", definiteness_name(modes.form),
                        modes.form_misleads ? fmt::format(", which is misleading: the equilibrium is {}",
                                                          stability_name(modes.verdict))
                                            : "");
  } else if (modes.form != Definiteness::empty) {
    text +=
        fmt::format("  the characteristic matrix is symmetric, its form {}\n", definiteness_name(modes.form));
  }
  return text;
}

// An object with one entry per name.
template <class Names, class Value>
Json by_name(const Names& names, const Value& value) {
  Json made = Json::object();
  for (std::size_t i = 0; i < names.size(); ++i) made[names[i]] = value(i);
  return made;
}

Json pair(std::complex<double> z) { return {z.real(), z.imag()}; }

void add_equilibrium(const System& system, const Equilibrium& at, Json& json) {
  const auto entry = [](const Eigen::VectorXd& x, std::size_t i) { return x(static_cast<Eigen::Index>(i)); };
  const auto position = [&](std::size_t i) { return entry(at.state.q, i); };
  json["equilibrium"] = at.found ? by_name(system.coordinates, position) : Json(nullptr);
  std::vector<std::string> names;
  for (const Constraint& constraint : system.constraints) names.push_back(constraint.name);
  json["multipliers"] = at.found ? by_name(names, [&](std::size_t s) { return entry(at.multipliers, s); })
                                 : Json(Json::object());
  if (!system.auxiliaries.empty())
    json["auxiliaries"] =
        at.found ? by_name(system.auxiliaries, [&](std::size_t j) { return entry(at.state.z, j); })
                 : Json(nullptr);
  json["condition_states"] = by_name(names, [&](std::size_t s) { return condition_state(system, at, s); });
  if (at.found) return;
  json["least_imbalance"] = {
      {"state", by_name(system.coordinates, position)},
      {"force_left", by_name(system.coordinates, [&](std::size_t i) { return entry(at.imbalance, i); })}};
}

}  // namespace

std::string modes_text(const Study& study, const ModesMember& member, const Modes& modes) {
  const System& system = *study.system;
  std::string text = fmt::format("{}\n\n{}", study.title.empty() ? study.name : study.title,
                                 equilibrium_text(study, member, modes));
  if (modes.equilibrium.found)
    text += fmt::format("\nsmall oscillations\n{}{}", roots_text(system, modes), notes_text(modes));
  return text + fmt::format("\nverdict: {}: {}\n", stability_name(modes.verdict), modes.reason);
}

std::string modes_json(const Study& study, const ModesMember& member, const Modes& modes) {
  Json json;
  json["schema_version"] = schema_version;
  json["study"] = study.name;
  json["member"] = member ? Json(*member) : Json("nominal");
  json["coordinates"] = study.system->coordinates;
  add_equilibrium(*study.system, modes.equilibrium, json);
  for (const char* key : {"lambda_squared", "frequencies_rad_s", "growth_rates"}) json[key] = Json::array();
  json["verdict"] = stability_name(modes.verdict);
  json["verdict_text"] = modes.reason;
  for (const char* key : {"modes", "modes_imaginary", "roots"}) json[key] = Json::array();
  for (const Mode& mode : modes.modes) {
    json["lambda_squared"].push_back(pair(mode.squared));
    json["frequencies_rad_s"].push_back(std::abs(mode.root.imag()));
    json["growth_rates"].push_back(mode.root.real());
    json["roots"].push_back(pair(mode.root));
    const Eigen::VectorXd real = mode.shape.real(), imaginary = mode.shape.imag();
    json["modes"].push_back(std::vector<double>(real.begin(), real.end()));
    json["modes_imaginary"].push_back(std::vector<double>(imaginary.begin(), imaginary.end()));
  }
  json["structural_zeros"] = modes.structural_zeros;
  json["roots_in_pairs"] = modes.second_order;
  json["symmetric"] = modes.symmetric;
  json["asymmetry"] = modes.asymmetry;
  json["quadratic_form"] = definiteness_name(modes.form);
  json["form_misleads"] = modes.form_misleads;
  json["redundant"] = modes.redundant;
  json["balance_residual"] = modes.equilibrium.residual;
  json["eigenproblem_residual"] = modes.residual;
  return json.dump(1) + "\n";
}

}  // namespace zwang
