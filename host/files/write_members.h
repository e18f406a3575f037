// members.nc: every member's inputs, end and measures, written as the members come.
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

// Holds one block of members (at most 16384, and at most about 16 MiB) and writes it when it is full, whatever the
// batches: the file is the same for any of them.
class MembersWriter {
 public:
  // Of `origin`, only what is known before the run is read: backend, device, precision and the names of the inputs.
  // drawn: the parameter behind each input, as Sampler::drawn().
  MembersWriter(const std::filesystem::path& path, const Study& study, const RunResult& origin,
                std::vector<std::size_t> drawn);

  // Members first, first + 1, ...: each batch begins where the last one ended.
  void add(long long first, const Batch& batch, const BatchResults& results);

  void close();

 private:
  // One variable of the file and the block of it that is being filled.
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
  std::optional<std::size_t> density_;         // the auxiliary behind logdensity()
  std::optional<StartDensity> start_density_;  // where there is one
  std::size_t block_members_;
  NetcdfFile::Dimension member_{};
  // inputs, position, velocity, auxiliary, end time, measures, moves of the start; then log-densities
  std::vector<Reals> reals_;
  std::vector<Integers> integers_;  // member, steps, rejected, events, attempts
  std::vector<Bytes> bytes_;        // status, entered, redundant
  long long next_ = 0;              // member expected
  std::size_t written_ = 0;         // members in the file
  std::size_t filled_ = 0;          // members in the block
};

// How many members a block holds: a power of two.
std::size_t members_in_block(std::size_t numbers_per_member, long long members);

}  // namespace zwang
