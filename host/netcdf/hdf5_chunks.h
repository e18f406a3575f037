// Writes chunks of a NetCDF-4 file that have been filtered already. NetCDF filters on the thread that writes,
// one chunk after the other; here many threads filter, and one writes.
//
// HDF5 and zlib are those that the NetCDF library has loaded: their functions are looked up by name, because
// the names of the library files differ between systems.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace zwang {

// The bytes that NetCDF stores for a chunk of a variable with the options shuffle and deflate, level 1: bytes
// of equal significance are adjacent, then compressed.
std::vector<char> shuffled_and_deflated(std::span<const char> chunk, std::size_t bytes_per_number);

class Hdf5Chunks {
 public:
  // Whether the functions were found.
  static bool available();

  // A file that NetCDF has created and closed.
  explicit Hdf5Chunks(std::filesystem::path path);
  Hdf5Chunks(const Hdf5Chunks&) = delete;
  Hdf5Chunks& operator=(const Hdf5Chunks&) = delete;
  ~Hdf5Chunks();  // a file that was not closed is incomplete

  // A variable with chunks over its first dimension, and `width` numbers in its second one; 0: it has none.
  std::size_t open(const std::string& variable, std::size_t width);
  // The chunk of `rows` rows that begins at row `first`, as it is stored. The variable then ends at its last
  // row.
  void write(std::size_t variable, std::uint64_t first, std::uint64_t rows, std::span<const char> stored);

  // When this returns, everything is in the file.
  void close();

 private:
  struct Dataset {
    std::int64_t id;
    std::string name;
    std::size_t width;
  };
  void require(bool success, const std::string& work);

  std::filesystem::path path_;
  std::int64_t file_ = -1;
  std::vector<Dataset> datasets_;
  bool failed_ = false;
};

}  // namespace zwang
