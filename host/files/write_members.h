// Writes members.nc: inputs, end state and measures of every member, in blocks while the members arrive.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "host/backend/backend.h"
#include "host/files/netcdf_file.h"
#include "host/run/run_result.h"
#include "host/sample/start_density.h"
#include "host/study/study.h"

namespace zwang {

// Buffers one block of members (at most 16384, and at most about 16 MiB) and writes it when it is full,
// independently of the batches: the file is the same for any batch size.
class MembersWriter {
 public:
  // Of `origin`, only backend, device, precision and the names of the inputs are read, which are known before
  // the run. drawn: the parameter index of each input, as in Sampler::drawn().
  MembersWriter(const std::filesystem::path& path, const Study& study, const RunResult& origin,
                std::vector<std::size_t> drawn);

  // Members first, first + 1, ...: each batch begins where the previous one ended.
  void add(long long first, const Batch& batch, const BatchResults& results);

  void close();

 private:
  // One variable of the file and its current block.
  template <class Number>
  struct Column {
    NetcdfFile::Variable variable;
    std::size_t width;  // numbers per member
    bool flat;          // one-dimensional: (member), not (member, 1)
    std::vector<Number> block;
  };
  using Reals = Column<double>;
  using Integers = Column<long long>;
  using Bytes = Column<signed char>;

  void define(const Study& study, const RunResult& origin);
  template <class Number>
  Column<Number> column(const std::string& name, NetcdfFile::Type type,
                        const std::optional<NetcdfFile::Dimension>& second, const std::string& long_name,
                        bool deflate);
  void take(std::size_t k, const Batch& batch, const BatchResults& results);
  void take_density(std::size_t k, const Batch& batch, const BatchResults& results);
  void write_block();
  template <class Number>
  void write_column(Column<Number>& column);

  NetcdfFile file_;
  std::vector<std::size_t> drawn_;
  std::size_t parameters_, coordinates_, auxiliaries_, measures_;
  EnsembleSettings ensemble_;
  std::optional<std::size_t> density_;         // index of the auxiliary of logdensity()
  std::optional<StartDensity> start_density_;  // if there is one
  std::size_t block_members_;
  NetcdfFile::Dimension member_{};
  // inputs, position, velocity, auxiliary, end time, measures, moves of the start; then log-densities
  std::vector<Reals> reals_;
  std::vector<Integers> integers_;  // member, steps, rejected, events, attempts
  std::vector<Bytes> bytes_;        // status, entered, redundant
  long long next_ = 0;              // next member
  std::size_t written_ = 0;         // members in the file
  std::size_t filled_ = 0;          // members in the block
};

// Members per block: a power of two.
std::size_t members_in_block(std::size_t numbers_per_member, long long members);

}  // namespace zwang
