// Calls of HDF5 for chunks, and its filters.
#include "host/netcdf/hdf5_chunks.h"

#include <dlfcn.h>

#include <cerrno>
#include <new>
#include <utility>

#include "host/netcdf/netcdf_lock.h"
#include "host/platform/machine_error.h"
#include "host/platform/private_files.h"

namespace zwang {

namespace {

// Types and constants of HDF5 1.10 and later.
using Id = std::int64_t;
using Size = unsigned long long;
constexpr unsigned read_and_write = 1;
constexpr Id default_list = 0;

struct Functions {
  Id (*file_open)(const char* path, unsigned flags, Id access_list);
  int (*file_close)(Id file);
  Id (*dataset_open)(Id file, const char* name, Id access_list);
  int (*dataset_close)(Id dataset);
  int (*set_extent)(Id dataset, const Size* size);
  int (*write_chunk)(Id dataset, Id transfer_list, std::uint32_t skipped_filters, const Size* offset,
                     std::size_t bytes, const void* stored);
  int (*compress)(unsigned char* to, unsigned long* to_bytes, const unsigned char* from,
                  unsigned long from_bytes, int level);
  unsigned long (*compress_bound)(unsigned long bytes);
  bool complete = true;
};

const Functions& functions() {
  static const Functions found = [] {
    Functions made{};
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(RTLD_DEFAULT, name));
      made.complete = made.complete && function != nullptr;
    };
    find(made.file_open, "H5Fopen");
    find(made.file_close, "H5Fclose");
    find(made.dataset_open, "H5Dopen2");
    find(made.dataset_close, "H5Dclose");
    find(made.set_extent, "H5Dset_extent");
    find(made.write_chunk, "H5Dwrite_chunk");
    find(made.compress, "compress2");
    find(made.compress_bound, "compressBound");
    return made;
  }();
  return found;
}

}  // namespace

std::vector<char> shuffled_and_deflated(std::span<const char> chunk, std::size_t bytes_per_number) {
  const std::size_t numbers = chunk.size() / bytes_per_number;
  std::vector<char> shuffled(chunk.size());
  for (std::size_t byte = 0; byte < bytes_per_number; ++byte) {
    char* to = shuffled.data() + byte * numbers;
    const char* from = chunk.data() + byte;
    for (std::size_t k = 0; k < numbers; ++k) to[k] = from[k * bytes_per_number];
  }
  const Functions& library = functions();
  unsigned long size = library.compress_bound(shuffled.size());
  std::vector<char> made(size);
  // The only possible failure is a lack of memory.
  if (library.compress(reinterpret_cast<unsigned char*>(made.data()), &size,
                       reinterpret_cast<const unsigned char*>(shuffled.data()), shuffled.size(), 1) != 0)
    throw std::bad_alloc();
  made.resize(size);
  return made;
}

bool Hdf5Chunks::available() { return functions().complete; }

Hdf5Chunks::Hdf5Chunks(std::filesystem::path path) : path_(std::move(path)) {
  const NetcdfLock lock;
  errno = 0;
  file_ = functions().file_open(path_.c_str(), read_and_write, default_list);
  require(file_ >= 0, "opened again");
}

// After a failed write HDF5 may crash on closing: the file is left open then (host/netcdf/netcdf_file.cpp).
Hdf5Chunks::~Hdf5Chunks() {
  if (failed_ || file_ < 0) return;
  const NetcdfLock lock;
  for (const Dataset& dataset : datasets_) functions().dataset_close(dataset.id);
  functions().file_close(file_);
}

void Hdf5Chunks::require(bool success, const std::string& work) {
  if (success) return;
  const int code = errno;
  failed_ = true;
  throw MachineError({.where = {path_.string(), 0, 0},
                      .message = "the file could not be " + work,
                      .found = code != 0 ? system_message(code) : "an error of the HDF5 library",
                      .expected = "a folder that can be written to, with room on its disk"});
}

std::size_t Hdf5Chunks::open(const std::string& variable, std::size_t width) {
  const NetcdfLock lock;
  errno = 0;
  const Id id = functions().dataset_open(file_, variable.c_str(), default_list);
  require(id >= 0, "written (" + variable + ")");
  datasets_.push_back({id, variable, width});
  return datasets_.size() - 1;
}

void Hdf5Chunks::write(std::size_t variable, std::uint64_t first, std::uint64_t rows,
                       std::span<const char> stored) {
  const Dataset& dataset = datasets_[variable];
  const Size size[2] = {first + rows, dataset.width}, offset[2] = {first, 0};
  const NetcdfLock lock;
  errno = 0;
  require(functions().set_extent(dataset.id, size) >= 0 &&
              functions().write_chunk(dataset.id, default_list, 0, offset, stored.size(), stored.data()) >= 0,
          "written (" + dataset.name + ")");
}

void Hdf5Chunks::close() {
  const NetcdfLock lock;
  errno = 0;
  for (const Dataset& dataset : std::exchange(datasets_, {}))
    require(functions().dataset_close(dataset.id) >= 0, "finished");
  require(functions().file_close(std::exchange(file_, -1)) >= 0, "finished");
}

}  // namespace zwang
