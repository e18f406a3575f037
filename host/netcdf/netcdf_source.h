// Reader of a NetCDF file. A variable that is missing or of an unexpected type is the user's Error: the file
// was changed or is not a result of a run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace zwang {

// HDF5 prints every error of a thread, also those that NetCDF expects when it looks for optional attributes.
// NetCDF switches that off in the thread that uses it first, which may be one that writes members.nc.
void silence_hdf5();

class NetcdfSource {
 public:
  explicit NetcdfSource(std::filesystem::path path);
  NetcdfSource(const NetcdfSource&) = delete;
  NetcdfSource& operator=(const NetcdfSource&) = delete;
  ~NetcdfSource();

  // Lengths of the variable's dimensions.
  std::vector<std::size_t> shape(const std::string& name) const;

  // All values, row-major.
  std::vector<double> numbers(const std::string& name) const;
  std::vector<long long> integers(const std::string& name) const;
  std::vector<std::string> texts(const std::string& name) const;

  // `count` indices of the first dimension from `first`, complete in the others.
  std::vector<double> numbers(const std::string& name, std::size_t first, std::size_t count) const;
  std::vector<long long> integers(const std::string& name, std::size_t first, std::size_t count) const;

  // A text attribute of the file; "" if absent.
  std::string attribute(const std::string& name) const;

 private:
  int variable(const std::string& name) const;
  std::size_t size(const std::string& name) const;
  void require(int code, const std::string& what) const;

  std::filesystem::path path_;
  int id_ = -1;
};

}  // namespace zwang
