#include "host/checkpoint.h"

#include <unistd.h>

#include <algorithm>

#include "src/error.h"

namespace zwang {

namespace {

constexpr double cost_factor = 50;
constexpr const char* start_again = "--overwrite starts again from the first member";

}  // namespace

Checkpoint::~Checkpoint() {
  if (!exists()) ::unlink(folder_.hidden(ResultFolder::checkpoint_members_name).c_str());
}

std::optional<RecordReader> Checkpoint::found(const RunIdentity& identity) const {
  if (!exists()) return {};
  const std::filesystem::path path = folder_.hidden(ResultFolder::checkpoint_name);
  RecordReader reader(path, "checkpoint", start_again);
  if (const auto other = difference(reader.record().identity, identity))
    throw Error({.where = {path.string(), 0, 0},
                 .message = "the checkpoint is of another run: its " + other->name + " is not this one's",
                 .found = other->found,
                 .expected = other->expected,
                 .hint = std::string("resume with what it was begun with; ") + start_again});
  return reader;
}

bool Checkpoint::due() const {
  if (settings_.seconds <= 0) return true;
  return since_.seconds() >= std::max(settings_.seconds, cost_factor * last_cost_s_);
}

void Checkpoint::save(RunRecord record, const EnsembleRun& run, MemberRecordsFile* members) {
  const Stopwatch saving;
  record.part = run.part();
  if (members != nullptr) {
    members->sync();
    record.members = members->mark();
  }
  write_record(folder_.part(ResultFolder::checkpoint_name), record, run.statistics());
  folder_.keep(ResultFolder::checkpoint_name);
  last_cost_s_ = saving.seconds();
  since_ = Stopwatch();
}

}  // namespace zwang
