// NetCDF files: same bytes for same calls, and failures of the disk.
#include "host/netcdf/netcdf_file.h"

#include <netcdf.h>
#include <sys/resource.h>

#include <cmath>
#include <functional>
#include <limits>

#include "host/platform/machine_error.h"
#include "tests/support/netcdf_reader.h"
#include "tests/support/scratch.h"

namespace zwang::netcdf_file_test {
namespace {

using Type = NetcdfFile::Type;

void write_sample(const std::filesystem::path& path) {
  NetcdfFile file(path);
  const NetcdfFile::Dimension row = file.dimension("row", 2), column = file.dimension("column", 3);
  const NetcdfFile::Dimension name = file.names("name", {"é", "two words"}, "names");
  const auto x = file.variable("x", Type::real, {.dimensions = {row, column}}, "numbers");
  const auto n =
      file.variable("n", Type::integer,
                    {.dimensions = {row}, .chunks = {2}, .deflate = true, .may_be_missing = true}, "counts");
  const auto flag = file.variable("flag", Type::byte, {.dimensions = {name}}, "flags");
  file.flags(flag, Type::byte, {"no", "yes"});
  file.attribute("study", std::string(200'000, 'x'));
  file.attribute("seed", ~0ULL);
  file.put(x, std::vector<double>{0.1, -2, 1e300, std::numeric_limits<double>::infinity(), std::nan(""), 0});
  file.put(n, {1}, {1}, std::vector<long long>{1LL << 60});
  file.put(flag, {0}, {2}, std::vector<signed char>{1, 0});
  file.close();
}

TEST(NetcdfFile, what_is_put_comes_back_and_what_is_not_put_is_missing) {
  const Scratch scratch;
  write_sample(scratch.path() / "a.nc");
  const NetcdfReader reader(scratch.path() / "a.nc");
  const std::vector<double> x = reader.numbers("x");
  ASSERT_EQ(x.size(), 6U);
  EXPECT_EQ(x[0], 0.1);
  EXPECT_EQ(x[2], 1e300);
  EXPECT_TRUE(std::isinf(x[3]));
  EXPECT_TRUE(std::isnan(x[4]));
  EXPECT_EQ(reader.integers("n"), (std::vector<long long>{-1, 1LL << 60}));
  EXPECT_EQ(reader.texts("name"), (std::vector<std::string>{"é", "two words"}));
  EXPECT_EQ(reader.attribute("", "study"), std::string(200'000, 'x'));
  EXPECT_EQ(reader.attribute("flag", "flag_meanings"), "no yes");
  EXPECT_EQ(reader.shape("x"), (std::vector<std::size_t>{2, 3}));
}

TEST(NetcdfFile, the_same_calls_give_the_same_bytes) {
  const Scratch scratch;
  write_sample(scratch.path() / "a.nc");
  ::sleep(1);  // a date in the file would differ now
  write_sample(scratch.path() / "b.nc");
  EXPECT_EQ(read_text(scratch.path() / "a.nc"), read_text(scratch.path() / "b.nc"));
}

TEST(NetcdfFile, a_dimension_of_nothing_is_there_and_empty) {
  const Scratch scratch;
  {
    NetcdfFile file(scratch.path() / "a.nc");
    const auto nothing = file.names("nothing", {}, "names of nothing");
    const auto x = file.variable("x", Type::real, {.dimensions = {nothing, file.dimension("row", 2)}}, "x");
    file.put(x, std::vector<double>{});
    file.close();
  }
  EXPECT_EQ(NetcdfReader(scratch.path() / "a.nc").shape("x"), (std::vector<std::size_t>{0, 2}));
}

TEST(NetcdfFile, a_folder_that_is_not_there_is_the_machines_trouble) {
  const std::string message = message_of<MachineError>([] { NetcdfFile file("/nowhere/at/all.nc"); });
  EXPECT_EQ(message.rfind("/nowhere/at/all.nc: error: the file could not be created", 0), 0U) << message;
  EXPECT_NE(message.find("No such file or directory"), std::string::npos) << message;
}

// A limit on the file size simulates a full disk: the same write fails, with EFBIG instead of ENOSPC.
void limit_files_to(rlim_t bytes) {
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{bytes, bytes};
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

// In a separate process, including everything that runs when a program ends.
std::string message_of_process(const std::filesystem::path& file, const std::function<void()>& work) {
  const std::filesystem::path note = file.string() + ".message";
  const pid_t process = start_process([&]() -> bool {
    write_text(note, "");
    const int descriptor = ::open(note.c_str(), O_WRONLY);
    const std::string message = message_of<MachineError>(work);
    const bool kept = ::write(descriptor, message.data(), message.size()) == ssize_t(message.size());
    std::exit(kept ? 0 : 1);
  });
  EXPECT_EQ(wait_for(process), 0);
  return read_text(note);
}

TEST(NetcdfFile, a_disk_that_takes_no_more_is_reported_and_the_program_ends_in_order) {
  const Scratch scratch;
  const std::filesystem::path path = scratch.path() / "a.nc";
  for (const bool chunked : {false, true}) {
    const std::string message = message_of_process(path, [&] {
      limit_files_to(1 << 20);
      NetcdfFile file(path);
      constexpr std::size_t block = 1 << 14;
      const auto row = file.dimension("row", chunked ? 0 : 64 * block);
      const NetcdfFile::Shape shape{.dimensions = {row},
                                    .chunks = chunked ? NetcdfFile::Place{block} : NetcdfFile::Place{},
                                    .deflate = false,
                                    .may_be_missing = false};
      const auto x = file.variable("x", Type::real, shape, "x");
      for (std::size_t k = 0; k < 64; ++k) file.put(x, {k * block}, {block}, std::vector<double>(block, 1.5));
      file.close();
    });
    EXPECT_NE(message.find("a.nc: error: the file could not be"), std::string::npos) << message;
    EXPECT_NE(message.find("File too large"), std::string::npos) << message;
  }
}

// So little data that all of it stays in the library's memory until the end.
TEST(NetcdfFile, a_disk_that_is_full_when_the_file_is_finished_is_reported_too) {
  const Scratch scratch;
  const std::filesystem::path path = scratch.path() / "a.nc";
  const std::string message = message_of_process(path, [&] {
    NetcdfFile file(path);
    const auto row = file.dimension("row", 1000);
    const auto x = file.variable("x", Type::real, {.dimensions = {row}, .chunks = {1000}}, "x");
    file.put(x, std::vector<double>(1000, 1.5));
    limit_files_to(4096);
    file.close();
  });
  EXPECT_NE(message.find("a.nc: error: the file could not be finished"), std::string::npos) << message;
  EXPECT_NE(message.find("File too large"), std::string::npos) << message;
}

}  // namespace
}  // namespace zwang::netcdf_file_test
