// Corrupted files for fuzz targets: valid files written by the program, changed by a script of edits.
//
// A corpus of whole records would be rejected at the first line by the next version of the program. An input
// is therefore a script: the run, then eight bytes for each edit. Checksums are corrected afterwards, since
// otherwise no reader after the checksum would be reached. Depending on its first byte the input is one of
// the files itself.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "tests/fuzz/promise.h"

namespace zwang::fuzz {

// A temporary folder, in memory where the machine has such a file system.
class MemoryFolder {
 public:
  MemoryFolder() {
    const std::filesystem::path shared = "/dev/shm";
    const bool in_memory = ::access(shared.c_str(), W_OK) == 0;
    std::string name = (in_memory ? shared : std::filesystem::temp_directory_path()) / "zwang-fuzz-XXXXXX";
    promise(::mkdtemp(name.data()) != nullptr, "no folder to work in");
    path_ = name;
  }
  MemoryFolder(const MemoryFolder&) = delete;
  MemoryFolder& operator=(const MemoryFolder&) = delete;
  ~MemoryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream << bytes;
  stream.close();
  promise(static_cast<bool>(stream), "no room to work in");
}

// The meaning of the first byte of the input.
struct Recipe {
  bool other_run = false;       // the second of the two runs
  bool raw = false;             // the rest is a file, not a script
  bool keep_checksums = false;  // also if they are wrong
  bool to_the_end = false;      // results are written too, which takes ten times longer than reading
  std::span<const std::uint8_t> rest;

  Recipe(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return;
    other_run = (data[0] & 1) != 0;
    raw = (data[0] & 2) != 0;
    keep_checksums = (data[0] & 4) != 0;
    to_the_end = data[0] >> 3 == 1;
    rest = {data + 1, size - 1};
  }
};

// Extreme numbers, as eight bytes.
inline std::string telling_number(std::uint8_t which) {
  using Real = std::numeric_limits<double>;
  static const std::int64_t whole[] = {0,
                                       1,
                                       -1,
                                       2,
                                       255,
                                       256,
                                       257,
                                       300,
                                       1LL << 20,
                                       1LL << 31,
                                       1LL << 32,
                                       1LL << 40,
                                       1LL << 62,
                                       std::numeric_limits<std::int64_t>::max(),
                                       std::numeric_limits<std::int64_t>::min()};
  static const double real[] = {Real::quiet_NaN(),
                                Real::infinity(),
                                -Real::infinity(),
                                Real::max(),
                                Real::lowest(),
                                Real::denorm_min(),
                                0.5};
  std::string bytes(8, '\0');
  const std::size_t choice = which % (std::size(whole) + std::size(real));
  if (choice < std::size(whole))
    std::memcpy(bytes.data(), &whole[choice], 8);
  else
    std::memcpy(bytes.data(), &real[choice - std::size(whole)], 8);
  return bytes;
}

// One edit: operation (1 byte), file (1), position (4), value (1), count (1).
inline void edit(const std::uint8_t* script, std::span<std::string> files) {
  std::string& file = files[script[1] % files.size()];
  std::uint32_t place = 0;
  std::memcpy(&place, script + 2, sizeof place);
  const std::size_t at = place % (file.size() + 1);
  const auto value = static_cast<char>(script[6]);
  const std::size_t count = script[7];
  switch (script[0] % 7) {
    case 0:
      if (at < file.size()) file[at] = value;
      break;
    case 1:
      if (at < file.size()) file[at] = static_cast<char>(file[at] + value);
      break;
    case 2:
      file.replace(at, 8, telling_number(script[6]));
      break;
    case 3:
      file.resize(at);
      break;
    case 4:
      file.erase(at, count);
      break;
    case 5:
      file.insert(at, count, value);
      break;
    default:  // a number from another place
      file.replace(at, 8, file.substr(at < 8 * count ? 0 : at - 8 * count, 8));
  }
}

inline void edit_all(std::span<const std::uint8_t> script, std::span<std::string> files) {
  for (; script.size() >= 8; script = script.subspan(8)) edit(script.data(), files);
}

}  // namespace zwang::fuzz
