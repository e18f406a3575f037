// Variables of members.nc, filled block by block.
#include "host/files/write_members.h"

#include <fcntl.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <limits>

#include "host/files/unit_labels.h"
#include "host/files/write_origin.h"
#include "host/platform/parallel.h"
#include "host/run/count_members.h"
#include "host/study/study.h"
#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "kernels/reduce/member_record.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr std::size_t block_bytes = std::size_t{16} << 20;
constexpr std::size_t most_in_block = 16384;

std::size_t numbers_of(const System& system, std::size_t inputs) {
  return inputs + 2 * system.size() + system.auxiliaries.size() + system.measures.size() + event_kinds + 8 +
         (system.density ? 3 : 0);
}

// Values of rows after the last member of a chunk; no reader sees them.
template <class Number>
constexpr Number padding = std::numeric_limits<Number>::is_integer ? std::numeric_limits<Number>::lowest()
                                                                   : std::numeric_limits<Number>::quiet_NaN();

template <class Number, class Value>
void fill_flat(std::vector<char>& chunk, std::size_t count, const Value& value) {
  auto* to = reinterpret_cast<Number*>(chunk.data());
  const std::size_t all = chunk.size() / sizeof(Number);
  for (std::size_t k = 0; k < count; ++k) to[k] = static_cast<Number>(value(k));
  std::fill(to + count, to + all, padding<Number>);
}

}  // namespace

// Blocks are the chunks of the file, and a chunk is stored whole: a small ensemble must not fill a large
// chunk.
std::size_t members_in_block(std::size_t numbers_per_member, long long members) {
  const std::size_t by_memory = std::bit_floor(
      std::max<std::size_t>(1, block_bytes / (8 * std::max<std::size_t>(1, numbers_per_member))));
  const std::size_t by_members = std::bit_ceil(static_cast<std::size_t>(std::max(1LL, members)));
  return std::min({by_memory, by_members, most_in_block});
}

MembersWriter::MembersWriter(const std::filesystem::path& path, const Study& study, const RunResult& origin,
                             MemberRecordLayout layout, unsigned threads)
    : file_(std::in_place, path),
      path_(path),
      layout_(std::move(layout)),
      coordinates_(study.system->size()),
      ensemble_(study.ensemble),
      density_(study.system->density),
      threads_(thread_count(threads)),
      block_members_(
          members_in_block(numbers_of(*study.system, layout_.drawn().size()), study.ensemble.members)) {
  define(study, origin);
  disk_ = OpenFile(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!Hdf5Chunks::available()) return;
  file_->close();
  file_.reset();
  chunks_.emplace(path_);
  for (Column& column : columns_)
    if (column.width > 0) column.chunks = chunks_->open(column.variable.name, column.flat ? 0 : column.width);
}

MembersWriter::Column& MembersWriter::column(const char* name, Type type, Content content, int place,
                                             const std::optional<NetcdfFile::Dimension>& second,
                                             const char* long_name, bool deflate) {
  NetcdfFile::Shape shape{.dimensions = {member_}, .chunks = {block_members_}, .deflate = deflate};
  if (second) {
    shape.dimensions.push_back(*second);
    shape.chunks.push_back(std::max<std::size_t>(1, second->size));
  }
  columns_.push_back({.content = content,
                      .type = type,
                      .variable = file_->variable(name, type, shape, long_name),
                      .place = place,
                      .width = second ? second->size : 1,
                      .flat = !second,
                      .deflate = deflate});
  return columns_.back();
}

