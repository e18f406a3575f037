// Who integrates which members: pieces of an ensemble dealt to workers as they ask, joined in the order of their numbers.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "host/backend/batch_size.h"
#include "host/rank/messages.h"

namespace zwang {

class PieceDealer {
 public:
  // The pieces of [begin, end), begin a multiple of 256; `last_end` says where a piece that begins here must end at the
  // latest. Sizes as for batches: `sizes` is copied for every worker.
  PieceDealer(long long begin, long long end, std::function<long long(long long first)> last_end,
              BatchSize sizes);

  // The next piece for this worker, at this time in seconds; nothing where there is none for now. Once all are dealt, or
  // too many wait for one that somebody sits on, it is the oldest of those that are long due: the answer is the same
  // bits, and the first one counts.
  std::optional<Piece> next(int worker, double now);

  // A worker's answer has come. False where somebody else's came before.
  bool take_answer(int worker, const Piece& piece, double seconds);

  // Everything up to here is joined.
  void joined(long long position);

 private:
  struct Held {
    Piece piece;
    std::vector<int> workers;
    double since = 0;  // dealt to the last of them
    bool answered = false;
  };
  std::optional<Piece> fresh(int worker, double now);
  std::optional<Piece> overdue(int worker, double now);
  BatchSize& sizes_of(int worker);

  long long next_, end_;
  std::function<long long(long long)> last_end_;
  BatchSize sizes_;
  std::map<int, BatchSize> by_worker_;
  std::map<long long, Held> held_;  // dealt and not joined, by first member
  double slowest_s_ = 0;            // piece that was answered so far
};

}  // namespace zwang
