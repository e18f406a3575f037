// The turns of a worker: launches of the kernels until all members of a batch have ended (kernels/entry/entry_cuda.h).
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <vector>

#include "host/backend/cuda/device_program.h"
#include "host/backend/cuda/library.h"
#include "host/backend/cuda/worker.h"
#include "host/platform/stage_times.h"
#include "kernels/base/layout.h"

namespace zwang {

namespace {

bool is_idle(const SlowRun& run) { return run.state == static_cast<unsigned>(SlowRunState::idle); }

// The runs of the slow path for which it is launched in the turns until the next poll, a bit for each. A launch behind a run
// that is under way waits for its end, and so may launches on other streams, which share the hardware's queues.
class SlowLaunches {
 public:
  SlowLaunches(const DeviceCounters& counters, unsigned runs, unsigned turn, SlowRunRule rule)
      : one_a_turn_(rule == SlowRunRule::overlapping) {
    constexpr unsigned long_in_turns = 64;
    for (unsigned r = 0; r < runs; ++r) {
      const SlowRun& run = counters.runs[r];
      const bool is_short = !one_a_turn_ && turn - run.turn <= long_in_turns;
      if (is_idle(run) || is_short) chosen_.push_back(1U << r);
    }
  }

  // Runs that overlap last for thousands of turns: each idle one is launched once, in a turn of its own. Others end within a
  // few turns, and each is launched in every turn.
  unsigned in_turn(int i) const {
    const auto turn = static_cast<std::size_t>(i);
    if (one_a_turn_) return turn < chosen_.size() ? chosen_[turn] : 0;
    return std::accumulate(chosen_.begin(), chosen_.end(), 0U);
  }
  // The number of turns until the next poll, of those wanted.
  int limit(int turns) const {
    return one_a_turn_ && !chosen_.empty() ? std::min(turns, static_cast<int>(chosen_.size())) : turns;
  }

