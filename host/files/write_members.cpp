// Variables of members.nc, filled block by block.
#include "host/files/write_members.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>

#include "host/files/write_origin.h"
#include "host/run/count_members.h"
#include "host/study/study.h"
#include "kernels/base/layout.h"
#include "src/system/system.h"

namespace zwang {

namespace {

using Type = NetcdfFile::Type;

constexpr std::size_t block_bytes = std::size_t{16} << 20;
constexpr std::size_t most_in_block = 16384;

std::size_t numbers_of(const System& system, std::size_t inputs) {
  return inputs + 2 * system.size() + system.auxiliaries.size() + system.measures.size() + event_kinds + 8 +
         (system.density ? 3 : 0);
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
                             std::vector<std::size_t> drawn)
    : file_(path),
      drawn_(std::move(drawn)),
      parameters_(study.system->parameters.size()),
      coordinates_(study.system->size()),
      auxiliaries_(study.system->auxiliaries.size()),
      measures_(study.system->measures.size()),
      ensemble_(study.ensemble),
      density_(study.system->density),
      block_members_(members_in_block(numbers_of(*study.system, drawn_.size()), study.ensemble.members)) {
  define(study, origin);
}

template <class Number>
MembersWriter::Column<Number> MembersWriter::column(const std::string& name, Type type,
                                                    const std::optional<NetcdfFile::Dimension>& second,
                                                    const std::string& long_name, bool deflate) {
  NetcdfFile::Shape shape{.dimensions = {member_}, .chunks = {block_members_}, .deflate = deflate};
  if (second) {
    shape.dimensions.push_back(*second);
    shape.chunks.push_back(std::max<std::size_t>(1, second->size));
  }
  const std::size_t width = second ? second->size : 1;
  return {file_.variable(name, type, shape, long_name), width, !second,
          std::vector<Number>(width * block_members_)};
}

// Inputs, states and measures are nearly random: compression runs at 50 MB/s and saves an eighth (a third for
// measures), and would be the slowest part of a run on a fast device. Columns of mostly equal or small
// numbers compress very well.
void MembersWriter::define(const Study& study, const RunResult& origin) {
  const System& system = *study.system;
  write_origin(file_, study, origin, "members of an ensemble, one by one");
  member_ = file_.dimension("member", 0);
  const NetcdfFile::Dimension input = file_.names("input", origin.inputs, "drawn input");
  const NetcdfFile::Dimension coordinate = file_.names("coordinate", system.coordinates, "coordinate");
  const NetcdfFile::Dimension auxiliary = file_.names("auxiliary", system.auxiliaries, "auxiliary state");
  const NetcdfFile::Dimension measure = file_.names("measure", measure_names(system), "measure");
  const NetcdfFile::Dimension kind = file_.names("event_kind", event_words(), "kind of event");

  const auto real = [&](const char* name, const std::optional<NetcdfFile::Dimension>& second,
                        const char* long_name, bool deflate = false) {
    reals_.push_back(column<double>(name, Type::real, second, long_name, deflate));
  };
  real("inputs", input, "inputs as drawn");
  real("final_position", coordinate, "coordinates where the member ended");
  real("final_velocity", coordinate, "velocities where the member ended");
  real("final_auxiliary", auxiliary, "auxiliary states where the member ended");
  real("end_time", {}, "time at which the member ended", true);
  real("measures", measure, "measures; missing where they never came about");
  real("start_position_moved", {}, "how far positions were moved to meet the conditions (Euclidean length)",
       true);
  real("start_velocity_moved", {}, "how far velocities were moved to meet the conditions (Euclidean length)",
       true);

  if (density_) {
    start_density_.emplace(study);
    real("log_density_change", {},
         "change of the log-density along the flow; missing after an inelastic shock");
    real("log_density_start", {},
         "log-density of the drawn starts in (q, v, z); missing where there is none");
    real("log_density", {}, "log-density of the ensemble in (q, v, z) where the member ended");
    if (const std::string& why = start_density_->why_unknown(); !why.empty())
      for (std::size_t i = 9; i < 11; ++i) file_.attribute(reals_[i].variable, "missing_because", why);
  }

  const auto whole = [&](const char* name, const std::optional<NetcdfFile::Dimension>& second,
                         const char* long_name) {
    integers_.push_back(column<long long>(name, Type::integer, second, long_name, true));
    file_.attribute(integers_.back().variable, "units", "1");
  };
  whole("member", {}, "number of the member");
  whole("steps", {}, "accepted steps");
  whole("rejected", {}, "rejected steps");
  whole("events", kind, "events by kind");
  whole("attempts", {}, "draws made until one met the conditions");

  const auto flag = [&](const char* name, const std::vector<std::string>& words, const char* long_name) {
    bytes_.push_back(column<signed char>(name, Type::byte, {}, long_name, true));
    file_.flags(bytes_.back().variable, Type::byte, words);
  };
  flag("status", status_words(), "how the member ended");
  flag("entered", {"no", "yes"}, "whether the member is in the statistics");
  flag("redundant", {"no", "yes"}, "whether dependent conditions were met");
}

void MembersWriter::add(long long first, const Batch& batch, const BatchResults& results) {
  assert(written_ + filled_ == 0 || first == next_);
  next_ = first;
  for (std::size_t k = 0; k < batch.count; ++k) {
    take(k, batch, results);
    ++next_;
    if (++filled_ == block_members_) write_block();
  }
}

// Copies one member into its row of the block.
void MembersWriter::take(std::size_t k, const Batch& batch, const BatchResults& results) {
  const auto row = [&](auto& column) {
    return column.block.begin() + static_cast<std::ptrdiff_t>(filled_ * column.width);
  };
  const auto copy = [&](Reals& column, const double* from) { std::copy_n(from, column.width, row(column)); };
  const double* parameters = batch.parameters.data() + k * parameters_;
  std::transform(drawn_.begin(), drawn_.end(), row(reals_[0]), [&](std::size_t i) { return parameters[i]; });
  const double* state = results.end_state.data() + k * (2 * coordinates_ + auxiliaries_);
  copy(reals_[1], state);
  copy(reals_[2], state + coordinates_);
  copy(reals_[3], state + 2 * coordinates_);
  copy(reals_[4], &results.end_time[k]);
  copy(reals_[5], results.measures.data() + k * measures_);
  copy(reals_[6], &batch.position_moved[k]);
  copy(reals_[7], &batch.velocity_moved[k]);

  if (density_) take_density(k, batch, results);

  *row(integers_[0]) = next_;
  *row(integers_[1]) = results.steps[k];
  *row(integers_[2]) = results.rejected[k];
  std::copy_n(results.event_counts.data() + k * event_kinds, event_kinds, row(integers_[3]));
  *row(integers_[4]) = batch.attempts[k];

  *row(bytes_[0]) = static_cast<signed char>(results.status[k]);
  *row(bytes_[1]) = enters(ensemble_, next_, results.status[k]) ? 1 : 0;
  *row(bytes_[2]) = results.redundant[k] != 0 ? 1 : 0;
}

// The density of a start that was projected onto the conditions is unknown.
void MembersWriter::take_density(std::size_t k, const Batch& batch, const BatchResults& results) {
  const double missing = std::numeric_limits<double>::quiet_NaN();
  const double* z = results.end_state.data() + k * (2 * coordinates_ + auxiliaries_) + 2 * coordinates_;
  const bool moved = batch.position_moved[k] != 0 || batch.velocity_moved[k] != 0;
  const double change = z[*density_ + 1] > 0.5 ? missing : z[*density_];
  const double start =
      moved ? missing : start_density_->log_at({batch.parameters.data() + k * parameters_, parameters_});
  reals_[8].block[filled_] = change;
  reals_[9].block[filled_] = start;
  reals_[10].block[filled_] = start + change;
}

template <class Number>
void MembersWriter::write_column(Column<Number>& column) {
  NetcdfFile::Place start = {written_}, count = {filled_};
  if (!column.flat) {
    start.push_back(0);
    count.push_back(column.width);
  }
  file_.put(column.variable, start, count, std::span<const Number>(column.block));
}

void MembersWriter::write_block() {
  for (Reals& column : reals_) write_column(column);
  for (Integers& column : integers_) write_column(column);
  for (Bytes& column : bytes_) write_column(column);
  written_ += filled_;
  filled_ = 0;
}

void MembersWriter::close() {
  if (filled_ > 0) write_block();
  file_.close();
}

}  // namespace zwang