// Inputs, states and measures are nearly random: compression runs at 50 MB/s and saves an eighth (a third for
// measures). Columns of mostly equal or small numbers compress very well.
void MembersWriter::define(const Study& study, const RunResult& origin) {
  const System& system = *study.system;
  const RecordPlaces& at = layout_.places();
  write_origin(*file_, study, origin, "members of an ensemble, one by one");
  member_ = file_->dimension("member", 0);
  const NetcdfFile::Dimension input = file_->names("input", origin.inputs, "drawn input");
  const NetcdfFile::Dimension coordinate = file_->names("coordinate", system.coordinates, "coordinate");
  const NetcdfFile::Dimension auxiliary = file_->names("auxiliary", system.auxiliaries, "auxiliary state");
  const NetcdfFile::Dimension measure = file_->names("measure", measure_names(system), "measure");
  const NetcdfFile::Dimension kind = file_->names("event_kind", event_words(), "kind of event");
  const auto size = static_cast<int>(coordinates_);

  const auto real = [&](const char* name, int place, const std::optional<NetcdfFile::Dimension>& second,
                        const char* long_name, bool deflate = false) {
    column(name, Type::real, Content::numbers, place, second, long_name, deflate);
  };
  real("inputs", at.inputs, input, "inputs as drawn");
  real("final_position", at.state, coordinate, "coordinates where the member ended");
  real("final_velocity", at.state + size, coordinate, "velocities where the member ended");
  real("final_auxiliary", at.state + 2 * size, auxiliary, "auxiliary states where the member ended");
  real("end_time", at.end_time, {}, "time at which the member ended", true);
  real("measures", at.measures, measure, "measures; missing where they never came about");
  real("start_position_moved", at.position_moved, {},
       "how far positions were moved to meet the conditions (Euclidean length)", true);
  real("start_velocity_moved", at.velocity_moved, {},
       "how far velocities were moved to meet the conditions (Euclidean length)", true);
  if (density_) define_density(study);

  const auto whole = [&](const char* name, Content content, int place,
                         const std::optional<NetcdfFile::Dimension>& second, const char* long_name) {
    file_->attribute(column(name, Type::integer, content, place, second, long_name, true).variable, "units",
                     "1");
  };
  whole("member", Content::member, 0, {}, "number of the member");
  whole("steps", Content::numbers, at.steps, {}, "accepted steps");
  whole("rejected", Content::numbers, at.rejected, {}, "rejected steps");
  whole("events", Content::numbers, at.events, kind, "events by kind");
  whole("attempts", Content::numbers, at.attempts, {}, "draws made until one met the conditions");

  const auto flag = [&](const char* name, Content content, const std::vector<std::string>& words,
                        const char* long_name) {
    file_->flags(column(name, Type::byte, content, 0, {}, long_name, true).variable, Type::byte, words);
  };
  flag("status", Content::status, status_words(), "how the member ended");
  flag("entered", Content::entered, {"no", "yes"}, "whether the member is in the statistics");
  flag("redundant", Content::redundant, {"no", "yes"}, "whether dependent conditions were met");

  std::vector<UnitLabels> units;
  add_units(*file_, study, "input", input, origin.inputs, units);
  add_units(*file_, study, "coordinate", coordinate, system.coordinates, units);
  add_units(*file_, study, "velocity", coordinate, velocity_names(system), units);
  add_units(*file_, study, "auxiliary", auxiliary, system.auxiliaries, units);
  add_units(*file_, study, "measure", measure, measure_names(system), units);
  put_units(*file_, units);
}

void MembersWriter::define_density(const Study& study) {
  start_density_.emplace(study);
  const std::string& why = start_density_->why_unknown();
  const auto real = [&](const char* name, Content content, const char* long_name, bool may_be_unknown) {
    const Column& made = column(name, Type::real, content, 0, {}, long_name, false);
    if (may_be_unknown && !why.empty()) file_->attribute(made.variable, "missing_because", why);
  };
  real("log_density_change", Content::density_change,
       "change of the log-density along the flow; missing after an inelastic shock", false);
  real("log_density_start", Content::density_start,
       "log-density of the drawn starts in (q, v, z); missing where there is none", true);
  real("log_density", Content::density, "log-density of the ensemble in (q, v, z) where the member ended",
       true);
}

// `until` with a sweep leaves members out: a number is not always the row of the file.
long long MembersWriter::number_of(std::size_t row) const {
  const auto after = std::upper_bound(numbers_.begin(), numbers_.end(), row,
                                      [](std::size_t one, const NumberRun& run) { return one < run.row; });
  const NumberRun& run = *std::prev(after);
  return run.first + static_cast<long long>(row - run.row);
}

// Whole blocks are written from where they lie; the rest is kept until more members arrive.
void MembersWriter::add(long long first, std::span<const char> records) {
  const std::size_t size = layout_.bytes(), block_bytes_of_records = block_members_ * size;
  if (records.empty()) return;
  assert(added_ == 0 || first > number_of(added_ - 1));
  if (added_ == 0 || first != number_of(added_ - 1) + 1) numbers_.push_back({added_, first});
  added_ += records.size() / size;
  std::vector<char> completed;
  std::vector<Block> blocks;
  std::size_t row = written_;
  if (!open_.empty()) {
    const std::size_t taken = std::min(records.size(), block_bytes_of_records - open_.size());
    open_.insert(open_.end(), records.begin(), records.begin() + static_cast<std::ptrdiff_t>(taken));
    records = records.subspan(taken);
    if (open_.size() < block_bytes_of_records) return;
    completed.swap(open_);
    blocks.push_back({completed.data(), block_members_, row});
    row += block_members_;
  }
  for (; records.size() >= block_bytes_of_records; records = records.subspan(block_bytes_of_records)) {
    blocks.push_back({records.data(), block_members_, row});
    row += block_members_;
  }
  // Their number bounds the memory.
  const std::size_t at_once = threads_;
  for (std::size_t begin = 0; begin < blocks.size(); begin += at_once)
    write_blocks(std::span(blocks).subspan(begin, std::min(at_once, blocks.size() - begin)));
  open_.assign(records.begin(), records.end());
}

