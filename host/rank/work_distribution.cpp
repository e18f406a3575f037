#include "host/rank/work_distribution.h"

#include <algorithm>

#include "host/statistics/plan.h"

namespace zwang {

namespace {

// Answers that wait to be joined take room: so many pieces on the way for every worker, and some.
constexpr std::size_t window_per_worker = 3, window_least = 8;
constexpr std::size_t helpers_most = 3;
// A piece is long due when it takes several times as long as any has taken; the next one waits in the worker's hands.
constexpr double patience_s = 1, patience_factor = 4;

long long whole_blocks(long long members) {
  return std::max(1LL, (members + block_members - 1) / block_members) * block_members;
}

}  // namespace

PieceDealer::PieceDealer(long long begin, long long end, std::function<long long(long long)> last_end,
                         BatchSize sizes)
    : next_(begin), end_(end), last_end_(std::move(last_end)), sizes_(sizes) {}

BatchSize& PieceDealer::sizes_of(int worker) { return by_worker_.try_emplace(worker, sizes_).first->second; }

std::optional<Piece> PieceDealer::next(int worker, double now) {
  if (const auto piece = fresh(worker, now)) return piece;
  return overdue(worker, now);
}

std::optional<Piece> PieceDealer::fresh(int worker, double now) {
  const long long size = whole_blocks(sizes_of(worker).next());
  const std::size_t window = window_least + window_per_worker * by_worker_.size();
  if (next_ >= end_ || held_.size() >= window) return {};
  const Piece piece{next_, std::min({next_ + size, last_end_(next_), end_})};
  held_[piece.first] = {piece, {worker}, now, false};
  next_ = piece.end;
  return piece;
}

std::optional<Piece> PieceDealer::overdue(int worker, double now) {
  for (auto& [first, held] : held_) {
    const bool has_it = std::find(held.workers.begin(), held.workers.end(), worker) != held.workers.end();
    if (held.answered || has_it || held.workers.size() >= helpers_most) continue;
    if (now - held.since < patience_s + patience_factor * slowest_s_) continue;
    held.workers.push_back(worker);
    held.since = now;
    return held.piece;
  }
  return {};
}

bool PieceDealer::take_answer(int worker, const Piece& piece, double seconds) {
  sizes_of(worker).learn(piece.end - piece.first, seconds);
  const auto held = held_.find(piece.first);
  if (held == held_.end() || held->second.answered) return false;
  slowest_s_ = std::max(slowest_s_, seconds);
  held->second.answered = true;
  return true;
}

void PieceDealer::joined(long long position) { held_.erase(held_.begin(), held_.lower_bound(position)); }

}  // namespace zwang
