// Writes numbers as bytes and reads them back, with a checksum: the format of checkpoints, shards and
// messages.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

namespace zwang {

static_assert(std::endian::native == std::endian::little,
              "files are written in the byte order of little-endian machines");

// Running checksum (XXH3).
class Checksum {
 public:
  Checksum();
  ~Checksum();
  Checksum(const Checksum&) = delete;
  Checksum& operator=(const Checksum&) = delete;
  void update(const void* bytes, std::size_t size);
  std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class ByteWriter {
 public:
  explicit ByteWriter(std::ostream& stream) : stream_(stream) {}

  template <class T>
  void number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    raw(&value, sizeof value);
  }
  template <class T, std::size_t n>
  void numbers(const std::array<T, n>& values) {
    raw(values.data(), sizeof values);
  }
  // Preceded by the length.
  template <class T>
  void numbers(const std::vector<T>& values) {
    static_assert(std::is_arithmetic_v<T>);
    number<std::uint64_t>(values.size());
    raw(values.data(), values.size() * sizeof(T));
  }
  void text(const std::string& text);
  void finish();  // writes the checksum of everything before

 private:
  void raw(const void* bytes, std::size_t size);

  std::ostream& stream_;
  Checksum checksum_;
};

// Throws Error if the bytes end early or contain impossible values.
class ByteReader {
 public:
  // `name`: of the source, for messages.
  ByteReader(std::istream& stream, std::string name) : stream_(stream), name_(std::move(name)) {}

  template <class T>
  T number() {
    static_assert(std::is_arithmetic_v<T>);
    T value{};
    raw(&value, sizeof value);
    return value;
  }
  template <class T, std::size_t n>
  void numbers(std::array<T, n>& values) {
    raw(values.data(), sizeof values);
  }
  // At most `limit` numbers.
  template <class T>
  void numbers(std::vector<T>& values, std::uint64_t limit) {
    grow(values, length(limit));
  }
  std::uint64_t length(std::uint64_t limit);
  // A count from 0 to `most`.
  long long count(long long most);
  template <class Counts>
  void require_counts(const Counts& counts, long long most) const {
    for (const long long count : counts) require_count(count, most);
  }
  std::string text(std::uint64_t limit);
  void finish();  // compares the checksum

  void require_count(long long count, long long most) const;
  [[noreturn]] void refuse(const std::string& found, const std::string& expected) const;

 private:
  void raw(void* bytes, std::size_t size);
  // Allocates while reading: a damaged, huge length takes no more memory than the bytes that exist.
  template <class Values>
  void grow(Values& values, std::uint64_t count) {
    constexpr std::uint64_t step = (std::uint64_t{1} << 20) / sizeof(values[0]);
    values.clear();
    while (values.size() < count) {
      const std::size_t before = values.size();
      const auto more =
          static_cast<std::size_t>(std::min(count - before, std::max<std::uint64_t>(step, before)));
      values.resize(before + more);
      raw(values.data() + before, more * sizeof(values[0]));
    }
  }

  std::istream& stream_;
  std::string name_;
  Checksum checksum_;
};

}  // namespace zwang
