#include "host/backend/device_records.h"

#include <algorithm>

#include "kernels/reduce/member_record.h"

namespace zwang {

namespace {

// Long enough for the full bandwidth of a copy, short enough that the first piece arrives soon.
constexpr std::size_t piece_bytes = std::size_t{8} << 20;

}  // namespace

bool fetch_member_records(ReductionDevice& device, const MemberRecordLayout& layout, const KernelBatch& batch,
                          char* records) {
  using Address = ReductionDevice::Address;
  const std::vector<int> drawn(layout.drawn().begin(), layout.drawn().end());
  const std::size_t head = (drawn.size() * sizeof(int) + 255) / 256 * 256;
  const std::size_t members_in_piece = std::max<std::size_t>(1, piece_bytes / layout.bytes());
  const std::size_t piece = (members_in_piece * layout.bytes() + 255) / 256 * 256;
  constexpr std::size_t pieces_at_once = 2;
  const std::optional<Address> room = device.reserve(head + pieces_at_once * piece);
  if (!room) return false;
  if (!drawn.empty()) device.copy_in(*room, drawn.data(), drawn.size() * sizeof(int));

  // Device addresses: not dereferenced on the host.
  RecordJob job{};
  job.batch = batch;
  job.places = layout.places();
  job.drawn = reinterpret_cast<const int*>(*room);
  job.parameters = static_cast<int>(layout.parameters());
  const auto members = static_cast<std::size_t>(batch.count);
  std::size_t number = 0;
  for (std::size_t first = 0; first < members; first += members_in_piece, ++number) {
    const std::size_t count = std::min(members_in_piece, members - first);
    const Address at = *room + head + number % pieces_at_once * piece;
    job.first = static_cast<long long>(first);
    job.records = reinterpret_cast<unsigned long long*>(at);
    device.run("pack_record_number", &job, sizeof job, static_cast<long long>(count) * layout.places().size);
    device.copy_out_later(records + first * layout.bytes(), at, count * layout.bytes());
  }
  device.finish_copies();
  return true;
}

}  // namespace zwang
