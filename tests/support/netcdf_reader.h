// Reads a NetCDF file through the C library, independently of the code that wrote it.
#pragma once

#include <netcdf.h>

#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace zwang {

class NetcdfReader {
 public:
  explicit NetcdfReader(const std::filesystem::path& path) {
    require(nc_open(path.c_str(), NC_NOWRITE, &id_), path.string());
  }
  NetcdfReader(const NetcdfReader&) = delete;
  NetcdfReader& operator=(const NetcdfReader&) = delete;
  ~NetcdfReader() { nc_close(id_); }

  std::vector<std::size_t> shape(const std::string& name) const {
    int count = 0;
    require(nc_inq_varndims(id_, variable(name), &count), name);
    std::vector<int> dimensions(static_cast<std::size_t>(count));
    require(nc_inq_vardimid(id_, variable(name), dimensions.data()), name);
    std::vector<std::size_t> made;
    for (const int dimension : dimensions) {
      made.emplace_back();
      require(nc_inq_dimlen(id_, dimension, &made.back()), name);
    }
    return made;
  }

  std::vector<double> numbers(const std::string& name) const {
    std::vector<double> made(size(name));
    require(nc_get_var_double(id_, variable(name), made.data()), name);
    return made;
  }

  std::vector<long long> integers(const std::string& name) const {
    std::vector<long long> made(size(name));
    require(nc_get_var_longlong(id_, variable(name), made.data()), name);
    return made;
  }

  std::vector<std::string> texts(const std::string& name) const {
    nc_type type = NC_NAT;
    require(nc_inq_vartype(id_, variable(name), &type), name);
    if (type == NC_CHAR) {
      std::string characters(size(name), '\0');
      require(nc_get_var_text(id_, variable(name), characters.data()), name);
      const std::size_t width = shape(name).back();
      std::vector<std::string> rows;
      for (std::size_t at = 0; at < characters.size(); at += width)
        rows.emplace_back(characters.substr(at, width).c_str());
      return rows;
    }
    std::vector<char*> pointers(size(name));
    require(nc_get_var_string(id_, variable(name), pointers.data()), name);
    std::vector<std::string> made(pointers.begin(), pointers.end());
    nc_free_string(pointers.size(), pointers.data());
    return made;
  }

  // Of a variable, or of the file ("").
  std::string attribute(const std::string& of, const std::string& name) const {
    const int owner = of.empty() ? NC_GLOBAL : variable(of);
    nc_type type = NC_NAT;
    std::size_t length = 0;
    require(nc_inq_att(id_, owner, name.c_str(), &type, &length), name);
    if (type == NC_STRING) {
      char* pointer = nullptr;
      require(nc_get_att_string(id_, owner, name.c_str(), &pointer), name);
      std::string made = pointer;
      nc_free_string(1, &pointer);
      return made;
    }
    std::string made(length, '\0');
    require(nc_get_att_text(id_, owner, name.c_str(), made.data()), name);
    return made;
  }

 private:
  static void require(int code, const std::string& what) {
    if (code != NC_NOERR) throw std::runtime_error(what + ": " + nc_strerror(code));
  }
  int variable(const std::string& name) const {
    int found = -1;
    require(nc_inq_varid(id_, name.c_str(), &found), name);
    return found;
  }
  std::size_t size(const std::string& name) const {
    const std::vector<std::size_t> dimensions = shape(name);
    return std::accumulate(dimensions.begin(), dimensions.end(), std::size_t{1}, std::multiplies<>());
  }

  int id_ = -1;
};

}  // namespace zwang
