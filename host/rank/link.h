// Communication between the processes (ranks) of one run, on one or several machines: rank 0 collects and
// writes, the others integrate.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace zwang {

// Kinds of messages.
enum class MessageKind : int {
  begin,   // 0 -> worker: start preparing
  ready,   // worker -> 0: prepared, with the identity of the run
  range,   // 0 -> worker: members to integrate
  result,  // worker -> 0: results of a range
  error,   // worker -> 0: an exception that ended the work
  stop,    // 0 -> worker: no more work
  stopped  // worker -> 0: no more messages will follow
};

struct RankMessage {
  int from = 0;
  MessageKind kind = MessageKind::stop;
  std::string bytes;
};

// Not thread-safe: used by one thread at a time.
class RankLink {
 public:
  RankLink() = default;
  RankLink(const RankLink&) = delete;
  RankLink& operator=(const RankLink&) = delete;
  virtual ~RankLink() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Rank and number of ranks on this machine.
  virtual int local_rank() const = 0;
  virtual int local_size() const = 0;
  virtual std::string host() const = 0;

  // Neither call blocks on the other side; messages progress while either is called.
  virtual void send(int to, MessageKind kind, std::string bytes) = 0;
  virtual std::optional<RankMessage> receive() = 0;  // empty if no message has arrived

  virtual void leave() = 0;                       // blocks until all ranks have called it
  [[noreturn]] virtual void abort(int code) = 0;  // ends all ranks, if one of them does not respond
};

// Whether a launcher (mpirun, srun) started this program as a rank.
bool started_as_rank();

// The link to the other ranks if a launcher started this program as one of several, else null. Throws
// MachineError if it did but this program has no MPI. Initialises MPI: call once.
std::unique_ptr<RankLink> join_ranks();

// Default number of threads of a rank: the cores it is bound to, or its share of the machine.
unsigned rank_threads(const RankLink& link);
// The GPU of this rank: the devices named, or all devices if none is named, are assigned round robin by local
// rank.
int rank_device(const RankLink& link, const std::vector<int>& named);

// --- Within a process --------------------------------------------------------------------------------------

// Message queue between two threads.
class Mailbox {
 public:
  void put(RankMessage message);
  std::optional<RankMessage> take();

 private:
  std::mutex guard_;
  std::deque<RankMessage> waiting_;
};

// A link between a worker thread and rank 0 made of two mailboxes. Rank 0 uses it for its own worker; tests
// use it to simulate ranks.
class LocalLink : public RankLink {
 public:
  LocalLink(int rank, int size, Mailbox& to_first, Mailbox& to_here)
      : rank_(rank), size_(size), to_first_(to_first), to_here_(to_here) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_rank() const override { return rank_; }
  int local_size() const override { return size_; }
  std::string host() const override { return "this process"; }
  void send(int to, MessageKind kind, std::string bytes) override;
  std::optional<RankMessage> receive() override { return to_here_.take(); }
  void leave() override {}
  [[noreturn]] void abort(int code) override;

 private:
  int rank_, size_;
  Mailbox& to_first_;
  Mailbox& to_here_;
};

}  // namespace zwang