void MembersWriter::write_blocks(std::span<const Block> blocks) {
  std::vector<std::vector<char>> chunks(blocks.size() * columns_.size());
  in_parallel(chunks.size(), threads_, [&](std::size_t k) {
    const Column& column = columns_[k % columns_.size()];
    if (column.width > 0) chunks[k] = chunk_of(column, blocks[k / columns_.size()]);
  });
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (columns_[c].width > 0) put(columns_[c], blocks[b], chunks[b * columns_.size() + c]);
    written_ += blocks[b].count;
  }
  // The disk begins now: at the end of the run little is left to wait for. Not supported everywhere, nor
  // needed.
  if (disk_.is_open()) ::sync_file_range(disk_.descriptor(), 0, 0, SYNC_FILE_RANGE_WRITE);
}

void MembersWriter::put(const Column& column, const Block& block, const std::vector<char>& chunk) {
  if (chunks_) {
    chunks_->write(column.chunks, block.row, block.count, chunk);
    return;
  }
  NetcdfFile::Place start = {block.row}, count = {block.count};
  if (!column.flat) {
    start.push_back(0);
    count.push_back(column.width);
  }
  const std::size_t numbers = chunk.size() / column.number_bytes();
  const auto values = [&](auto number) {
    return std::span(reinterpret_cast<const decltype(number)*>(chunk.data()), numbers);
  };
  if (column.type == Type::real)
    file_->put(column.variable, start, count, values(0.0));
  else if (column.type == Type::integer)
    file_->put(column.variable, start, count, values(0LL));
  else
    file_->put(column.variable, start, count, values(static_cast<signed char>(0)));
}

// One variable of a block: as it is stored if chunks are written directly, else as numbers.
std::vector<char> MembersWriter::chunk_of(const Column& column, const Block& block) const {
  std::vector<char> chunk(block_members_ * column.width * column.number_bytes());
  const auto record = [&](std::size_t k) { return block.records + k * layout_.bytes(); };
  const auto status = [&](std::size_t k) {
    return static_cast<Status>(MemberRecordLayout::whole(record(k), layout_.places().status));
  };
  switch (column.content) {
    case Content::numbers: {
      const std::size_t row = 8 * column.width;
      for (std::size_t k = 0; k < block.count; ++k)
        std::memcpy(chunk.data() + k * row, record(k) + 8 * column.place, row);
      const std::size_t numbers = block.count * column.width, all = block_members_ * column.width;
      if (column.type == Type::real)
        std::fill_n(reinterpret_cast<double*>(chunk.data()) + numbers, all - numbers, padding<double>);
      else
        std::fill_n(reinterpret_cast<std::int64_t*>(chunk.data()) + numbers, all - numbers,
                    padding<std::int64_t>);
      break;
    }
    case Content::member:
      fill_flat<std::int64_t>(chunk, block.count, [&](std::size_t k) { return number_of(block.row + k); });
      break;
    case Content::status:
      fill_flat<signed char>(chunk, block.count, [&](std::size_t k) { return static_cast<int>(status(k)); });
      break;
    case Content::entered:
      fill_flat<signed char>(chunk, block.count, [&](std::size_t k) {
        return enters(ensemble_, number_of(block.row + k), status(k)) ? 1 : 0;
      });
      break;
    case Content::redundant:
      fill_flat<signed char>(chunk, block.count, [&](std::size_t k) {
        return MemberRecordLayout::whole(record(k), layout_.places().redundant);
      });
      break;
    default:
      fill_density(column.content, block, chunk);
  }
  return column.deflate && chunks_ ? shuffled_and_deflated(chunk, column.number_bytes()) : std::move(chunk);
}

// The density of a start that was projected onto the conditions is unknown.
void MembersWriter::fill_density(Content content, const Block& block, std::vector<char>& chunk) const {
  const double missing = std::numeric_limits<double>::quiet_NaN();
  const RecordPlaces& at = layout_.places();
  const int z = at.state + static_cast<int>(2 * coordinates_ + *density_);
  StartDensity start_density = *start_density_;  // a copy: not shared between threads
  std::vector<double> parameters(layout_.parameters(), 0);
  fill_flat<double>(chunk, block.count, [&](std::size_t k) {
    const char* record = block.records + k * layout_.bytes();
    const auto real = [&](int place) { return MemberRecordLayout::real(record, place); };
    const double change = real(z + 1) > 0.5 ? missing : real(z);
    if (content == Content::density_change) return change;
    const bool moved = real(at.position_moved) != 0 || real(at.velocity_moved) != 0;
    for (std::size_t i = 0; i < layout_.drawn().size(); ++i)
      parameters[layout_.drawn()[i]] = real(at.inputs + static_cast<int>(i));
    const double start = moved ? missing : start_density.log_at(parameters);
    return content == Content::density_start ? start : start + change;
  });
}

void MembersWriter::close() {
  if (!open_.empty()) {
    const Block last{open_.data(), open_.size() / layout_.bytes(), written_};
    write_blocks({&last, 1});
    open_.clear();
  }
  if (chunks_)
    chunks_->close();
  else
    file_->close();
}

}  // namespace zwang
