// Writes members.nc: inputs, end state and measures of every member, in blocks while the members arrive.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "host/backend/member_bytes.h"
#include "host/netcdf/hdf5_chunks.h"
#include "host/netcdf/netcdf_file.h"
#include "host/platform/private_files.h"
#include "host/run/run_result.h"
#include "host/sample/start_density.h"
#include "host/study/study.h"

namespace zwang {

// Collects blocks of members (at most 16384, and at most about 16 MiB) and writes each when it is full,
// independently of the batches: the file is the same for any batch size. Threads bring several blocks into
// the order of the file and compress them side by side; they are written one after the other.
class MembersWriter {
 public:
  // Of `origin`, only backend, device, precision and the names of the inputs are read, which are known before
  // the run. `layout`: of the records that will be added.
  MembersWriter(const std::filesystem::path& path, const Study& study, const RunResult& origin,
                MemberRecordLayout layout, unsigned threads);

  // Records of the members first, first + 1, ...; in ascending order from call to call.
  void add(long long first, std::span<const char> records);

  void close();

 private:
  using Type = NetcdfFile::Type;
  // What a variable holds of a member: consecutive numbers of its record, or something computed from it.
  enum class Content { numbers, member, density_change, density_start, density, status, entered, redundant };
  struct Column {
    Content content;
    Type type;
    NetcdfFile::Variable variable;
    int place;          // in the record, if the content is numbers
    std::size_t width;  // numbers per member
    bool flat;          // one-dimensional: (member), not (member, 1)
    bool deflate;
    std::size_t chunks = 0;  // of chunks_

    std::size_t number_bytes() const { return type == Type::byte ? 1 : 8; }
  };
  // Members of consecutive rows of the file that fill a block, or the last ones.
  struct Block {
    const char* records;
    std::size_t count;
    std::size_t row;  // of the file
  };
  // Rows from here on have consecutive numbers, up to the next run.
  struct NumberRun {
    std::size_t row;
    long long first;
  };

  long long number_of(std::size_t row) const;
  void define(const Study& study, const RunResult& origin);
  void define_density(const Study& study);
  Column& column(const char* name, Type type, Content content, int place,
                 const std::optional<NetcdfFile::Dimension>& second, const char* long_name, bool deflate);
  void write_blocks(std::span<const Block> blocks);
  std::vector<char> chunk_of(const Column& column, const Block& block) const;
  void fill_density(Content content, const Block& block, std::vector<char>& chunk) const;
  void put(const Column& column, const Block& block, const std::vector<char>& chunk);

  std::optional<NetcdfFile> file_;    // until the definitions are complete, or for everything
  std::optional<Hdf5Chunks> chunks_;  // afterwards, if available
  std::filesystem::path path_;
  OpenFile disk_;
  MemberRecordLayout layout_;
  std::size_t coordinates_;
  EnsembleSettings ensemble_;
  std::optional<std::size_t> density_;         // index of the auxiliary of logdensity()
  std::optional<StartDensity> start_density_;  // if there is one
  unsigned threads_;
  std::size_t block_members_;
  NetcdfFile::Dimension member_{};
  std::vector<Column> columns_;
  std::vector<char> open_;          // records of the members after the last whole block
  std::vector<NumberRun> numbers_;  // of all members added
  std::size_t added_ = 0;           // members
  std::size_t written_ = 0;         // of these, in the file
};

// Members per block: a power of two.
std::size_t members_in_block(std::size_t numbers_per_member, long long members);

}  // namespace zwang
