#include "tests/soak/soak_report.h"

#include <fmt/format.h>

namespace zwang::soak {

namespace {

void note(std::map<std::string, Trouble>& list, const std::string& what, std::uint64_t seed,
          unsigned long long member, const std::string& detail) {
  Trouble& trouble = list[what];
  if (trouble.times++ == 0) {
    trouble.seed = seed;
    trouble.member = member;
    trouble.detail = detail;
  }
}

std::string listed(const std::map<std::string, long long>& counts) {
  std::string text;
  for (const auto& [name, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
  return text.empty() ? "none" : text;
}

std::string described(const std::map<std::string, Trouble>& list) {
  std::string text;
  for (const auto& [what, trouble] : list)
    text += fmt::format("  {}: {} times; first in study {}, member {}: {}\n", what, trouble.times,
                        trouble.seed, trouble.member, trouble.detail);
  return text.empty() ? "  none\n" : text;
}

}  // namespace

void SoakReport::fail(const std::string& what, std::uint64_t seed, unsigned long long member,
                      const std::string& detail) {
  note(failures, what, seed, member, detail);
  suspects.insert(seed);
}

void SoakReport::excuse(const std::string& what, std::uint64_t seed, unsigned long long member,
                        const std::string& detail) {
  note(legitimate, what, seed, member, detail);
}

void SoakReport::blame_machine(std::uint64_t seed, const std::string& detail) {
  note(machine, "not run", seed, 0, detail);
}

std::string SoakReport::text() const {
  std::string made = fmt::format(
      "{} studies in {:.0f} s ({})\n"
      "members: {} by cpu, {} by the reference; {} states judged\n"
      "status (cpu): {}\n"
      "events located: {} ({})\n"
      "cpu against reference: {} comparisons in {} stretches ({} undecided), worst at {:.2g} of what is "
      "allowed\n",
      studies, seconds, listed(made_of), members_cpu, members_reference, samples, listed(status_by_name),
      events, listed(events_by_kind), comparisons, stretches, undecided, worst_agreement);
  made += "worst of each law, as a share of what is allowed:\n";
  for (const auto& [law, severity] : worst) made += fmt::format("  {:<45} {:.2g}\n", law, severity);
  made += "members that mechanics ended, as both backends say:\n" + described(legitimate);
  if (!machine.empty()) made += "studies the machine could not run:\n" + described(machine);
  made += "failures:\n" + described(failures);
  return made;
}

}  // namespace zwang::soak
