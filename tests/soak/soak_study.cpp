#include "tests/soak/soak_study.h"

#include <fmt/format.h>

#include <numeric>

#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/backend/batch.h"
#include "host/check/check.h"
#include "host/platform/machine_error.h"
#include "host/sample/member.h"
#include "host/study_file/load_study.h"

namespace zwang::soak {

namespace {

// More output times, none of which coincides with a step or an event by construction.
Study finely_sampled(Study study, std::size_t outputs) {
  study.time.outputs.clear();
  for (std::size_t j = 0; j < outputs; ++j)
    study.time.outputs.push_back(study.time.end * (static_cast<double>(j) + 0.382) /
                                 static_cast<double>(outputs));
  return study;
}

Batch first_members(const Study& study, std::size_t count, unsigned threads) {
  std::vector<unsigned long long> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0ULL);
  return prepare_batch(study, numbers, threads);
}

class StudySoak {
 public:
  StudySoak(const RandomStudy& random, const SoakSettings& settings, SoakReport& report)
      : random_(random), settings_(settings), report_(report) {}

  void run() {
    const Study study = read_study(random_.text, fmt::format("soak_{}.toml", random_.seed));
    const Study fine = finely_sampled(study, settings_.fine_outputs);
    const HostCompiler compiler = HostCompiler::find().value();
    BackendCpu cpu(study, compiler, settings_.threads, LaneChoice::best, settings_.cache);
    BackendCpu fine_cpu(fine, compiler, settings_.threads, LaneChoice::best, settings_.cache);
    BackendReference fine_reference(fine, settings_.threads);

    report_.members_cpu += judge(study, cpu, settings_.members, true);
    report_.members_cpu += judge(fine, fine_cpu, settings_.finely, false);
    report_.members_reference += judge(fine, fine_reference, settings_.by_reference, false);
    compare(study, cpu);
  }

 private:
  // The laws on the first `count` members; returns the count.
  long long judge(const Study& study, Backend& backend, std::size_t count, bool tally) {
    const Batch batch = first_members(study, count, settings_.threads);
    const BatchResults results = backend.run(batch, {.observables = true, .states = true, .events = true});
    Laws laws(study, random_);
    for (std::size_t k = 0; k < count; ++k) {
      const BackendMotion motion = motion_of(study, batch, results, k);
      laws.judge(motion, results.audits[k], results.steps[k], results.redundant[k] != 0, k);
      account_end(study, backend.name(), motion, k);
      report_.samples += std::count(motion.reached.begin(), motion.reached.end(), 1);
      report_.events += static_cast<long long>(motion.events.size());
      for (const Event& event : motion.events) ++report_.events_by_kind[event_kind_name(event.kind)];
      if (tally) ++report_.status_by_name[status_name(motion.status)];
    }
    for (const auto& [law, severity] : laws.worst())
      report_.worst[law] = std::max(report_.worst[law], severity);
    for (const Breach& breach : laws.breaches())
      report_.fail(
          breach.law + " (" + backend.name() + ")", random_.seed, breach.member,
          fmt::format("t = {:.17g}: {:.6g}, allowed {:.6g}", breach.t, breach.found, breach.allowed));
    return static_cast<long long>(count);
  }

  // A motion may end for mechanical reasons (no admissible acceleration, a singular position); the reference
  // must then end it in the same way. Every other status is a failure.
  void account_end(const Study& study, const std::string& who, const BackendMotion& motion,
                   unsigned long long member) {
    if (motion.status == Status::ok || motion.status == Status::stopped) return;
    const std::string status = status_name(motion.status);
    const Trajectory other = replay_member(study, prepare_member(study, member), study_plan(study));
    const std::string seen = fmt::format("at t = {:.9g}; the reference: {} at t = {:.9g} {}", motion.end.t,
                                         status_name(other.status), other.last.state.t, other.cause);
    const bool by_mechanics = motion.status == Status::infeasible || motion.status == Status::singular ||
                              motion.status == Status::painleve || motion.status == Status::ambiguous;
    const bool same =
        other.status == motion.status && std::abs(other.last.state.t - motion.end.t) <= 1e-4 * study.time.end;
    if (by_mechanics && same)
      report_.excuse(status, random_.seed, member, seen);
    else
      report_.fail("status " + status + " (" + who + ")", random_.seed, member, seen);
  }

  void compare(const Study& study, BackendCpu& cpu) {
    Study small = study;
    small.ensemble.members = static_cast<long long>(settings_.members);
    const CheckReport found = check(small, cpu, {.sample = settings_.compared, .threads = settings_.threads});
    report_.comparisons += static_cast<long long>(found.findings.comparisons());
    report_.stretches += static_cast<long long>(found.segments);
    report_.undecided += static_cast<long long>(found.undecided_segments);
    report_.worst_agreement = std::max(report_.worst_agreement, found.findings.worst_severity());
    for (const CheckCase& one : found.findings.worst())
      if (one.severity() > 1)
        report_.fail("the backends disagree", random_.seed, one.member,
                     fmt::format("{} at t = {:.9g}: cpu {:.12g} {}, reference {:.12g} {}, allowed {:.3g}",
                                 one.quantity, one.t, one.backend, one.backend_word, one.reference,
                                 one.reference_word, one.allowed));
  }

  const RandomStudy& random_;
  const SoakSettings& settings_;
  SoakReport& report_;
};

}  // namespace

void soak_study(const RandomStudy& random, const SoakSettings& settings, SoakReport& report) {
  ++report.studies;
  for (const std::string& part : random.made_of) ++report.made_of[part];
  try {
    StudySoak(random, settings, report).run();
  } catch (const Error& error) {
    report.fail("the loader refuses the study", random.seed, 0, error.what());
  } catch (const MachineError& error) {
    report.blame_machine(random.seed, error.what());
  }
}

}  // namespace zwang::soak
