// Calls of the NetCDF C library for writing, with errors as exceptions.
#include "host/netcdf/netcdf_file.h"

#include <netcdf.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <limits>
#include <utility>

#include "host/netcdf/netcdf_lock.h"
#include "host/platform/machine_error.h"
#include "host/platform/private_files.h"

namespace zwang {

namespace {

nc_type code_of(NetcdfFile::Type type) {
  switch (type) {
    case NetcdfFile::Type::real:
      return NC_DOUBLE;
    case NetcdfFile::Type::integer:
      return NC_INT64;
    case NetcdfFile::Type::byte:
      return NC_BYTE;
    case NetcdfFile::Type::character:
      return NC_CHAR;
    default:
      return NC_STRING;
  }
}

// The library reports "HDF error" for every disk failure; errno or the free space give the actual cause.
std::string reason(int code, int system_code, const std::filesystem::path& path) {
  std::string text = nc_strerror(code);
  constexpr unsigned long long little = 1 << 20;
  struct statvfs disk {};
  const bool known = ::statvfs(path.parent_path().empty() ? "." : path.parent_path().c_str(), &disk) == 0;
  if (system_code != 0)
    text = system_message(system_code);
  else if (known && static_cast<unsigned long long>(disk.f_bavail) * disk.f_frsize < little)
    text += ": the disk is full";
  return text;
}

bool nothing(const NetcdfFile::Place& count) {
  return std::find(count.begin(), count.end(), std::size_t{0}) != count.end();
}

}  // namespace

NetcdfFile::NetcdfFile(std::filesystem::path path) : path_(std::move(path)) {
  const NetcdfLock lock;
  errno = 0;
  require(nc_create(path_.c_str(), NC_NETCDF4 | NC_CLOBBER, &id_), "created");
}

NetcdfFile::~NetcdfFile() {
  // Closing repeats the failed write, and the library does not survive every such failure.
  const NetcdfLock lock;
  if (id_ >= 0 && !failed_) nc_close(id_);
}

void NetcdfFile::require(int code, const std::string& work) {
  if (code == NC_NOERR) return;
  const int system_code = errno;
  failed_ = true;
  throw MachineError({.where = {path_.string(), 0, 0},
                      .message = "the file could not be " + work,
                      .found = reason(code, system_code, path_),
                      .expected = "a folder that can be written to, with room on its disk"});
}

// --- Definitions -------------------------------------------------------------------------------------------

NetcdfFile::Dimension NetcdfFile::dimension(const std::string& name, std::size_t size) {
  Dimension made{-1, size};
  const NetcdfLock lock;
  errno = 0;
  require(nc_def_dim(id_, name.c_str(), size == 0 ? NC_UNLIMITED : size, &made.id),
          "given the dimension " + name);
  return made;
}

NetcdfFile::Variable NetcdfFile::variable(const std::string& name, Type type, const Shape& shape,
                                          const std::string& long_name) {
  std::vector<int> ids;
  for (const std::vector<Dimension>* list : {&std::as_const(leading_), &shape.dimensions})
    for (const Dimension& dimension : *list) ids.push_back(dimension.id);
  Variable made{-1, name};
  const NetcdfLock lock;
  errno = 0;
  require(nc_def_var(id_, name.c_str(), code_of(type), static_cast<int>(ids.size()), ids.data(), &made.id),
          "given the variable " + name);
  variables_.resize(static_cast<std::size_t>(made.id) + 1);
  variables_.back().leading = leading_;
  variables_.back().dimensions = shape.dimensions;
  set_fill(made, type, shape);
  Shape stored = shape;
  if (!stored.chunks.empty()) stored.chunks.insert(stored.chunks.begin(), leading_.size(), 1);
  set_storage(made, stored);
  attribute(made, "long_name", long_name);
  if (type == Type::character) attribute(made, "_Encoding", "utf-8");
  // Studies have no units. With "seconds", xarray would convert times to time spans.
  if (type == Type::real) attribute(made, "units", "1");
  return made;
}

NetcdfFile::Dimension NetcdfFile::names(const std::string& name, const std::vector<std::string>& texts,
                                        const std::string& long_name) {
  const Dimension made = dimension(name, texts.size());
  const std::vector<Dimension> leading = std::exchange(leading_, {});
  waiting_.push_back({variable(name, Type::text, {.dimensions = {made}}, long_name), texts});
  leading_ = leading;
  return made;
}

void NetcdfFile::set_fill(const Variable& variable, Type type, const Shape& shape) {
  const double missing = std::numeric_limits<double>::quiet_NaN();
  const long long none = -1;
  const signed char no_flag = -1;
  const NetcdfLock lock;
  errno = 0;
  int code = NC_NOERR;
  if (type == Type::real) code = nc_def_var_fill(id_, variable.id, NC_FILL, &missing);
  if (type == Type::integer && shape.may_be_missing) code = nc_def_var_fill(id_, variable.id, NC_FILL, &none);
  if (type == Type::byte && shape.may_be_missing) code = nc_def_var_fill(id_, variable.id, NC_FILL, &no_flag);
  require(code, "given the fill value of " + variable.name);
}

void NetcdfFile::set_storage(const Variable& variable, const Shape& shape) {
  const NetcdfLock lock;
  errno = 0;
  if (!shape.chunks.empty()) {
    require(nc_def_var_chunking(id_, variable.id, NC_CHUNKED, shape.chunks.data()),
            "given the chunks of " + variable.name);
    // Whole chunks are written, so no cache is needed: by default the library caches 16 MiB per variable.
    require(nc_set_var_chunk_cache(id_, variable.id, 1, 1, 0.75F), "given the chunks of " + variable.name);
  }
  // Level 1: higher levels take many times as long and save a few per cent.
  if (shape.deflate)
    require(nc_def_var_deflate(id_, variable.id, 1, 1, 1), "given the compression of " + variable.name);
}

void NetcdfFile::attribute(const std::string& name, const std::string& text) {
  // A string instead of a character array: the latter is limited to 64 KiB, which a study may exceed.
  const char* pointer = text.c_str();
  const NetcdfLock lock;
  errno = 0;
  require(nc_put_att_string(id_, NC_GLOBAL, name.c_str(), 1, &pointer), "given the attribute " + name);
}

void NetcdfFile::attribute(const std::string& name, unsigned long long number) {
  const NetcdfLock lock;
  errno = 0;
  require(nc_put_att_ulonglong(id_, NC_GLOBAL, name.c_str(), NC_UINT64, 1, &number),
          "given the attribute " + name);
}

void NetcdfFile::attribute(const Variable& variable, const std::string& name, const std::string& text) {
  const NetcdfLock lock;
  errno = 0;
  require(nc_put_att_text(id_, variable.id, name.c_str(), text.size(), text.data()),
          "given the attribute " + name + " of " + variable.name);
}

void NetcdfFile::attribute(const Variable& variable, const std::string& name, double number) {
  const NetcdfLock lock;
  errno = 0;
  require(nc_put_att_double(id_, variable.id, name.c_str(), NC_DOUBLE, 1, &number),
          "given the attribute " + name + " of " + variable.name);
}

void NetcdfFile::attribute(const Variable& variable, const std::string& name, long long number) {
  const NetcdfLock lock;
  errno = 0;
  require(nc_put_att_longlong(id_, variable.id, name.c_str(), NC_INT64, 1, &number),
          "given the attribute " + name + " of " + variable.name);
}

void NetcdfFile::flags(const Variable& variable, Type type, const std::vector<std::string>& meanings) {
  std::vector<long long> values;
  std::string words;
  for (const std::string& meaning : meanings) {
    values.push_back(static_cast<long long>(values.size()));
    words += (words.empty() ? "" : " ") + meaning;
  }
  const NetcdfLock lock;
  errno = 0;
  require(nc_put_att_longlong(id_, variable.id, "flag_values", code_of(type), values.size(), values.data()),
          "given the flags of " + variable.name);
  attribute(variable, "flag_meanings", words);
}

// --- Numbers -----------------------------------------------------------------------------------------------

void NetcdfFile::begin_data() {
  if (!defining_) return;
  defining_ = false;
  const NetcdfLock lock;
  errno = 0;
  require(nc_enddef(id_), "defined");
  for (const Waiting& names : std::exchange(waiting_, {})) put(names.variable, names.texts);
}

NetcdfFile::Place NetcdfFile::whole(const Variable& variable) const {
  Place count;
  for (const Dimension& dimension : variables_[static_cast<std::size_t>(variable.id)].dimensions)
    count.push_back(dimension.size);
  return count;
}

// A variable with leading dimensions is written once all its arrays are here: one long write instead of many
// short ones.
template <class Number>
void NetcdfFile::put_whole(const Variable& variable, std::span<const Number> values,
                           std::vector<Number>& collected) {
  Known& known = variables_[static_cast<std::size_t>(variable.id)];
  Place count = whole(variable);
  if (known.leading.empty()) {
    put(variable, Place(count.size(), 0), count, values);
    return;
  }
  std::size_t combinations = 1, size = 1;
  for (const Dimension& dimension : known.leading) combinations *= dimension.size;
  for (const std::size_t length : count) size *= length;
  if (combination_ == 0) collected.clear();
  assert(collected.size() == combination_ * size && values.size() == size);
  collected.insert(collected.end(), values.begin(), values.end());
  if (combination_ + 1 < combinations) return;
  for (auto dimension = known.leading.rbegin(); dimension != known.leading.rend(); ++dimension)
    count.insert(count.begin(), dimension->size);
  const std::vector<Dimension> leading = std::exchange(known.leading, {});
  put(variable, Place(count.size(), 0), count, std::span<const Number>(collected));
  variables_[static_cast<std::size_t>(variable.id)].leading = leading;
  collected = {};
}

void NetcdfFile::put(const Variable& variable, std::span<const double> values) {
  put_whole(variable, values, variables_[static_cast<std::size_t>(variable.id)].reals);
}

void NetcdfFile::put(const Variable& variable, std::span<const long long> values) {
  put_whole(variable, values, variables_[static_cast<std::size_t>(variable.id)].integers);
}

void NetcdfFile::put(const Variable& variable, std::span<const std::string> values) {
  const Place count = whole(variable);
  put(variable, Place(count.size(), 0), count, values);
}

// A part of the array of the present combination of leading indices.
template <class Number, class Write>
void NetcdfFile::put_part(const Variable& variable, const Place& start, const Place& count,
                          std::span<const Number> values, const Write& write) {
  begin_data();
  if (nothing(count)) return;
  Place from = start, size = count;
  std::size_t rest = combination_;
  const std::vector<Dimension>& leading = variables_[static_cast<std::size_t>(variable.id)].leading;
  for (auto dimension = leading.rbegin(); dimension != leading.rend(); ++dimension) {
    from.insert(from.begin(), rest % dimension->size);
    size.insert(size.begin(), 1);
    rest /= dimension->size;
  }
  const NetcdfLock lock;
  errno = 0;
  require(write(id_, variable.id, from.data(), size.data(), values.data()),
          "written (" + variable.name + ")");
}

void NetcdfFile::put(const Variable& variable, const Place& start, const Place& count,
                     std::span<const double> values) {
  put_part(variable, start, count, values, nc_put_vara_double);
}

void NetcdfFile::put(const Variable& variable, const Place& start, const Place& count,
                     std::span<const long long> values) {
  put_part(variable, start, count, values, nc_put_vara_longlong);
}

void NetcdfFile::put(const Variable& variable, const Place& start, const Place& count,
                     std::span<const signed char> values) {
  put_part(variable, start, count, values, nc_put_vara_schar);
}

void NetcdfFile::put(const Variable& variable, const Place& start, const Place& count,
                     std::span<const std::string> values) {
  std::vector<const char*> pointers;
  for (const std::string& value : values) pointers.push_back(value.c_str());
  // The library takes the texts as pointers that it does not write through.
  put_part(variable, start, count, std::span<const char* const>(pointers),
           [](int file, int id, const std::size_t* from, const std::size_t* size, const char* const* texts) {
             return nc_put_vara_string(file, id, from, size, const_cast<const char**>(texts));
           });
}

void NetcdfFile::put_characters(const Variable& variable, std::span<const std::string> texts) {
  const Place count = whole(variable);
  const std::size_t width = count.back();
  std::vector<char> rows(texts.size() * width, '\0');
  for (std::size_t k = 0; k < texts.size(); ++k)
    std::copy_n(texts[k].begin(), std::min(width, texts[k].size()),
                rows.begin() + static_cast<std::ptrdiff_t>(k * width));
  put_part(variable, Place(count.size(), 0), count, std::span<const char>(rows), nc_put_vara_text);
}

void NetcdfFile::close() {
  begin_data();
  const NetcdfLock lock;
  errno = 0;
  require(nc_close(std::exchange(id_, -1)), "finished");
}

}  // namespace zwang
