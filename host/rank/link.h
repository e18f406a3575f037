// The processes of one run, on one machine or many, and how they talk: rank 0 collects and writes, the others integrate.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace zwang {

// What a message is about.
enum class RankWord : int {
  begin,    // 0 -> worker: there is something to do
  ready,    // worker -> 0: whose run it is ready for
  piece,    // 0 -> worker: members to integrate
  result,   // worker -> 0: what became of them
  trouble,  // worker -> 0: it cannot go on, and why
  stop,     // 0 -> worker: nothing more to do
  goodbye   // worker -> 0: nothing more will come
};

struct RankMessage {
  int from = 0;
  RankWord word = RankWord::stop;
  std::string bytes;
};

// One thread at a time.
class RankLink {
 public:
  RankLink() = default;
  RankLink(const RankLink&) = delete;
  RankLink& operator=(const RankLink&) = delete;
  virtual ~RankLink() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Among the ranks of this machine.
  virtual int local_rank() const = 0;
  virtual int local_size() const = 0;
  virtual std::string host() const = 0;

  // Neither waits for the other side: bytes travel while either is called.
  virtual void send(int to, RankWord word, std::string bytes) = 0;
  virtual std::optional<RankMessage> receive() = 0;  // nothing where nothing has arrived

  virtual void leave() = 0;                       // waits for all the others to leave
  [[noreturn]] virtual void abort(int code) = 0;  // ends all ranks, where one of them no longer answers
};

// Whether a launcher (mpirun, srun) started this program as one of its ranks.
bool started_as_rank();

// The link to the other ranks, where a launcher started this program as one of several; else nothing. MachineError where it
// did and this program has no MPI. The first call joins them: call once.
std::unique_ptr<RankLink> join_ranks();

// Threads for a rank that was not told how many: the cores it is bound to, or its share of the machine.
unsigned rank_threads(const RankLink& link);
// The GPU of this rank: of those named, or of all there are where none is; the local rank in turn.
int rank_device(const RankLink& link, const std::vector<int>& named);

// --- Within a process ------------------------------------------------------------------------------------------------

// Messages between two threads.
class Mailbox {
 public:
  void put(RankMessage message);
  std::optional<RankMessage> take();

 private:
  std::mutex guard_;
  std::deque<RankMessage> waiting_;
};

// Two mailboxes as the link of a worker with rank 0: how rank 0 integrates beside collecting, and how tests play ranks.
class LocalLink : public RankLink {
 public:
  LocalLink(int rank, int size, Mailbox& to_first, Mailbox& to_here)
      : rank_(rank), size_(size), to_first_(to_first), to_here_(to_here) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_rank() const override { return rank_; }
  int local_size() const override { return size_; }
  std::string host() const override { return "this process"; }
  void send(int to, RankWord word, std::string bytes) override;
  std::optional<RankMessage> receive() override { return to_here_.take(); }
  void leave() override {}
  [[noreturn]] void abort(int code) override;

 private:
  int rank_, size_;
  Mailbox& to_first_;
  Mailbox& to_here_;
};

}  // namespace zwang
