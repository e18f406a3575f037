// Writes members beside the computation: their records for checkpoints, and members.nc.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "host/backend/member_bytes.h"
#include "host/files/member_records.h"
#include "host/files/write_members.h"
#include "host/platform/buffer_pool.h"

namespace zwang {

// One batch is written while at most one other waits: memory is bounded, and a run that is faster than its
// disk is slowed to the disk's speed.
class MemberOutput {
 public:
  // `file` is used by this object's thread until settle() or close() has returned. `begin_members` makes the
  // writer of members.nc, with the members of an earlier process that are in the file already; empty: there
  // is no members.nc.
  using BeginMembers = std::function<std::unique_ptr<MembersWriter>()>;
  MemberOutput(MemberRecordsFile& file, BeginMembers begin_members);
  ~MemberOutput();  // what has not been written is dropped
  MemberOutput(const MemberOutput&) = delete;
  MemberOutput& operator=(const MemberOutput&) = delete;

  // Errors of earlier batches are thrown by the next call of any of these.
  void add(long long first, std::shared_ptr<const HostBuffer> records);
  void settle();  // returns when the file has the records of all members added
  void close();   // settles, then completes members.nc

 private:
  struct Work {
    long long first;
    std::shared_ptr<const HostBuffer> records;
  };
  void write_all();
  void write(const Work& work);
  void wait_until_free(std::unique_lock<std::mutex>& lock);

  MemberRecordsFile& file_;
  BeginMembers begin_members_;
  std::unique_ptr<MembersWriter> members_;
  std::mutex guard_;
  std::condition_variable changed_;
  std::optional<Work> waiting_;
  bool writing_ = false, stopped_ = false;
  std::exception_ptr trouble_;
  std::thread thread_;
};

}  // namespace zwang
