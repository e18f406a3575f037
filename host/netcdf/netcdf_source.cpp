// Calls of the NetCDF C library for reading, with errors as exceptions.
#include "host/netcdf/netcdf_source.h"

#include <dlfcn.h>
#include <netcdf.h>

#include <cstdint>
#include <functional>
#include <numeric>

#include "host/netcdf/netcdf_lock.h"
#include "src/base/error.h"

namespace zwang {

void silence_hdf5() {
  using SetAuto = int (*)(std::int64_t stack, void* print, void* data);
  constexpr std::int64_t default_stack = 0;
  if (void* function = ::dlsym(RTLD_DEFAULT, "H5Eset_auto2"))
    reinterpret_cast<SetAuto>(function)(default_stack, nullptr, nullptr);
}

NetcdfSource::NetcdfSource(std::filesystem::path path) : path_(std::move(path)) {
  const NetcdfLock lock;
  silence_hdf5();
  require(nc_open(path_.c_str(), NC_NOWRITE, &id_), "the file could not be opened");
}

NetcdfSource::~NetcdfSource() {
  const NetcdfLock lock;
  nc_close(id_);
}

void NetcdfSource::require(int code, const std::string& what) const {
  if (code == NC_NOERR) return;
  throw Error({.where = {path_.string(), 0, 0},
               .message = what,
               .found = nc_strerror(code),
               .expected = "a file written by `zwang run`"});
}

int NetcdfSource::variable(const std::string& name) const {
  const NetcdfLock lock;
  int found = -1;
  require(nc_inq_varid(id_, name.c_str(), &found), "the variable '" + name + "' is missing");
  return found;
}

std::vector<std::size_t> NetcdfSource::shape(const std::string& name) const {
  const NetcdfLock lock;
  int count = 0;
  const int number = variable(name);
  require(nc_inq_varndims(id_, number, &count), name);
  std::vector<int> dimensions(static_cast<std::size_t>(count));
  require(nc_inq_vardimid(id_, number, dimensions.data()), name);
  std::vector<std::size_t> made;
  for (const int dimension : dimensions) require(nc_inq_dimlen(id_, dimension, &made.emplace_back()), name);
  return made;
}

std::size_t NetcdfSource::size(const std::string& name) const {
  const std::vector<std::size_t> lengths = shape(name);
  return std::accumulate(lengths.begin(), lengths.end(), std::size_t{1}, std::multiplies<>());
}

std::vector<double> NetcdfSource::numbers(const std::string& name) const {
  const NetcdfLock lock;
  std::vector<double> made(size(name));
  if (!made.empty()) require(nc_get_var_double(id_, variable(name), made.data()), name);
  return made;
}

std::vector<long long> NetcdfSource::integers(const std::string& name) const {
  const NetcdfLock lock;
  std::vector<long long> made(size(name));
  if (!made.empty()) require(nc_get_var_longlong(id_, variable(name), made.data()), name);
  return made;
}

// Texts are values of their own, or rows of characters padded with zeros.
std::vector<std::string> NetcdfSource::texts(const std::string& name) const {
  const NetcdfLock lock;
  nc_type type = NC_NAT;
  require(nc_inq_vartype(id_, variable(name), &type), name);
  if (type == NC_CHAR) {
    std::string characters(size(name), '\0');
    const std::size_t width = shape(name).back();
    if (characters.empty()) return {};
    require(nc_get_var_text(id_, variable(name), characters.data()), name);
    std::vector<std::string> made;
    for (std::size_t at = 0; at < characters.size(); at += width)
      made.emplace_back(characters.substr(at, width).c_str());
    return made;
  }
  std::vector<char*> pointers(size(name));
  if (pointers.empty()) return {};
  require(nc_get_var_string(id_, variable(name), pointers.data()), name);
  std::vector<std::string> made;
  for (const char* text : pointers) made.emplace_back(text == nullptr ? "" : text);
  nc_free_string(pointers.size(), pointers.data());
  return made;
}

namespace {

// The part of a variable that begins at `first` of its first dimension.
struct Part {
  std::vector<std::size_t> start, count;
  std::size_t size = 1;
  Part(std::vector<std::size_t> lengths, std::size_t first, std::size_t rows)
      : start(lengths.size(), 0), count(std::move(lengths)) {
    start.at(0) = first;
    count.at(0) = rows;
    for (const std::size_t length : count) size *= length;
  }
};

}  // namespace

std::vector<double> NetcdfSource::numbers(const std::string& name, std::size_t first,
                                          std::size_t count) const {
  const NetcdfLock lock;
  const Part part(shape(name), first, count);
  std::vector<double> made(part.size);
  if (!made.empty())
    require(nc_get_vara_double(id_, variable(name), part.start.data(), part.count.data(), made.data()), name);
  return made;
}

std::vector<long long> NetcdfSource::integers(const std::string& name, std::size_t first,
                                              std::size_t count) const {
  const NetcdfLock lock;
  const Part part(shape(name), first, count);
  std::vector<long long> made(part.size);
  if (!made.empty())
    require(nc_get_vara_longlong(id_, variable(name), part.start.data(), part.count.data(), made.data()),
            name);
  return made;
}

std::string NetcdfSource::attribute(const std::string& name) const {
  const NetcdfLock lock;
  nc_type type = NC_NAT;
  std::size_t length = 0;
  if (nc_inq_att(id_, NC_GLOBAL, name.c_str(), &type, &length) != NC_NOERR) return "";
  if (type == NC_STRING) {
    char* pointer = nullptr;
    require(nc_get_att_string(id_, NC_GLOBAL, name.c_str(), &pointer), name);
    std::string made = pointer == nullptr ? "" : pointer;
    nc_free_string(1, &pointer);
    return made;
  }
  std::string made(length, '\0');
  require(nc_get_att_text(id_, NC_GLOBAL, name.c_str(), made.data()), name);
  return made;
}

}  // namespace zwang
