#include "host/files/member_records.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "host/platform/machine_error.h"
#include "kernels/base/status.h"
#include "src/base/error.h"

namespace zwang {

namespace {

constexpr std::size_t members_at_a_time = 4096;
constexpr std::size_t bytes_at_a_time = std::size_t{1} << 20;
constexpr mode_t records_mode = 0666;  // as far as the umask allows: results are no secret

bool is_status(Status status) { return static_cast<std::size_t>(status) < status_count; }

// The first `bytes` of the stream, piece by piece; false where it ends before.
template <class Take>
bool read_pieces(std::istream& stream, std::uint64_t bytes, std::size_t piece, Take&& take) {
  std::vector<char> buffer(piece);
  while (bytes > 0) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, piece));
    stream.read(buffer.data(), static_cast<std::streamsize>(size));
    if (static_cast<std::size_t>(stream.gcount()) != size) return false;
    take(buffer.data(), size);
    bytes -= size;
  }
  return true;
}

}  // namespace

// --- One member ----------------------------------------------------------------------------------------------------

MemberRecordLayout::MemberRecordLayout(const Study& study, std::vector<std::size_t> drawn)
    : drawn_(std::move(drawn)),
      parameters_(study.system->parameters.size()),
      state_(2 * study.system->size() + study.system->auxiliaries.size()),
      measures_(study.system->measures.size()),
      numbers_(drawn_.size() + state_ + measures_ + 3 + 2 + event_kinds + 3) {}

// The order of the numbers, once for both ways.
template <class Members, class Results, class Real, class Whole>
void MemberRecordLayout::each_number(Members& batch, Results& results, std::size_t k, Real&& real,
                                     Whole&& whole) const {
  for (const std::size_t i : drawn_) real(batch.parameters[k * parameters_ + i]);
  for (std::size_t i = 0; i < state_; ++i) real(results.end_state[k * state_ + i]);
  real(results.end_time[k]);
  for (std::size_t i = 0; i < measures_; ++i) real(results.measures[k * measures_ + i]);
  real(batch.position_moved[k]);
  real(batch.velocity_moved[k]);
  whole(results.steps[k]);
  whole(results.rejected[k]);
  for (std::size_t i = 0; i < event_kinds; ++i) whole(results.event_counts[k * event_kinds + i]);
  whole(batch.attempts[k]);
  whole(results.status[k]);
  whole(results.redundant[k]);
}

void MemberRecordLayout::pack(const Batch& batch, const BatchResults& results, std::size_t k,
                              char* record) const {
  const auto put = [&](const auto number) {
    static_assert(sizeof number == 8);
    std::memcpy(record, &number, sizeof number);
    record += sizeof number;
  };
  each_number(
      batch, results, k, [&](const double& number) { put(number); },
      [&](const auto& number) { put(static_cast<std::int64_t>(number)); });
}

void MemberRecordLayout::pack(const Batch& batch, const BatchResults& results,
                              std::vector<char>& records) const {
  const std::size_t before = records.size();
  records.resize(before + batch.count * bytes());
  for (std::size_t k = 0; k < batch.count; ++k)
    pack(batch, results, k, records.data() + before + k * bytes());
}

void MemberRecordLayout::make_room(Batch& batch, BatchResults& results, std::size_t count) const {
  batch.count = count;
  batch.parameters.assign(count * parameters_, 0);
  batch.position_moved.resize(count);
  batch.velocity_moved.resize(count);
  batch.attempts.resize(count);
  results.end_state.resize(count * state_);
  results.end_time.resize(count);
  results.measures.resize(count * measures_);
  results.steps.resize(count);
  results.rejected.resize(count);
  results.event_counts.resize(count * event_kinds);
  results.status.resize(count);
  results.redundant.resize(count);
}

