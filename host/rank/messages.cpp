// Byte layout of the messages between ranks.
#include "host/rank/messages.h"

#include <new>
#include <sstream>

#include "host/files/run_part_bytes.h"
#include "host/platform/bytes.h"
#include "host/platform/child_process.h"
#include "host/platform/machine_error.h"
#include "host/run/run.h"
#include "host/statistics/ensemble_statistics.h"
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

enum class ErrorKind : int { input, machine, interrupted };

}  // namespace

std::string member_range_bytes(const MemberRange& range) {
  return written([&](ByteWriter& bytes, std::ostream&) {
    bytes.number(range.first);
    bytes.number(range.end);
    bytes.finish();
  });
}

MemberRange read_member_range(const std::string& text) {
  return read_from(text, [](ByteReader& bytes, std::istream&) {
    MemberRange range;
    range.first = bytes.number<long long>();
    range.end = bytes.number<long long>();
    bytes.finish();
    return range;
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

std::string result_bytes(const RunPart& part, const std::string& members,
                         const EnsembleStatistics& statistics) {
  return written([&](ByteWriter& bytes, std::ostream& stream) {
    save_part(bytes, part);
    bytes.text(members);
    bytes.finish();
    statistics.save(stream);
  });
}

RangeResult read_result(std::string text, EnsemblePlan plan) {
  return read_from(std::move(text), [&](ByteReader& bytes, std::istream& stream) {
    RunPart part = load_part(bytes);
    std::string members = bytes.text(longest_members);
    bytes.finish();
    return RangeResult{std::move(part), std::move(members),
                       EnsembleStatistics::load(std::move(plan), stream, source)};
  });
}

// --- Errors ------------------------------------------------------------------------------------------------

namespace {

std::string error_message(ErrorKind kind, int signal, const Problem& problem) {
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

std::string error_bytes() {
  try {
    throw;
  } catch (const Error& error) {
    return error_message(ErrorKind::input, 0, error.problems().front());
  } catch (const Interrupted& interrupted) {
    return error_message(ErrorKind::interrupted, interrupted.signal(), {});
  } catch (const MachineError& error) {
    return error_message(ErrorKind::machine, 0, error.problem());
  } catch (const std::bad_alloc&) {
    return error_message(ErrorKind::machine, 0, {.message = "out of memory"});
  } catch (const std::exception& error) {
    return error_message(ErrorKind::machine, 0, {.message = error.what()});
  }
}

void rethrow_error(const std::string& text, const std::string& rank_name) {
  read_from(text, [&](ByteReader& bytes, std::istream&) {
    const auto kind = static_cast<ErrorKind>(bytes.number<int>());
    const int signal = bytes.number<int>();
    Problem problem;
    problem.where.file = bytes.text(longest_text);
    problem.where.line = bytes.number<decltype(problem.where.line)>();
    problem.where.column = bytes.number<decltype(problem.where.column)>();
    for (std::string* part : {&problem.message, &problem.found, &problem.expected, &problem.hint})
      *part = bytes.text(longest_text);
    bytes.finish();
    problem.message = rank_name + ": " + problem.message;
    if (kind == ErrorKind::interrupted) throw Interrupted(signal);
    if (kind == ErrorKind::input) throw Error(problem);
    throw MachineError(problem);
  });
  std::terminate();  // not reached: one of the three was thrown
}

}  // namespace zwang