 private:
  bool one_a_turn_;
  std::vector<unsigned> chosen_;
};

}  // namespace

// Repeats turns until all lists are empty. A turn is zwang_event, zwang_step and zwang_record on the main stream. Runs of
// zwang_slow_path are under way on streams of their own and may last for many turns: a launch belongs to a turn, and
// returns at once unless zwang_event of that turn has given it a list (kernels/entry/slow_runs.h). The lists come in pairs;
// the parity of a turn selects those that it reads, and the others are filled for the next turn. The host polls the
// counters according to poll_schedule_.
void CudaWorker::run_turns(const KernelSettings& settings, const KernelBatch& batch, const Layout& layout,
                           unsigned slots) {
  unsigned turn = 0, run = 0, launched = 0;
  DeviceLists lists = layout.lists;
  open_slow_streams(lists.runs);
  clear(layout.counters, sizeof(DeviceCounters), stream_);
  counters_ = {};
  for (run = 0; run < lists.runs; ++run)
    driver_.require(driver_.set_bytes(reinterpret_cast<cuda::Pointer>(lists.resumed[run]), 0xFF,
                                      sizeof(unsigned) * slots, stream_),
                    "clearing the lists");
  // A list that no kernel of the study fills stays empty.
  for (const DeviceStepList* list : {&layout.lists.steps, &layout.lists.events})
    if (list->regions > 0)
      clear(reinterpret_cast<cuda::Pointer>(list->counts), 2 * sizeof(unsigned) * list->regions, stream_);
  // Settings and batch are passed by value to zwang_event and zwang_step, by device address to
  // zwang_slow_path.
  KernelSettings settings_value = settings;
  KernelBatch batch_value = batch;
  cuda::Pointer settings_address = layout.settings, batch_address = layout.batch,
                slots_address = layout.slots;
  int parity = 0;
  void* open_arguments[] = {&lists, &slots};
  void* event_arguments[] = {&settings_value, &batch_value, &slots_address, &lists, &turn, &launched};
  void* slow_path_arguments[] = {&settings_address, &batch_address, &slots_address, &lists, &turn, &run};
  void* step_arguments[] = {&settings_value, &batch_value, &slots_address, &lists, &parity};
  launch(program_->open, open_arguments, slots, stream_);
  int taken = 0;
  for (int turns = poll_schedule_.first();; turns = poll_schedule_.next(taken)) {
    const SlowLaunches launches(counters_, lists.runs, turn, program_->slow_run_rule);
    turns = launches.limit(turns);
    for (int i = 0; i < turns; ++i, ++turn) {
      launched = launches.in_turn(i);
      parity = static_cast<int>(turn % 2);
      launch_timed("kernels: event", program_->event, event_arguments, slots, stream_);
      record(events_done_, stream_);
      for (run = 0; run < lists.runs; ++run) {
        if ((launched >> run & 1U) == 0) continue;
        make_stream_wait(slow_streams_[run], events_done_);
        launch_timed("kernels: slow path", program_->slow_path, slow_path_arguments, slots,
                     slow_streams_[run]);
      }
      launch_timed("kernels: step", program_->step, step_arguments, slots, stream_);
      if (program_->record.function)
        launch_timed("kernels: record", program_->record, step_arguments, slots, stream_);
    }
    taken += turns;
    poll(layout);
    // Where nothing moves, the next turns have work only when a run has left a slot or has ended.
    while (lists_are_empty(turn % 2) && slow_path_is_under_way() && !slow_path_has_left_slots()) poll(layout);
    const bool ended = lists_are_empty(turn % 2) && !slow_path_is_under_way();
    poll_schedule_.learn(taken, ended);
    if (!ended) continue;
    finish_slow_runs();  // no launch may be left that reads the counters
    return;
  }
}

void CudaWorker::open_slow_streams(std::size_t count) {
  constexpr int high_priority = -1;  // lower numbers run first
  while (slow_streams_.size() < count)
    driver_.require(driver_.priority_stream_create(&slow_streams_.emplace_back(), 1, high_priority),
                    "creating a stream");
}

void CudaWorker::poll(const Layout& layout) {
  driver_.require(driver_.copy_out(&counters_, layout.counters, sizeof counters_, stream_),
                  "copying the counters");
  synchronise("integrating on " + name_);
}

// Whether no member waits for the next turn, which reads the lists of this parity; the others have been read.
bool CudaWorker::lists_are_empty(unsigned parity) const {
  const unsigned* waiting = counters_.waiting[counters_.filled];
  return counters_.at_event[parity] == 0 && counters_.moving[parity] == 0 &&
         std::all_of(waiting, waiting + slow_works, [](unsigned length) { return length == 0; });
}
bool CudaWorker::slow_path_is_under_way() const {
  return std::any_of(std::begin(counters_.runs), std::end(counters_.runs),
                     [](const SlowRun& run) { return !is_idle(run); });
}
// Whether the next turns have slots of a run to distribute, or can begin another one because a run has ended.
bool CudaWorker::slow_path_has_left_slots() const {
  const bool one_by_one = program_->slow_run_rule != SlowRunRule::gathered;
  return std::any_of(std::begin(counters_.runs), std::end(counters_.runs), [&](const SlowRun& run) {
    return run.state == static_cast<unsigned>(SlowRunState::ended) || (one_by_one && run.resumed > run.from);
  });
}
void CudaWorker::finish_slow_runs() const {
  for (cuda::Stream stream : slow_streams_)
    driver_.require(driver_.stream_synchronise(stream), "integrating on " + name_);
}

// Half-way between the turns that were too few for the last batches and those that were enough.
int CudaWorker::PollSchedule::first() const {
  return enough_ > 0 ? std::min((too_few_ + enough_ + 1) / 2, most) : 2;
}
int CudaWorker::PollSchedule::next(int taken) const {
  return std::min(enough_ > taken ? enough_ - taken : 2 * taken, most);
}
void CudaWorker::PollSchedule::learn(int taken, bool ended) {
  if (ended) {
    enough_ = taken;
    if (too_few_ >= enough_) too_few_ = 0;
  } else {
    too_few_ = taken;
    if (enough_ <= too_few_) enough_ = 0;
  }
}

// Under `run --timings` kernels run one after the other, so that each has a time of its own.
void CudaWorker::launch_timed(const char* stage, const CudaKernel& kernel, void** arguments, unsigned threads,
                              cuda::Stream stream) const {
  const StageTimer timer(stage);
  launch(kernel, arguments, threads, stream);
  if (StageTimes::get().on()) driver_.require(driver_.stream_synchronise(stream), stage);
}
void CudaWorker::launch(const CudaKernel& kernel, void** arguments, unsigned threads,
                        cuda::Stream stream) const {
  const unsigned block = static_cast<unsigned>(kernel.threads);
  driver_.require(driver_.launch(kernel.function, blocks_for(kernel, threads), 1, 1, block, 1, 1, 0, stream,
                                 arguments, nullptr),
                  "starting a kernel");
}
unsigned CudaWorker::blocks_for(const CudaKernel& kernel, unsigned threads) const {
  const unsigned block = static_cast<unsigned>(kernel.threads), wanted = (threads + block - 1) / block;
  return kernel.loops ? std::min(wanted, static_cast<unsigned>(kernel.blocks)) : wanted;
}

}  // namespace zwang
