// Packing and unpacking of member records.
#include "host/files/member_bytes.h"

#include <cstring>

#include "kernels/base/layout.h"

namespace zwang {

MemberRecordLayout::MemberRecordLayout(const Study& study, std::vector<std::size_t> drawn)
    : drawn_(std::move(drawn)),
      parameters_(study.system->parameters.size()),
      state_(2 * study.system->size() + study.system->auxiliaries.size()),
      measures_(study.system->measures.size()),
      numbers_(drawn_.size() + state_ + measures_ + 3 + 2 + event_kinds + 3) {}

// The order of the numbers, shared by packing and unpacking.
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

}  // namespace zwang
