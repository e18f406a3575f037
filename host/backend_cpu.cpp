#include "host/backend_cpu.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "host/batch.h"
#include "host/machine_error.h"

namespace zwang {

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

// Events kept for each member at first; members with more are run again with room for all of theirs.
constexpr long long first_event_room = 64;

// Threads with as much stack as the program asks for: events of large systems need more than the usual.
class Team {
 public:
  Team(unsigned threads, long long stack_bytes, void* (*work)(void*), void* argument) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    const auto page = 4096LL;
    pthread_attr_setstacksize(&attributes, static_cast<std::size_t>((stack_bytes + page - 1) / page * page));
    for (unsigned i = 0; i < threads; ++i) {
      pthread_t thread;
      if (pthread_create(&thread, &attributes, work, argument) != 0) break;
      threads_.push_back(thread);
    }
    pthread_attr_destroy(&attributes);
    if (threads_.empty())
      throw MachineError({.message = "no thread could be started",
                          .found = fmt::format("a stack of {} bytes refused", stack_bytes),
                          .expected = "memory for at least one thread",
                          .hint = "is there a memory limit (ulimit -v)?"});
  }
  ~Team() {
    for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

 private:
  std::vector<pthread_t> threads_;
};

}  // namespace

// What the kernels read and write, in plain arrays.
struct BackendCpu::Buffers {
  std::size_t count = 0;
  std::vector<double> parameters, starts;
  std::vector<int> prepared, status, redundant;
  std::vector<double> end_time, end_state, measures, observables, states, audits, events;
  std::vector<long long> steps, event_counts;
  KernelBatch batch{};
};

namespace {

struct ResultSizes {
  explicit ResultSizes(const System& system, std::size_t output_times)
      : state(2 * system.size() + system.auxiliaries.size()),
        sample(state + 2 * system.constraints.size()),
        outputs(output_times),
        observables(system.observables.size()),
        measures(system.measures.size()),
        event_row(static_cast<std::size_t>(event_row_length(static_cast<int>(system.size()),
                                                            static_cast<int>(system.constraints.size())))) {}
  std::size_t state, sample, outputs, observables, measures, event_row;
};

template <class Buffers>
void make_room(Buffers& buffers, const ResultSizes& sizes, const Wanted& wanted,
               const std::vector<double>& outputs, long long event_room) {
  const std::size_t count = buffers.count;
  buffers.status.assign(count, 0);
  buffers.redundant.assign(count, 0);
  buffers.end_time.assign(count, 0);
  buffers.end_state.assign(count * sizes.state, missing);
  buffers.measures.assign(count * sizes.measures, missing);
  buffers.audits.assign(count * audit_numbers, 0);
  buffers.steps.assign(2 * count, 0);
  buffers.event_counts.assign(count * event_kinds, 0);
  if (wanted.observables) buffers.observables.assign(count * sizes.outputs * sizes.observables, missing);
  if (wanted.states) buffers.states.assign(count * sizes.outputs * sizes.sample, missing);
  if (wanted.events) buffers.events.assign(count * static_cast<std::size_t>(event_room) * sizes.event_row, 0);
  buffers.batch = {.count = static_cast<long long>(count),
                   .parameters = buffers.parameters.data(),
                   .starts = buffers.starts.data(),
                   .prepared = buffers.prepared.data(),
                   .outputs = outputs.data(),
                   .status = buffers.status.data(),
                   .end_time = buffers.end_time.data(),
                   .end_state = buffers.end_state.data(),
                   .measures = buffers.measures.data(),
                   .observables = wanted.observables ? buffers.observables.data() : nullptr,
                   .states = wanted.states ? buffers.states.data() : nullptr,
                   .steps = buffers.steps.data(),
                   .event_counts = buffers.event_counts.data(),
                   .audits = buffers.audits.data(),
                   .redundant = buffers.redundant.data(),
                   .events = wanted.events ? buffers.events.data() : nullptr,
                   .event_capacity = wanted.events ? event_room : 0,
                   .ticks = nullptr};
}

// One row of the log (kernels/layout.h) as an Event.
Event event_of(const double* row, const System& system) {
  const std::size_t n = system.size(), r = system.constraints.size();
  Event event;
  event.t = row[0];
  event.kind = static_cast<EventKind>(static_cast<int>(row[1]));
  event.watch = static_cast<std::size_t>(row[2]);
  event.velocities_jump = row[4] != 0;
  event.energy_lost = row[3];
  const double *listed = row + event_row_head, *reached = listed + r, *impulse = reached + r,
               *before = impulse + r;
  for (std::size_t i = 0; i < r; ++i) {
    if (listed[i] != 0) event.constraints.push_back(i);
    if (reached[i] != 0) event.reached.push_back(i);
    if (listed[i] != 0 && event.velocities_jump && event.kind != EventKind::accumulation)
      event.impulses.push_back(impulse[i]);
  }
  if (event.velocities_jump) {
    const auto size = static_cast<Eigen::Index>(n);
    event.velocity_before = Eigen::Map<const Eigen::VectorXd>(before, size);
    event.velocity_after = Eigen::Map<const Eigen::VectorXd>(before + n, size);
  }
  return event;
}

long long events_of(const std::vector<long long>& counts, std::size_t member) {
  long long total = 0;
  for (std::size_t k = 0; k < event_kinds; ++k) total += counts[member * event_kinds + k];
  return total;
}

Audit audit_of(const double* numbers) {
  return {.position_violation = numbers[0],
          .velocity_violation = numbers[1],
          .energy_drift = numbers[2],
          .energy_size = numbers[3],
          .kkt = numbers[4],
          .carnot = numbers[5],
          .energy_created = numbers[6]};
}

}  // namespace

