// Packing of member records.
#include "host/backend/member_bytes.h"

#include <algorithm>
#include <cstring>

#include "host/platform/parallel.h"
#include "kernels/base/layout.h"

namespace zwang {

namespace {

// Members that a thread packs at a time.
constexpr std::size_t packed_at_a_time = 4096;

template <class Work>
void in_pieces(std::size_t members, unsigned threads, const Work& work) {
  const std::size_t pieces = (members + packed_at_a_time - 1) / packed_at_a_time;
  in_parallel(pieces, pieces > 1 ? threads : 1, [&](std::size_t piece) {
    const std::size_t begin = piece * packed_at_a_time, end = std::min(members, begin + packed_at_a_time);
    for (std::size_t k = begin; k < end; ++k) work(k);
  });
}

template <class Number>
void put(char* record, int place, Number number) {
  static_assert(sizeof number == 8);
  std::memcpy(record + 8 * place, &number, sizeof number);
}

void put_all(char* record, int place, const double* numbers, std::size_t count) {
  if (count > 0) std::memcpy(record + 8 * place, numbers, 8 * count);
}

}  // namespace

MemberRecordLayout::MemberRecordLayout(const Study& study, std::vector<std::size_t> drawn)
    : drawn_(std::move(drawn)),
      parameters_(study.system->parameters.size()),
      state_(2 * study.system->size() + study.system->auxiliaries.size()),
      measures_(study.system->member_values()),
      recorded_(study.system->record_room()),
      places_(record_places(static_cast<int>(drawn_.size()), static_cast<int>(state_),
                            static_cast<int>(measures_))) {}

void MemberRecordLayout::pack(const Batch& batch, const BatchResults& results, std::size_t k,
                              char* record) const {
  for (std::size_t i = 0; i < drawn_.size(); ++i)
    put(record, static_cast<int>(i), batch.parameters[k * parameters_ + drawn_[i]]);
  put_all(record, places_.state, results.end_state.data() + k * state_, state_);
  put(record, places_.end_time, results.end_time[k]);
  put_all(record, places_.measures, results.measures.data() + k * measures_, measures_);
  put(record, places_.position_moved, batch.position_moved[k]);
  put(record, places_.velocity_moved, batch.velocity_moved[k]);
  put(record, places_.steps, std::int64_t{results.steps[k]});
  put(record, places_.rejected, std::int64_t{results.rejected[k]});
  for (int i = 0; i < event_kinds; ++i)
    put(record, places_.events + i,
        std::int64_t{results.event_counts[k * event_kinds + static_cast<std::size_t>(i)]});
  put(record, places_.attempts, std::int64_t{batch.attempts[k]});
  put(record, places_.status, static_cast<std::int64_t>(results.status[k]));
  put(record, places_.redundant, std::int64_t{results.redundant[k] != 0});
  put_all(record, recorded_place(), results.records.data() + k * recorded_, recorded_);
}

void MemberRecordLayout::pack(const Batch& batch, const BatchResults& results, char* records,
                              unsigned threads) const {
  in_pieces(batch.count, threads, [&](std::size_t k) { pack(batch, results, k, records + k * bytes()); });
}

void MemberRecordLayout::enter_starts(const Batch& batch, char* records, unsigned threads) const {
  if (batch.device_sampling != nullptr) return;
  in_pieces(batch.count, threads, [&](std::size_t k) {
    char* record = records + k * bytes();
    put(record, places_.position_moved, batch.position_moved[k]);
    put(record, places_.velocity_moved, batch.velocity_moved[k]);
    put(record, places_.attempts, std::int64_t{batch.attempts[k]});
  });
}

double MemberRecordLayout::real(const char* record, int place) {
  double number = 0;
  std::memcpy(&number, record + 8 * place, sizeof number);
  return number;
}

std::int64_t MemberRecordLayout::whole(const char* record, int place) {
  std::int64_t number = 0;
  std::memcpy(&number, record + 8 * place, sizeof number);
  return number;
}

}  // namespace zwang
