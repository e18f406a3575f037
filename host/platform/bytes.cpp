#include "host/platform/bytes.h"

#include <fmt/format.h>
#include <xxhash.h>

#include "src/base/error.h"

namespace zwang {

struct Checksum::State {
  XXH3_state_t hash;
};

Checksum::Checksum() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->hash); }
Checksum::~Checksum() = default;
void Checksum::update(const void* bytes, std::size_t size) {
  if (size > 0) XXH3_64bits_update(&state_->hash, bytes, size);
}
std::uint64_t Checksum::value() const { return XXH3_64bits_digest(&state_->hash); }

void ByteWriter::raw(const void* bytes, std::size_t size) {
  if (size == 0) return;
  checksum_.update(bytes, size);
  stream_.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
}

void ByteWriter::text(const std::string& text) {
  number<std::uint64_t>(text.size());
  raw(text.data(), text.size());
}

void ByteWriter::finish() {
  const std::uint64_t checksum = checksum_.value();
  number(checksum);
}

void ByteReader::raw(void* bytes, std::size_t size) {
  if (size == 0) return;
  stream_.read(static_cast<char*>(bytes), static_cast<std::streamsize>(size));
  if (static_cast<std::size_t>(stream_.gcount()) != size) refuse("an early end of the file", "more bytes");
  checksum_.update(bytes, size);
}

std::uint64_t ByteReader::length(std::uint64_t limit) {
  const auto found = number<std::uint64_t>();
  if (found > limit) refuse(fmt::format("a length of {}", found), fmt::format("at most {}", limit));
  return found;
}

void ByteReader::require_count(long long count, long long most) const {
  if (count < 0 || count > most) refuse(fmt::format("a count of {}", count), fmt::format("0 to {}", most));
}

long long ByteReader::count(long long most) {
  const auto found = number<long long>();
  require_count(found, most);
  return found;
}

std::string ByteReader::text(std::uint64_t limit) {
  std::string text;
  grow(text, length(limit));
  return text;
}

void ByteReader::finish() {
  const std::uint64_t expected = checksum_.value();
  const auto found = number<std::uint64_t>();
  if (found == expected) return;
  const auto place = static_cast<long long>(stream_.tellg()) - static_cast<long long>(sizeof found);
  refuse(fmt::format("checksum {:016x} at byte {}", found, place), fmt::format("{:016x}", expected));
}

void ByteReader::refuse(const std::string& found, const std::string& expected) const {
  throw Error({.where = {.file = name_},
               .message = "these partial statistics are damaged or were written by another program",
               .found = found,
               .expected = expected,
               .hint = "delete the file and run that part again"});
}

}  // namespace zwang