BackendCpu::BackendCpu(const Study& study, const HostCompiler& compiler, unsigned threads, LaneChoice lanes,
                       std::filesystem::path cache)
    : BackendCpu(study, cpu_program(study, lanes), compiler, threads, std::move(cache)) {}

BackendCpu::BackendCpu(const Study& study, const KernelProgram& program, const HostCompiler& compiler,
                       unsigned threads, std::filesystem::path cache_folder)
    : system_(study.system),
      outputs_(study.time.outputs),
      settings_(kernel_settings(study)),
      threads_(thread_count(threads)),
      method_(program.method),
      motion_operations_(program.motion_operations) {
  const auto begun = std::chrono::steady_clock::now();
  ProgramCache cache(std::move(cache_folder));
  const auto library = cache.get(
      compiler.key(program.text),
      [&](const std::filesystem::path& target) { compiler.compile(program.text, target); }, &compiled_);
  program_.emplace(library);
  note_ = cache.note();
  lanes_ = program_->symbol<int()>("zwang_lanes")();
  stack_bytes_ = program_->symbol<long long()>("zwang_stack_bytes")();
  work_ = program_->symbol<void(const KernelSettings*, const KernelBatch*, long long*)>("zwang_work");
  compile_seconds = program.emission_seconds +
                    std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

std::string BackendCpu::device() const {
  return fmt::format("{} lane{}, {}", lanes_, lanes_ == 1 ? "" : "s", method_);
}

void BackendCpu::set_threads(unsigned threads) { threads_ = thread_count(threads); }

void BackendCpu::integrate(Buffers& buffers, unsigned threads) const {
  long long counter = 0;
  struct Order {
    const BackendCpu* backend;
    const KernelBatch* batch;
    long long* counter;
  } order{this, &buffers.batch, &counter};
  const auto work = [](void* given) -> void* {
    const auto* now = static_cast<const Order*>(given);
    now->backend->work_(&now->backend->settings_, now->batch, now->counter);
    return nullptr;
  };
  const auto most =
      static_cast<unsigned>(std::min<std::size_t>(threads, std::max<std::size_t>(buffers.count, 1)));
  const Team team(most, stack_bytes_, work, &order);
}

void BackendCpu::fill(Buffers& buffers, const Batch& batch, const Wanted& wanted) const {
  buffers.count = batch.count;
  buffers.parameters = batch.parameters;
  buffers.starts = batch.starts;
  for (const Status status : batch.prepared) buffers.prepared.push_back(static_cast<int>(status));
  make_room(buffers, ResultSizes(*system_, outputs_.size()), wanted, outputs_, first_event_room);
}

BackendCpu::Shares BackendCpu::measure_shares(const Batch& batch) {
  Buffers buffers;
  fill(buffers, batch, {});
  long long ticks[3] = {0, 0, 0};
  buffers.batch.ticks = ticks;
  integrate(buffers, 1);
  const auto share = [&](int i) {
    return ticks[0] > 0 ? static_cast<double>(ticks[i]) / static_cast<double>(ticks[0]) : 0;
  };
  return {.events = share(1), .starts = share(2)};
}

BatchResults BackendCpu::run(const Batch& batch, const Wanted& wanted) {
  const ResultSizes sizes(*system_, outputs_.size());
  Buffers buffers;
  fill(buffers, batch, wanted);
  integrate(buffers, threads_);

  BatchResults results;
  for (const int status : buffers.status) results.status.push_back(static_cast<Status>(status));
  for (std::size_t m = 0; m < batch.count; ++m) {
    results.steps.push_back(buffers.steps[2 * m]);
    results.rejected.push_back(buffers.steps[2 * m + 1]);
    results.audits.push_back(audit_of(buffers.audits.data() + m * audit_numbers));
    results.redundant.push_back(buffers.redundant[m] != 0);
  }
  if (wanted.events) {
    results.events.resize(batch.count);
    for (std::size_t m = 0; m < batch.count; ++m) {
      const long long total = events_of(buffers.event_counts, m);
      const Buffers* from = &buffers;
      Buffers again;
      std::size_t place = m;
      if (total > first_event_room) {
        const std::size_t p = system_->parameters.size();
        again.count = 1;
        again.parameters.assign(batch.parameters.begin() + static_cast<std::ptrdiff_t>(m * p),
                                batch.parameters.begin() + static_cast<std::ptrdiff_t>((m + 1) * p));
        again.starts.assign(batch.starts.begin() + static_cast<std::ptrdiff_t>(m * sizes.state),
                            batch.starts.begin() + static_cast<std::ptrdiff_t>((m + 1) * sizes.state));
        again.prepared = {buffers.prepared[m]};
        make_room(again, sizes, wanted, outputs_, total);
        integrate(again, 1);
        from = &again;
        place = 0;
      }
      const double* row = from->events.data() +
                          place * static_cast<std::size_t>(from->batch.event_capacity) * sizes.event_row;
      for (long long k = 0; k < total; ++k, row += sizes.event_row)
        results.events[m].push_back(event_of(row, *system_));
    }
  }
  results.end_time = std::move(buffers.end_time);
  results.end_state = std::move(buffers.end_state);
  results.measures = std::move(buffers.measures);
  results.observables = std::move(buffers.observables);
  results.states = std::move(buffers.states);
  results.event_counts = std::move(buffers.event_counts);
  return results;
}

}  // namespace zwang
