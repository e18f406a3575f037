#include "python/binding/bind_netcdf.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <netcdf.h>
#include <netcdf_mem.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/netcdf/netcdf_lock.h"
#include "host/netcdf/netcdf_source.h"
#include "src/base/error.h"

namespace zwang::python {

namespace nb = nanobind;

namespace {

// Numbers as bytes, or texts.
struct Data {
  nc_type type = NC_NAT;
  std::vector<std::size_t> shape;
  std::unique_ptr<std::vector<char>> bytes;
  std::vector<std::string> texts;
};

struct Attribute {
  std::string name;
  Data data;
};

struct ReadVariable {
  std::string name;
  std::vector<std::string> dimensions;
  std::vector<Attribute> attributes;
  Data data;
};

struct Content {
  std::vector<std::pair<std::string, std::size_t>> dimensions;
  std::vector<Attribute> attributes;
  std::vector<ReadVariable> variables;
};

// One open file. Every call is made under NetcdfLock, which the caller holds.
class OpenNetcdf {
 public:
  OpenNetcdf(std::string name, const std::string& path) : name_(std::move(name)) {
    require(nc_open(path.c_str(), NC_NOWRITE, &id_));
  }
  // The library reads the bytes in place and does not write to them.
  OpenNetcdf(std::string name, const char* bytes, std::size_t size) : name_(std::move(name)) {
    require(nc_open_mem(name_.c_str(), NC_NOWRITE, size, const_cast<char*>(bytes), &id_));
  }
  OpenNetcdf(const OpenNetcdf&) = delete;
  OpenNetcdf& operator=(const OpenNetcdf&) = delete;
  ~OpenNetcdf() { nc_close(id_); }

  Content read() const;

 private:
  void require(int code) const {
    if (code == NC_NOERR) return;
    throw Error({.where = {name_, 0, 0},
                 .message = "the file could not be read",
                 .found = nc_strerror(code),
                 .expected = "a NetCDF file written by zwang"});
  }
  std::vector<Attribute> attributes(int variable, int count) const;
  ReadVariable variable(int number, const Content& content) const;
  void take_texts(std::vector<char*>& pointers, Data& data) const;

