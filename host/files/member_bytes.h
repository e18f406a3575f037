// Serialisation of one member's results as a record of fixed size.
#pragma once

#include <vector>

#include "host/backend/backend.h"
#include "host/study/study.h"

namespace zwang {

// Layout of one member's record: 8 bytes per number, with exactly the numbers MembersWriter reads.
class MemberRecordLayout {
 public:
  // drawn: the parameter index of each input, as in Sampler::drawn().
  MemberRecordLayout(const Study& study, std::vector<std::size_t> drawn);

  std::size_t bytes() const { return 8 * numbers_; }
  void pack(const Batch& batch, const BatchResults& results, std::vector<char>& records) const;  // appended
  void pack(const Batch& batch, const BatchResults& results, std::size_t k, char* record) const;
  void make_room(Batch& batch, BatchResults& results, std::size_t count) const;
  void unpack(const char* record, Batch& batch, BatchResults& results, std::size_t k) const;

 private:
  template <class Members, class Results, class Real, class Whole>
  void each_number(Members& batch, Results& results, std::size_t k, Real&& real, Whole&& whole) const;

  std::vector<std::size_t> drawn_;
  std::size_t parameters_, state_, measures_, numbers_;
};

}  // namespace zwang
