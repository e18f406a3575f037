#include "host/results/member_output.h"

#include <utility>

#include "host/platform/buffer_pool.h"
#include "host/platform/parallel.h"
#include "host/platform/stage_times.h"

namespace zwang {

MemberOutput::MemberOutput(MemberRecordsFile& file, BeginMembers begin_members)
    : file_(file), begin_members_(std::move(begin_members)), thread_([this] { write_all(); }) {}

MemberOutput::~MemberOutput() {
  {
    const std::scoped_lock lock(guard_);
    stopped_ = true;
    waiting_.reset();
  }
  changed_.notify_all();
  thread_.join();
}

void MemberOutput::write_all() {
  std::unique_lock lock(guard_);
  for (;;) {
    changed_.wait(lock, [&] { return waiting_.has_value() || stopped_; });
    if (!waiting_) return;
    const Work work = *std::exchange(waiting_, std::nullopt);
    writing_ = true;
    changed_.notify_all();
    lock.unlock();
    std::exception_ptr trouble;
    try {
      write(work);
    } catch (...) {
      trouble = std::current_exception();
    }
    lock.lock();
    writing_ = false;
    if (trouble && !trouble_) trouble_ = trouble;
    changed_.notify_all();
  }
}

// members.nc begins before the first records are appended: it needs those that were in the file before.
void MemberOutput::write(const Work& work) {
  if (!members_ && begin_members_) members_ = begin_members_();
  const std::span<const char> records = work.records->bytes();
  in_parallel(members_ ? 2 : 1, 2, [&](std::size_t which) {
    if (which == 0) {
      const StageTimer timer("write members: records");
      file_.append({records.data(), records.size()});
    } else {
      const StageTimer timer("write members: members.nc");
      members_->add(work.first, records);
    }
  });
}

// Returns when no batch waits, and throws what has gone wrong.
void MemberOutput::wait_until_free(std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [&] { return !waiting_; });
  if (trouble_) std::rethrow_exception(trouble_);
}

void MemberOutput::add(long long first, std::shared_ptr<const HostBuffer> records) {
  std::unique_lock lock(guard_);
  wait_until_free(lock);
  waiting_ = Work{first, std::move(records)};
  changed_.notify_all();
}

void MemberOutput::settle() {
  std::unique_lock lock(guard_);
  changed_.wait(lock, [&] { return !waiting_ && !writing_; });
  wait_until_free(lock);
}

void MemberOutput::close() {
  settle();
  if (!members_ && begin_members_) members_ = begin_members_();
  if (members_) members_->close();
  members_.reset();
}

}  // namespace zwang
