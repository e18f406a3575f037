// Byte layout of a part of a run and of a run's identity.
#include "host/files/run_part_bytes.h"

#include <fmt/format.h>

#include "host/files/run_identity.h"
#include "host/platform/bytes.h"
#include "host/run/run.h"
#include "host/run/run_result.h"
#include "host/statistics/run_tally_bytes.h"

namespace zwang {

namespace {

constexpr std::uint64_t longest_part_text = std::uint64_t{1} << 26;

template <class Performance, class Visit>
void each_time(Performance& performance, Visit&& visit) {
  visit(performance.wall_s);
  visit(performance.compile_s);
  visit(performance.sample_s);
  visit(performance.integrate_s);
  visit(performance.statistics_s);
  visit(performance.write_s);
  visit(performance.trajectories_s);
}

}  // namespace

void save_part(ByteWriter& bytes, const RunPart& part) {
  bytes.number(part.first);
  bytes.number(part.end);
  bytes.number(part.position);
  bytes.number<char>(part.sure ? 1 : 0);
  bytes.number(part.tally.rows());
  save_tally(bytes, part.tally);
  bytes.number(part.performance.threads);
  each_time(part.performance, [&](double seconds) { bytes.number(seconds); });
}

RunPart load_part(ByteReader& bytes) {
  RunPart part;
  part.first = bytes.number<long long>();
  part.end = bytes.number<long long>();
  part.position = bytes.number<long long>();
  if (part.first < 0 || part.position < part.first || part.end < part.position)
    bytes.refuse(fmt::format("members {} to {} of {}", part.first, part.position, part.end),
                 "numbers in order");
  part.sure = bytes.number<char>() != 0;
  // With a sweep `until` may leave members out.
  const long long rows = bytes.count(part.position - part.first);
  part.tally = load_tally(bytes, {part.first, part.position}, rows);
  part.performance.threads = bytes.number<unsigned>();
  each_time(part.performance, [&](double& seconds) { seconds = bytes.number<double>(); });
  return part;
}

void save_identity(ByteWriter& bytes, const RunIdentity& identity) {
  bytes.number<std::uint64_t>(identity.facts.size());
  for (const auto& [name, value] : identity.facts) {
    bytes.text(name);
    bytes.text(value);
  }
}

RunIdentity load_identity(ByteReader& bytes) {
  RunIdentity identity;
  identity.facts.resize(bytes.length(64));
  for (auto& [name, value] : identity.facts) {
    name = bytes.text(longest_part_text);
    value = bytes.text(longest_part_text);
    // Only the study has more than one line.
    if (!is_one_line(name) || (name != "study" && !is_one_line(value)))
      bytes.refuse(printable_excerpt(name) + " " + printable_excerpt(value), "text on one line");
  }
  return identity;
}

}  // namespace zwang
