#include "host/rank/messages.h"

#include <new>
#include <sstream>

#include "host/platform/child_process.h"
#include "host/platform/machine_error.h"
#include "host/run/run.h"
#include "host/statistics/bytes.h"
#include "host/statistics/plan.h"
#include "host/statistics/statistics.h"
#include "src/base/error.h"

namespace zwang {

namespace {

constexpr std::uint64_t longest_text = std::uint64_t{1} << 26;
constexpr std::uint64_t longest_members = std::uint64_t{1} << 40;
constexpr const char* source = "a message from another rank";

template <class Write>
std::string written(Write&& write) {
  std::ostringstream stream;
  ByteWriter bytes(stream);
  write(bytes, stream);
  return std::move(stream).str();
}

template <class Read>
auto read_from(std::string text, Read&& read) {
  std::istringstream stream(std::move(text));
  ByteReader bytes(stream, source);
  return read(bytes, stream);
}

enum class Trouble : int { input, machine, interrupted };

}  // namespace

std::string piece_bytes(const Piece& piece) {
  return written([&](ByteWriter& bytes, std::ostream&) {
    bytes.number(piece.first);
    bytes.number(piece.end);
    bytes.finish();
  });
}

Piece read_piece(const std::string& text) {
  return read_from(text, [](ByteReader& bytes, std::istream&) {
    Piece piece;
    piece.first = bytes.number<long long>();
    piece.end = bytes.number<long long>();
    bytes.finish();
    return piece;
  });
}

std::string readiness_bytes(const Readiness& ready) {
  return written([&](ByteWriter& bytes, std::ostream&) {
    bytes.text(ready.host);
    bytes.number(ready.threads);
    save_identity(bytes, ready.identity);
    bytes.finish();
  });
}

Readiness read_readiness(const std::string& text) {
  return read_from(text, [](ByteReader& bytes, std::istream&) {
    Readiness ready;
    ready.host = bytes.text(longest_text);
    ready.threads = bytes.number<unsigned>();
    ready.identity = load_identity(bytes);
    bytes.finish();
    return ready;
  });
}

std::string result_bytes(const RunPart& part, const std::string& members, const Statistics& statistics) {
  return written([&](ByteWriter& bytes, std::ostream& stream) {
    save_part(bytes, part);
    bytes.text(members);
    bytes.finish();
    statistics.save(stream);
  });
}

PieceResult read_result(std::string text, StatisticsPlan plan) {
  return read_from(std::move(text), [&](ByteReader& bytes, std::istream& stream) {
    RunPart part = load_part(bytes);
    std::string members = bytes.text(longest_members);
    bytes.finish();
    return PieceResult{std::move(part), std::move(members),
                       Statistics::load(std::move(plan), stream, source)};
  });
}

// --- Trouble -------------------------------------------------------------------------------------------------------

namespace {

std::string trouble(Trouble kind, int signal, const Problem& problem) {
  return written([&](ByteWriter& bytes, std::ostream&) {
    bytes.number(static_cast<int>(kind));
    bytes.number(signal);
    bytes.text(problem.where.file);
    bytes.number(problem.where.line);
    bytes.number(problem.where.column);
    for (const std::string* text : {&problem.message, &problem.found, &problem.expected, &problem.hint})
      bytes.text(*text);
    bytes.finish();
  });
}

}  // namespace

std::string trouble_bytes() {
  try {
    throw;
  } catch (const Error& error) {
    return trouble(Trouble::input, 0, error.problems().front());
  } catch (const Interrupted& interrupted) {
    return trouble(Trouble::interrupted, interrupted.signal(), {});
  } catch (const MachineError& error) {
    return trouble(Trouble::machine, 0, error.problem());
  } catch (const std::bad_alloc&) {
    return trouble(Trouble::machine, 0, {.message = "out of memory"});
  } catch (const std::exception& error) {
    return trouble(Trouble::machine, 0, {.message = error.what()});
  }
}

void throw_trouble(const std::string& text, const std::string& who) {
  read_from(text, [&](ByteReader& bytes, std::istream&) {
    const auto kind = static_cast<Trouble>(bytes.number<int>());
    const int signal = bytes.number<int>();
    Problem problem;
    problem.where.file = bytes.text(longest_text);
    problem.where.line = bytes.number<decltype(problem.where.line)>();
    problem.where.column = bytes.number<decltype(problem.where.column)>();
    for (std::string* part : {&problem.message, &problem.found, &problem.expected, &problem.hint})
      *part = bytes.text(longest_text);
    bytes.finish();
    problem.message = who + ": " + problem.message;
    if (kind == Trouble::interrupted) throw Interrupted(signal);
    if (kind == Trouble::input) throw Error(problem);
    throw MachineError(problem);
  });
  std::terminate();  // one of the three was thrown
}

}  // namespace zwang
