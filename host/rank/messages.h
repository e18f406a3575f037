// What ranks tell one another, as bytes.
#pragma once

#include <exception>
#include <string>

#include "host/files/run_record.h"
#include "host/run/run.h"
#include "host/statistics/plan.h"
#include "host/statistics/statistics.h"

namespace zwang {

// Members [first, end) of the ensemble: what a worker is given at a time. first is a multiple of 256.
struct Piece {
  long long first = 0, end = 0;
  bool operator==(const Piece&) const = default;
};
std::string piece_bytes(const Piece& piece);
Piece read_piece(const std::string& bytes);

// A worker that is ready, and for what run.
struct Readiness {
  std::string host;
  unsigned threads = 1;
  RunIdentity identity;
};
std::string readiness_bytes(const Readiness& ready);
Readiness read_readiness(const std::string& bytes);

// A piece that is done.
struct PieceResult {
  RunPart part;
  std::string members;  // their records, where the study asks for members.nc
  Statistics statistics;
};
std::string result_bytes(const RunPart& part, const std::string& members, const Statistics& statistics);
PieceResult read_result(std::string bytes, StatisticsPlan plan);

// The exception now handled, to be thrown again by another rank as what it was.
std::string trouble_bytes();
// `who` and where it runs stand before the message.
[[noreturn]] void throw_trouble(const std::string& bytes, const std::string& who);

}  // namespace zwang
