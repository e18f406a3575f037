// Formats equations, active sets and singular positions of an explanation.
#include "host/inspect/write_explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "host/inspect/write_explain_friction.h"
#include "host/platform/schema_version.h"
#include "host/platform/table.h"
#include "host/study/study.h"
#include "host/study_file/leading_comment.h"
#include "kernels/base/status.h"
#include "src/base/error.h"
#include "src/laws/singular.h"
#include "src/laws/vanishing_row.h"
#include "src/system/system.h"

namespace zwang {

namespace {

using Json = nlohmann::ordered_json;

Json vector_json(const Eigen::VectorXd& x) { return std::vector<double>(x.data(), x.data() + x.size()); }

Json matrix_json(const Eigen::MatrixXd& a) {
  Json rows = Json::array();
  for (Eigen::Index i = 0; i < a.rows(); ++i) rows.push_back(vector_json(a.row(i).transpose()));
  return rows;
}

// The multiplier state rho of a condition with variation = "general".
std::optional<double> general_multiplier(const Study& study, const Explanation& explanation,
                                         const std::string& condition) {
  for (const ConditionFormula& formula : study.system->conditions)
    if (formula.name == condition && formula.general)
      return explanation.state.z(static_cast<Eigen::Index>(*formula.general));
  return {};
}

std::string equations_text(const Study& study, const Explanation& explanation) {
  std::string text = "equations derived: M a = Q - A^T lambda\n";
  for (const std::string& line : explanation.mass_text) text += "  " + line + "\n";
  for (const std::string& line : explanation.force_text) text += "  " + line + "\n";
  for (const ExplainedCondition& condition : explanation.conditions) {
    const bool holonomic = condition.kind.starts_with("holonomic");
    const std::string letter = holonomic ? "f" : "g";
    const std::string sign = condition.kind.ends_with("inequality") ? " <= 0" : " = 0";
    text +=
        fmt::format("  {}, {}\n    {} = {}{}\n", condition.name, condition.kind, letter, condition.f, sign);
    if (holonomic) text += fmt::format("    f' = {}\n", condition.f_rate);
    text += fmt::format("    A = {}\n    c = {}\n", condition.row, condition.rest);
    if (const auto rho = general_multiplier(study, explanation, condition.name))
      text += fmt::format("    varied generally: rho = {} is a state, in M and Q, and lambda is rho'\n",
                          short_number(*rho));
  }
  return text;
}

// A number that is only rounding of numbers as large as `scale` is shown as 0.
std::string settled(double value, double scale) {
  constexpr double rounding = 1e-12;
  return short_number(std::abs(value) <= rounding * scale ? 0.0 : value);
}

double largest(const Eigen::VectorXd& x) { return x.size() > 0 ? x.cwiseAbs().maxCoeff() : 0; }

// The size of the accelerations and of f'' in this state, of which differences carry the rounding.
double acceleration_scale(const Explanation& explanation) {
  return std::max({largest(explanation.free_acceleration), largest(explanation.phi0),
                   explanation.status == Status::ok ? largest(explanation.acceleration) : 0.0});
}

// f'' for constraints on positions, g' for those on velocities.
std::string second_derivative_name(const Explanation& explanation) {
  bool positions = false, velocities = false;
  for (const ExplainedCondition& condition : explanation.conditions)
    for (const std::string& row : explanation.rows)
      if (row == condition.name) (condition.kind.starts_with("holonomic") ? positions : velocities) = true;
  return positions && velocities ? "f'', g'" : velocities ? "g'" : "f''";
}

// Compares the free motion with the least-constraint motion (Gauss): Ostrogradsky's error is visible in two
// columns.
std::string rows_text(const Explanation& explanation) {
  const std::string second = second_derivative_name(explanation);
  const double size = acceleration_scale(explanation);
  TextTable table({"constraint", "free " + second, "free motion", second, "multiplier", "verdict"});
  for (std::size_t k = 0; k < explanation.rows.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    std::string verdict;
    for (const ExplainedCondition& condition : explanation.conditions)
      if (condition.name == explanation.rows[k]) verdict = condition.state;
    const double scale = 1e-12 * (1 + explanation.phi0.cwiseAbs().maxCoeff());
    const std::string free = verdict == "equation"         ? ""
                             : explanation.phi0(i) > scale ? "breaks it"
                                                           : "respects it";
    const bool solved = explanation.status == Status::ok;
    table.add({explanation.rows[k], settled(explanation.phi0(i), size), free,
               solved ? settled(explanation.second(i), size) : "-",
               solved ? settled(explanation.multipliers(i), largest(explanation.multipliers)) : "-",
               verdict});
  }
  return table.text();
}

std::string sets_text(const Explanation& explanation) {
  TextTable table({"pressing", "", "because"});
  for (const ExplainedSet& set : explanation.tried)
    table.add({"{" + joined(set.pressing) + "}", set.accepted ? "accepted" : "rejected",
               set.accepted ? "all constraints hold, no multiplier is negative" : set.rejected});
  return table.text();
}

std::string phi_text(const Explanation& explanation) {
  std::vector<std::string> header = {"Phi"};
  header.insert(header.end(), explanation.rows.begin(), explanation.rows.end());
  header.emplace_back("Phi0");
  TextTable table(header);
  for (std::size_t k = 0; k < explanation.rows.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    std::vector<std::string> row = {explanation.rows[k]};
    for (Eigen::Index j = 0; j < explanation.phi.cols(); ++j)
      row.push_back(settled(explanation.phi(i, j), std::sqrt(explanation.phi(i, i) * explanation.phi(j, j))));
    row.push_back(settled(explanation.phi0(i), acceleration_scale(explanation)));
    table.add(std::move(row));
  }
  return table.text();
}

std::string vector_text(const Eigen::VectorXd& x) {
  std::vector<std::string> numbers;
  for (const double value : x) numbers.push_back(settled(value, largest(x)));
  return "(" + joined(numbers) + ")";
}

std::string dependencies_text(const Explanation& explanation, const SingularPosition& singular) {
  std::string text;
  for (Eigen::Index k = 0; k < singular.dependencies.rows(); ++k) {
    std::vector<std::string> terms;
    for (Eigen::Index i = 0; i < singular.dependencies.cols(); ++i)
      if (singular.dependencies(k, i) != 0)
        terms.push_back(fmt::format(
            "{}A[{}]",
            singular.dependencies(k, i) == 1 ? "" : short_number(singular.dependencies(k, i)) + " ",
            explanation.rows[static_cast<std::size_t>(i)]));
    text += fmt::format(
        "  {} = 0{}\n", fmt::join(terms, " + "),
        singular.contradictions(k) != 0
            ? fmt::format(", but the same combination of c is {}", short_number(singular.contradictions(k)))
            : "");
  }
  return text;
}

std::string minimum_text(const SingularMinimum& minimum) {
  std::string text = fmt::format("  {} minimum: a = {}, Zwang {}, distance {}\n    reaction {}\n",
                                 minimum.absolute ? "absolute" : "local", vector_text(minimum.acceleration),
                                 short_number(minimum.constraint), short_number(minimum.distance),
                                 vector_text(minimum.reaction));
  if (minimum.basis.cols() == 0) return text;
  text += fmt::format("    one of a family: a = {} + {} u, u any unit vector of the span of",
                      vector_text(minimum.center), short_number(minimum.radius));
  for (Eigen::Index k = 0; k < minimum.basis.cols(); ++k) text += " " + vector_text(minimum.basis.col(k));
  return text + (minimum.partial ? ", where other constraints allow it\n" : "\n");
}

std::string singular_text(const Explanation& explanation) {
  const SingularPosition& singular = *explanation.singular;
  std::string text =
      fmt::format("\n{}: {} row{} of rank {}\n", joined(singular.kinds), explanation.rows.size(),
                  explanation.rows.size() == 1 ? "" : "s", singular.rank);
  text += dependencies_text(explanation, singular);
  for (const VanishingRow& row : singular.vanishing)
    if (row.order > 0)
      text += fmt::format("  {}: accelerations first appear in derivative {}, {}\n", row.name, row.order,
                          row.curvature.isZero(0) ? "linearly" : "quadratically: they must lie on a quadric");
  for (const SingularMinimum& minimum : singular.minima) text += minimum_text(minimum);
  if (singular.dalembert.size() > 0)
    text += fmt::format(
        "  d'Alembert's principle: a = {}{}\n", vector_text(singular.dalembert),
        singular.dalembert_breaks.empty() ? "" : ", which breaks " + list_text(singular.dalembert_breaks));
  return text + "  " + singular.conclusion + "\n";
}

Json minimum_json(const SingularMinimum& minimum) {
  Json json = {{"acceleration", vector_json(minimum.acceleration)},
               {"constraint", minimum.constraint},
               {"distance", minimum.distance},
               {"absolute", minimum.absolute},
               {"reaction", vector_json(minimum.reaction)},
               {"pressing", minimum.pressing}};
  if (minimum.basis.cols() > 0)
    json["family"] = {{"dimension", minimum.basis.cols() - 1},
                      {"center", vector_json(minimum.center)},
                      {"radius", minimum.radius},
                      {"basis", matrix_json(minimum.basis.transpose())},
                      {"partial", minimum.partial}};
  return json;
}

Json singular_json(const SingularPosition& singular) {
  Json json = {{"kinds", singular.kinds},
               {"rank", singular.rank},
               {"dependencies", matrix_json(singular.dependencies)},
               {"contradictions", vector_json(singular.contradictions)},
               {"null_directions", matrix_json(singular.null_directions.transpose())}};
  json["vanishing"] = Json::array();
  for (const VanishingRow& row : singular.vanishing)
    json["vanishing"].push_back({{"name", row.name},
                                 {"order", row.order},
                                 {"curvature", matrix_json(row.curvature)},
                                 {"slope", vector_json(row.slope)},
                                 {"rest", row.rest}});
  json["dalembert"] = singular.dalembert.size() > 0 ? Json{{"acceleration", vector_json(singular.dalembert)},
                                                           {"breaks", singular.dalembert_breaks}}
                                                    : Json(nullptr);
  json["conclusion"] = singular.conclusion;
  return json;
}

// What the letters mean.
constexpr const char* legend =
    "Phi = A M^-1 A^T; Phi0 = A a0 + c, the value in free motion, with a0 = M^-1 Q; c: the part without "
    "accelerations\n"
    "Zwang = (a - a0)^T M (a - a0)/2, Gauss's measure of constraint, is least for the acceleration a\n";

}  // namespace

std::string explain_text(const Study& study, const PreparedMember& member, const Explanation& explanation) {
  const std::string comment = source_comment(study.text);
  std::string text = fmt::format("{}\n{}\n{}\n", study.title.empty() ? study.name : study.title,
                                 comment.empty() ? "" : comment, equations_text(study, explanation));
  text += fmt::format("member {} at t = {}\n", member.number, short_number(explanation.state.t));
  TextTable state({"coordinate", "position", "velocity", "free acceleration", "acceleration"});
  for (std::size_t k = 0; k < explanation.coordinates.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    const auto entry = [&, i](const Eigen::VectorXd& x) {
      const bool acceleration = &x == &explanation.free_acceleration || &x == &explanation.acceleration;
      const double size = acceleration ? acceleration_scale(explanation) : 0;
      return i < x.size() ? settled(x(i), size) : std::string("-");
    };
    state.add({explanation.coordinates[k], entry(explanation.state.q), entry(explanation.state.v),
               entry(explanation.free_acceleration), entry(explanation.acceleration)});
  }
  text += state.text();
  TextTable conditions({"constraint", "kind", "value", "rate", "state"});
  for (const ExplainedCondition& condition : explanation.conditions)
    conditions.add({condition.name, condition.kind, short_number(condition.value),
                    short_number(condition.rate), condition.state});
  if (!explanation.conditions.empty()) text += "\nconstraints\n" + conditions.text();
  if (!explanation.rows.empty()) {
    text += "\n" + phi_text(explanation);
    text += "\nleast constraint\n" + rows_text(explanation);
    if (!explanation.tried.empty())
      text += "\nsets of pressing inequalities tried\n" + sets_text(explanation);
    text += std::string("\n") + legend;
  }
  if (explanation.friction) text += friction_text(*explanation.friction, explanation.coordinates);
  text += fmt::format("\nposition: {}, {} degree{} of freedom\n", explanation.position,
                      explanation.degrees_of_freedom, explanation.degrees_of_freedom == 1 ? "" : "s");
  if (explanation.singular) text += singular_text(explanation);
  if (explanation.status != Status::ok) {
    const bool several = explanation.status == Status::ambiguous || explanation.status == Status::painleve;
    return text +
           fmt::format("no {}acceleration: {}\n", several ? "unique " : "", status_name(explanation.status));
  }
  text += fmt::format("Zwang: {}, least-constraint residual {:.2g}\n", short_number(explanation.constraint),
                      explanation.kkt);
  const double rates = 1 + largest(explanation.state.v);
  return text + fmt::format("divergence of the flow: {}\n", settled(explanation.divergence, rates));
}

std::string explain_json(const Study& study, const PreparedMember& member, const Explanation& explanation) {
  Json json;
  json["schema_version"] = schema_version;
  json["study"] = study.name;
  json["member"] = member.number;
  json["t"] = explanation.state.t;
  json["coordinates"] = explanation.coordinates;
  json["state"] = vector_json(explanation.state.q);
  json["velocity"] = vector_json(explanation.state.v);
  json["degrees_of_freedom"] = explanation.degrees_of_freedom;
  json["constraints"] = Json::array();
  for (const ExplainedCondition& condition : explanation.conditions)
    json["constraints"].push_back({{"name", condition.name},
                                   {"kind", condition.kind},
                                   {"value", condition.value},
                                   {"rate", condition.rate},
                                   {"state", condition.state},
                                   {"multiplier", condition.multiplier},
                                   {"formula", condition.f},
                                   {"row", condition.row},
                                   {"rest", condition.rest}});
  for (Json& condition : json["constraints"])
    if (const auto rho = general_multiplier(study, explanation, condition["name"])) {
      condition["variation"] = "general";
      condition["rho"] = *rho;
    }
  json["rows"] = explanation.rows;
  json["mass"] = matrix_json(explanation.mass);
  json["phi"] = matrix_json(explanation.phi);
  json["phi0"] = vector_json(explanation.phi0);
  json["free_acceleration"] = vector_json(explanation.free_acceleration);
  json["acceleration"] = vector_json(explanation.acceleration);
  json["active_sets"] = Json::array();
  for (const ExplainedSet& set : explanation.tried) {
    Json entry;
    entry["pressing"] = set.pressing;
    if (set.accepted)
      entry["accepted"] = true;
    else
      entry["rejected"] = set.rejected;
    json["active_sets"].push_back(entry);
  }
  json["position"] = explanation.position;
  json["status"] = status_name(explanation.status);
  json["minima"] = Json::array();
  if (explanation.status == Status::ok)
    json["minima"].push_back(
        {{"acceleration", vector_json(explanation.acceleration)}, {"constraint", explanation.constraint}});
  if (explanation.singular) {
    for (const SingularMinimum& minimum : explanation.singular->minima)
      json["minima"].push_back(minimum_json(minimum));
    json["singularity"] = singular_json(*explanation.singular);
  }
  if (explanation.friction) add_friction_json(*explanation.friction, json);
  json["kkt_residual"] = explanation.kkt;
  json["divergence"] = explanation.divergence;
  return json.dump(1) + "\n";
}

}  // namespace zwang
