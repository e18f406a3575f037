// Runs for fuzz targets: small studies and a trivial backend, thousands of runs per second.
#pragma once

#include <charconv>
#include <cmath>
#include <limits>

#include "host/platform/machine_error.h"
#include "host/results/run_files.h"
#include "host/study_file/load_study.h"
#include "tests/fuzz/edited_files.h"

namespace zwang::fuzz {

// Results computed from the member's parameters alone, without integration, with every kind of value.
class QuickBackend : public Backend {
 public:
  explicit QuickBackend(const Study& study) : study_(study) {}
  std::string name() const override { return "quick"; }
  std::string device() const override { return "none"; }
  unsigned threads() const override { return 1; }

  BatchResults run(const Batch& batch, const Wanted& wanted) override {
    const System& system = *study_.system;
    const std::size_t n = system.size(), r = system.constraints.size(), count = batch.count;
    const std::size_t outputs = study_.time.outputs.size(), state = 2 * n + system.auxiliaries.size();
    BatchResults made;
    made.end_time.assign(count, 1);
    made.end_state = batch.starts;
    made.steps.assign(count, 3);
    made.rejected.assign(count, 1);
    made.event_counts.assign(count * event_kinds, 1);
    made.audits.resize(count);
    made.redundant.assign(count, 0);
    for (std::size_t k = 0; k < count; ++k) {
      const double x = batch.parameters[k * system.parameters.size()];
      made.status.push_back(x > 2.9 ? Status::singular : Status::ok);
      const auto numbers = [&](std::vector<double>& to, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i)
          to.push_back(x < 1.1 ? std::numeric_limits<double>::quiet_NaN() : std::sin(x + double(i)));
      };
      numbers(made.measures, system.member_values());
      if (wanted.observables) numbers(made.observables, outputs * system.observables.size());
      if (wanted.states) numbers(made.states, outputs * (state + 2 * r));
      if (wanted.events) made.events.push_back(events(x));
    }
    return made;
  }

 private:
  MemberEvents events(double x) const {
    const auto n = static_cast<Eigen::Index>(study_.system->size());
    return {{.t = x, .kind = EventKind::contact, .constraints = {0}},
            {.t = x,
             .kind = EventKind::shock,
             .constraints = {0},
             .reached = {0},
             .velocities_jump = true,
             .impulses = {x},
             .velocity_before = Eigen::VectorXd::Constant(n, x),
             .velocity_after = Eigen::VectorXd::Zero(n)},
            {.t = x, .kind = EventKind::event, .watch = 0}};
  }

  const Study& study_;
};

// Two kinds of statistics: all values stored, or buckets, pilots and replicates.
struct QuickRun {
  explicit QuickRun(bool buckets)
      : study(read_study(text(buckets), "/nonexistent/zwang/quick.toml")),
        memory(buckets ? 0 : std::size_t{64} << 20) {}

  // Shards, checkpoints: 280 members are two blocks.
  RunOptions options() const { return {.threads = 1, .batch = 90, .statistics_memory = memory}; }
  FiledRun run(
      const std::filesystem::path& out, const RunFilesOptions& files = {}, bool resume = false,
      const std::function<void()>& check = [] {}) const {
    ResultFolder folder(out, {.resume = resume});
    QuickBackend backend(study);
    return run_into(folder, study, backend, options(), check, files);
  }

  static std::string text(bool buckets) {
    const std::string sampler = buckets ? "sampler = \"sobol\"\n" : "";
    return R"toml([parameters]
u = { uniform = [1, 3] }
[[coordinate]]
name = "x"
position = 0
velocity = "u"
[system]
kinetic = "0.5*x'^2"
[[constraint]]
name = "wall"
require = "x <= 1"
[[event]]
name = "gate"
when = "x - 0.5"
[ensemble]
members = 280
)toml" + sampler +
           R"toml([time]
at = [0, 1]
[observe]
place = "x"
[measure]
far = "maximum(x)"
hit = "first(contact(wall))"
[statistics]
quantiles = [0.5]
histogram.place = { bins = 3 }
histogram.far = { bins = 3, range = [0, 1] }
[output]
members = true
trajectories = [270, 0]
)toml";
  }

  Study study;
  std::size_t memory;
};

// Corrects the checksums of a record, in order, and changes nothing else.
inline void mend_checksums(const std::filesystem::path& path, std::string& record, const QuickRun& run) {
  constexpr std::string_view words = "checksum ", place_words = " at byte ";
  for (int turn = 0; turn < 2; ++turn) {
    write_bytes(path, record);
    try {
      RecordReader reader(path, "record", "");
      const Sampler sampler(run.study);
      reader.statistics(ensemble_plan(run.study, sampler, run.memory));
      return;
    } catch (const Error& error) {
      const Problem& problem = error.problems().front();
      const std::size_t place_at = problem.found.find(place_words);
      if (!problem.found.starts_with(words) || place_at == std::string::npos) return;
      const char *begin = problem.found.data() + place_at + place_words.size(),
                 *end = problem.found.data() + problem.found.size();
      std::size_t place = 0;
      std::uint64_t right = 0;
      std::from_chars(begin, end, place);
      std::from_chars(problem.expected.data(), problem.expected.data() + problem.expected.size(), right, 16);
      promise(place + sizeof right <= record.size(), "a checksum behind the end");
      std::memcpy(record.data() + place, &right, sizeof right);
    }
  }
  write_bytes(path, record);
}

// Replaces the checksum of the members in the record.
inline void mend_members(std::string& record, const std::string& members_before, const std::string& members) {
  const auto bytes_of = [](const std::string& text) {
    Checksum checksum;
    checksum.update(text.data(), text.size());
    std::string bytes(8, '\0');
    const std::uint64_t value = checksum.value();
    std::memcpy(bytes.data(), &value, 8);
    return bytes;
  };
  if (const std::size_t at = record.find(bytes_of(members_before)); at != std::string::npos)
    record.replace(at, 8, bytes_of(members));
}

enum class Outcome { done, read, refused };

// Thrown after everything is read and before anything is written.
struct Enough {};

// Either an Error or success. Any other exception is a failure.
template <class Work>
Outcome outcome_of(Work&& work) {
  try {
    work();
    return Outcome::done;
  } catch (const Enough&) {
    return Outcome::read;
  } catch (const Error& error) {
    expect_clean_message(error.what());
  } catch (const MachineError& error) {
    expect_clean_message(error.what());
  }
  return Outcome::refused;
}

}  // namespace zwang::fuzz
