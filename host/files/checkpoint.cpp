// When checkpoints are due, and how they are written and read.
#include "host/files/checkpoint.h"

#include <unistd.h>

#include <algorithm>

#include "host/files/member_records.h"
#include "host/files/run_identity.h"
#include "host/run/run.h"
#include "src/base/error.h"

namespace zwang {

namespace {

constexpr double share_of_time = 0.02, most_growth = 2;
constexpr double longest_wait_s = 600;  // regardless of the cost: bounds the work lost
constexpr const char* start_again = "--overwrite restarts from the first member";

}  // namespace

Checkpoint::~Checkpoint() {
  if (!exists()) ::unlink(folder_.hidden(ResultFolder::checkpoint_members_name).c_str());
}

std::optional<RecordReader> Checkpoint::found(const RunIdentity& identity) const {
  if (!exists()) return {};
  const std::filesystem::path path = folder_.hidden(ResultFolder::checkpoint_name);
  RecordReader reader(path, "checkpoint", start_again);
  if (const auto other = difference(reader.record().identity, identity))
    throw Error(
        {.where = {path.string(), 0, 0},
         .message = "the checkpoint belongs to another run: its " + other->name + " differs",
         .found = other->found,
         .expected = other->expected,
         .hint = std::string("resume with the study and options of the interrupted run; ") + start_again});
  return reader;
}

// Records with stored values grow with the members, those with counts do not: the estimated cost grows with
// the members, at most by a factor of two, so that the interval stays bounded.
bool Checkpoint::due(long long done) const {
  if (done == last_done_ || since_.seconds() < settings_.seconds) return false;
  if (settings_.seconds <= 0 || last_done_ == 0) return true;
  if (since_.seconds() >= longest_wait_s) return true;
  const double growth = std::min(static_cast<double>(done) / static_cast<double>(last_done_), most_growth);
  return spent_s_ + growth * last_cost_s_ <= share_of_time * all_.seconds();
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
  last_done_ = record.part.position - record.part.first;
  spent_s_ += last_cost_s_;
  since_ = Stopwatch();
}

}  // namespace zwang