void MemberRecordLayout::unpack(const char* record, Batch& batch, BatchResults& results,
                                std::size_t k) const {
  const auto get = [&](auto number) {
    std::memcpy(&number, record, sizeof number);
    record += sizeof number;
    return number;
  };
  each_number(
      batch, results, k, [&](double& number) { number = get(0.0); },
      [&](auto& number) {
        number = static_cast<std::remove_reference_t<decltype(number)>>(get(std::int64_t{0}));
      });
}

// --- Files ---------------------------------------------------------------------------------------------------------

bool read_members(const std::filesystem::path& path, const MemberRecordLayout& layout,
                  const MemberRecordsMark& mark, long long first, const TakeMembers& take) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream || mark.bytes % layout.bytes() != 0) return false;
  Checksum checksum;
  Batch batch;
  BatchResults results;
  bool known = true;
  const auto unpack = [&](const char* records, std::size_t size) {
    checksum.update(records, size);
    const std::size_t count = size / layout.bytes();
    layout.make_room(batch, results, count);
    for (std::size_t k = 0; k < count; ++k) layout.unpack(records + k * layout.bytes(), batch, results, k);
    known = known && std::all_of(results.status.begin(), results.status.end(), is_status);
    if (known) take(first, batch, results);
    first += static_cast<long long>(count);
  };
  const bool all = read_pieces(stream, mark.bytes, members_at_a_time * layout.bytes(), unpack);
  return all && known && checksum.value() == mark.checksum;
}

MemberRecordsFile::MemberRecordsFile(std::filesystem::path path, MemberRecordLayout layout,
                                     const MemberRecordsMark& mark)
    : path_(std::move(path)), layout_(std::move(layout)) {
  if (mark.bytes > 0) check_beginning(mark);
  const int fresh = mark.bytes > 0 ? 0 : O_CREAT | O_TRUNC;
  file_ = OpenFile(::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | fresh, records_mode));
  if (!file_.is_open()) fail(errno);
  const auto end = static_cast<off_t>(mark.bytes);
  if (::ftruncate(file_.descriptor(), end) != 0 || ::lseek(file_.descriptor(), end, SEEK_SET) != end)
    fail(errno);
}

void MemberRecordsFile::check_beginning(const MemberRecordsMark& mark) {
  std::ifstream stream(path_, std::ios::binary);
  const bool all =
      stream && read_pieces(stream, mark.bytes, bytes_at_a_time,
                            [&](const char* piece, std::size_t size) { checksum_.update(piece, size); });
  bytes_ = mark.bytes;
  if (all && checksum_.value() == mark.checksum) return;
  throw Error({.where = {path_.string(), 0, 0},
               .message = "the members recorded by the checkpoint are damaged",
               .found = all ? "other bytes" : "fewer bytes than were recorded",
               .expected = "the " + std::to_string(mark.bytes) + " bytes that were recorded",
               .hint = "--overwrite starts again from the first member"});
}

void MemberRecordsFile::add(const Batch& batch, const BatchResults& results) {
  buffer_.clear();
  layout_.pack(batch, results, buffer_);
  append({buffer_.data(), buffer_.size()});
}

void MemberRecordsFile::append(std::string_view records) {
  for (std::size_t done = 0; done < records.size();) {
    const ssize_t wrote = ::write(file_.descriptor(), records.data() + done, records.size() - done);
    if (wrote < 0 && errno != EINTR) fail(errno);
    if (wrote > 0) done += static_cast<std::size_t>(wrote);
  }
  checksum_.update(records.data(), records.size());
  bytes_ += records.size();
}

void MemberRecordsFile::sync() {
  if (::fsync(file_.descriptor()) != 0 && errno != EINVAL) fail(errno);
}

void MemberRecordsFile::fail(int code) const {
  throw MachineError({.where = {path_.string(), 0, 0},
                      .message = "the members could not be recorded",
                      .found = system_message(code),
                      .expected = "a folder that can be written to, with room on its disk",
                      .hint = "--out chooses another"});
}

}  // namespace zwang
