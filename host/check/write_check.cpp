// Formats the report of a check.
#include "host/check/write_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "host/check/findings.h"
#include "host/platform/schema_version.h"
#include "host/platform/table.h"
#include "host/study/study.h"
#include "kernels/base/status.h"

namespace zwang {

namespace {

using Json = nlohmann::ordered_json;

const char* verdict_name(CheckVerdict verdict) {
  switch (verdict) {
    case CheckVerdict::pass:
      return "pass";
    case CheckVerdict::disagree:
      return "disagree";
    case CheckVerdict::undecided:
      return "undecided";
  }
  return "";
}

// All digits, since the two values of a case may differ only in the last ones.
std::string full_number(double value) { return std::isnan(value) ? "-" : fmt::format("{:.15g}", value); }
std::string rough_number(double value) { return std::isnan(value) ? "-" : fmt::format("{:.2g}", value); }

std::string cases_text(const CheckReport& report) {
  if (report.findings.worst().empty()) return "  none\n";
  TextTable table({"member", "t", "quantity", "backend", report.reverse ? "start" : "reference", "difference",
                   "allowed", ""});
  for (const CheckCase& one : report.findings.worst()) {
    const bool words = !one.backend_word.empty();
    table.add({std::to_string(one.member), short_number(one.t), one.quantity,
               words ? one.backend_word : full_number(one.backend),
               words ? one.reference_word : full_number(one.reference),
               words ? "-" : rough_number(one.difference()), words ? "-" : rough_number(one.allowed),
               one.severity() > 1 ? "disagree" : ""});
  }
  return table.text();
}

// At most so many stretches are listed; the counts include all of them.
constexpr std::size_t stretches_listed = 10;

std::string undecided_text(const CheckReport& report) {
  TextTable table({"member", "from", "until", "reason"});
  const std::size_t listed = std::min(report.undecided.size(), stretches_listed);
  for (std::size_t k = 0; k < listed; ++k) {
    const UndecidedStretch& one = report.undecided[k];
    table.add({std::to_string(one.member), short_number(one.from), short_number(one.until), one.reason});
  }
  std::string text = "\nundecided\n" + table.text();
  if (listed < report.undecided.size())
    text += fmt::format("  and {} more\n", report.undecided.size() - listed);
  if (report.undecided_by_cause().contains(undecided_cause_name(UndecidedCause::budget)))
    text += "  --budget 10 allows the reference ten times the work\n";
  return text;
}

Json stretch_json(const UndecidedStretch& one) {
  return {{"member", one.member},
          {"from", one.from},
          {"until", one.until},
          {"cause", undecided_cause_name(one.cause)},
          {"reason", one.reason}};
}

// Missing and infinite values become null.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json case_json(const CheckCase& one) {
  Json object;
  object["member"] = one.member;
  object["t"] = one.t;
  object["quantity"] = one.quantity;
  const bool words = !one.backend_word.empty();
  object["backend_value"] = words ? Json(one.backend_word) : number(one.backend);
  object["reference_value"] = words ? Json(one.reference_word) : number(one.reference);
  object["difference"] = words ? Json(nullptr) : number(one.difference());
  object["allowed"] = words ? Json(nullptr) : number(one.allowed);
  object["agrees"] = one.severity() <= 1;
  return object;
}

}  // namespace

std::string check_table(const Study& study, const CheckReport& report) {
  std::string text = (study.title.empty() ? study.name : study.title) + "\n";
  text += fmt::format("{} of {}, seed {}, {} backend ({})\n", report.reverse ? "round trips" : "check",
                      study.name, study.ensemble.seed, report.backend, report.device);
  text += "\n" + report.verdict_text() + "\n\n";
  text += fmt::format("  members      {} of {}\n", report.members.size(), study.ensemble.members);
  for (const auto& [reason, count] : report.left_out)
    text += fmt::format("  left out     {} ({})\n", count, reason);
  text += fmt::format("  {}  {}, {} undecided\n", report.reverse ? "round trips" : "segments   ",
                      report.segments, report.undecided_segments);
  if (report.measures > 0)
    text += fmt::format("  measures     {}, {} undecided\n", report.measures, report.undecided_measures);
  text += fmt::format("  comparisons  {}, {} disagree\n", report.findings.comparisons(),
                      report.findings.disagreements());
  text += "\nworst cases\n" + cases_text(report);
  if (!report.undecided.empty()) text += undecided_text(report);
  if (!report.failed.empty()) {
    TextTable table({"member", "status", "t"});
    for (const CheckReport::Ended& one : report.failed)
      table.add({std::to_string(one.member), status_name(one.status), short_number(one.t)});
    text += "\nfailed members\n" + table.text();
  }
  return text;
}

std::string check_json(const Study& study, const CheckReport& report) {
  Json json;
  json["schema_version"] = schema_version;
  json["study"] = study.name;
  json["title"] = study.title;
  json["seed"] = study.ensemble.seed;
  json["backend"] = {{"name", report.backend}, {"device", report.device}};
  json["reverse"] = report.reverse;
  json["verdict"] = verdict_name(report.verdict());
  json["verdict_text"] = report.verdict_text();
  json["members"] = report.members;
  Json left_out = Json::object();
  for (const auto& [reason, count] : report.left_out) left_out[reason] = count;
  if (report.reverse) json["left_out"] = left_out;
  json[report.reverse ? "round_trips" : "segments"] = report.segments;
  json[report.reverse ? "undecided_round_trips" : "undecided_segments"] = report.undecided_segments;
  if (!report.reverse) {
    json["measures"] = report.measures;
    json["undecided_measures"] = report.undecided_measures;
  }
  json["undecided_causes"] = Json::object();
  for (const auto& [cause, count] : report.undecided_by_cause()) json["undecided_causes"][cause] = count;
  json["undecided"] = Json::array();
  for (const UndecidedStretch& one : report.undecided) json["undecided"].push_back(stretch_json(one));
  json["comparisons"] = report.findings.comparisons();
  json["disagreements"] = report.findings.disagreements();
  json["worst_cases"] = Json::array();
  for (const CheckCase& one : report.findings.worst()) json["worst_cases"].push_back(case_json(one));
  json["failed_members"] = Json::array();
  for (const CheckReport::Ended& one : report.failed)
    json["failed_members"].push_back(
        {{"member", one.member}, {"status", status_name(one.status)}, {"t", one.t}});
  return json.dump(1) + "\n";
}

}  // namespace zwang