  std::string name_;
  int id_ = -1;
};

void OpenNetcdf::take_texts(std::vector<char*>& pointers, Data& data) const {
  for (const char* text : pointers) data.texts.emplace_back(text == nullptr ? "" : text);
  require(nc_free_string(pointers.size(), pointers.data()));
}

std::vector<Attribute> OpenNetcdf::attributes(int variable, int count) const {
  std::vector<Attribute> made;
  for (int k = 0; k < count; ++k) {
    char name[NC_MAX_NAME + 1] = {};
    require(nc_inq_attname(id_, variable, k, name));
    Attribute one{name, {}};
    std::size_t length = 0, size = 0;
    require(nc_inq_att(id_, variable, name, &one.data.type, &length));
    one.data.shape = {length};
    if (one.data.type == NC_STRING) {
      std::vector<char*> pointers(length, nullptr);
      if (length > 0) require(nc_get_att_string(id_, variable, name, pointers.data()));
      take_texts(pointers, one.data);
    } else {
      require(nc_inq_type(id_, one.data.type, nullptr, &size));
      one.data.bytes = std::make_unique<std::vector<char>>(length * size);
      if (length > 0) require(nc_get_att(id_, variable, name, one.data.bytes->data()));
    }
    made.push_back(std::move(one));
  }
  return made;
}

ReadVariable OpenNetcdf::variable(int number, const Content& content) const {
  char name[NC_MAX_NAME + 1] = {};
  int rank = 0, attribute_count = 0;
  ReadVariable made;
  require(nc_inq_varndims(id_, number, &rank));
  std::vector<int> dimensions(static_cast<std::size_t>(rank));
  require(nc_inq_var(id_, number, name, &made.data.type, nullptr, dimensions.data(), &attribute_count));
  made.name = name;
  made.attributes = attributes(number, attribute_count);
  std::size_t count = 1, size = 0;
  for (const int dimension : dimensions) {
    const auto& [own, length] = content.dimensions.at(static_cast<std::size_t>(dimension));
    made.dimensions.push_back(own);
    made.data.shape.push_back(length);
    count *= length;
  }
  if (made.data.type == NC_STRING) {
    std::vector<char*> pointers(count, nullptr);
    if (count > 0) require(nc_get_var_string(id_, number, pointers.data()));
    take_texts(pointers, made.data);
    return made;
  }
  require(nc_inq_type(id_, made.data.type, nullptr, &size));
  made.data.bytes = std::make_unique<std::vector<char>>(count * size);
  if (count > 0) require(nc_get_var(id_, number, made.data.bytes->data()));
  return made;
}

Content OpenNetcdf::read() const {
  Content made;
  int dimension_count = 0, variable_count = 0, attribute_count = 0;
  require(nc_inq(id_, &dimension_count, &variable_count, &attribute_count, nullptr));
  for (int k = 0; k < dimension_count; ++k) {
    char name[NC_MAX_NAME + 1] = {};
    std::size_t length = 0;
    require(nc_inq_dim(id_, k, name, &length));
    made.dimensions.emplace_back(name, length);
  }
  made.attributes = attributes(NC_GLOBAL, attribute_count);
  for (int k = 0; k < variable_count; ++k) made.variables.push_back(variable(k, made));
  return made;
}

// --- To Python ----------------------------------------------------------------------------------------------

// NumPy's name of a type.
const char* type_name(nc_type type) {
  switch (type) {
    case NC_BYTE:
      return "i1";
    case NC_UBYTE:
      return "u1";
    case NC_SHORT:
      return "i2";
    case NC_USHORT:
      return "u2";
    case NC_INT:
      return "i4";
    case NC_UINT:
      return "u4";
    case NC_INT64:
      return "i8";
    case NC_UINT64:
      return "u8";
    case NC_FLOAT:
      return "f4";
    case NC_DOUBLE:
      return "f8";
    default:
      return "S1";
  }
}

// Texts as a list, numbers as an array of bytes with the name of their type: zwang/_netcdf.py gives it its type
// and shape.
nb::object object_of(Data& data) {
  if (data.type == NC_STRING) return nb::cast(nb::make_tuple("text", nb::cast(std::move(data.texts))));
  std::vector<char>* bytes = data.bytes.release();
  const nb::capsule owner(bytes, [](void* p) noexcept { delete static_cast<std::vector<char>*>(p); });
  const nb::ndarray<nb::numpy, char, nb::ndim<1>> array(bytes->data(), {bytes->size()}, owner);
  return nb::cast(nb::make_tuple(type_name(data.type), nb::cast(array)));
}

nb::list list_of(std::vector<Attribute>& attributes) {
  nb::list made;
  for (Attribute& attribute : attributes)
    made.append(nb::make_tuple(attribute.name, object_of(attribute.data)));
  return made;
}

nb::tuple python_of(Content& content) {
  nb::list variables;
  for (ReadVariable& variable : content.variables)
    variables.append(nb::make_tuple(variable.name, variable.dimensions, variable.data.shape,
                                    list_of(variable.attributes), object_of(variable.data)));
  return nb::make_tuple(list_of(content.attributes), variables);
}

}  // namespace

void bind_netcdf(nb::module_& module) {
  module.def("read_netcdf", [](const std::string& name, nb::bytes bytes) {
    Content content;
    {
      const nb::gil_scoped_release released;
      const NetcdfLock lock;
      silence_hdf5();
      content = OpenNetcdf(name, bytes.c_str(), bytes.size()).read();
    }
    return python_of(content);
  });
  module.def("read_netcdf_file", [](const std::string& name, const std::string& path) {
    Content content;
    {
      const nb::gil_scoped_release released;
      const NetcdfLock lock;
      silence_hdf5();
      content = OpenNetcdf(name, path).read();
    }
    return python_of(content);
  });
}

}  // namespace zwang::python
