// Results of members packed into records of fixed size, from which members.nc is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/backend/backend.h"
#include "host/study/study.h"
#include "kernels/reduce/member_record.h"

namespace zwang {

// Layout of one member's record: 8 bytes per number, with exactly the numbers that members.nc and records.nc
// hold.
class MemberRecordLayout {
 public:
  // drawn: the parameter index of each input, as in Sampler::drawn().
  MemberRecordLayout(const Study& study, std::vector<std::size_t> drawn);

  std::size_t bytes() const { return 8 * (static_cast<std::size_t>(places_.size) + recorded_); }
  // Where the numbers of [[record]] begin, as in BatchResults::records; none if the device packs.
  int recorded_place() const { return places_.size; }
  const RecordPlaces& places() const { return places_; }
  const std::vector<std::size_t>& drawn() const { return drawn_; }
  std::size_t parameters() const { return parameters_; }

  // Packs all members of the batch into `records`, batch.count x bytes().
  void pack(const Batch& batch, const BatchResults& results, char* records, unsigned threads) const;
  // Enters how the host has prepared the starts into records that a device has packed. Nothing to enter if
  // the device has drawn the members.
  void enter_starts(const Batch& batch, char* records, unsigned threads) const;

  // Numbers of one record.
  static double real(const char* record, int place);
  static std::int64_t whole(const char* record, int place);

 private:
  void pack(const Batch& batch, const BatchResults& results, std::size_t k, char* record) const;

  std::vector<std::size_t> drawn_;
  std::size_t parameters_, state_, measures_, recorded_;
  RecordPlaces places_;
};

}  // namespace zwang
