// The file of member records: what is kept in memory and when it is written.
#include "host/files/member_records.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "host/backend/member_bytes.h"
#include "host/sample/sampler.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"
#include "tests/support/scratch.h"

namespace zwang::member_records_test {
namespace {

constexpr const char* falling = R"(
[[coordinate]]
name = "x"
position = 0
velocity = 1
[system]
kinetic = "0.5*x'^2"
[time]
end = 1
samples = 2
)";

class MemberRecords : public testing::Test {
 protected:
  std::string on_disk() const {
    std::ifstream stream(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  Scratch scratch_;
  std::filesystem::path path_ = scratch_.path() / "members";
  Study study_ = read_study(falling, "falling.toml");
  MemberRecordLayout layout_{study_, Sampler(study_).drawn()};
};

TEST_F(MemberRecords, StayInMemoryUntilTheyAreWrittenOut) {
  MemberRecordsFile file(path_, layout_, {});
  file.append("first ");
  file.append("second ");
  EXPECT_EQ(file.mark().bytes, 13U);
  EXPECT_EQ(on_disk(), "");
  file.write_out();
  EXPECT_EQ(on_disk(), "first second ");
  file.append("third");
  EXPECT_EQ(on_disk(), "first second third");
  file.write_out();
  EXPECT_EQ(on_disk(), "first second third");
}

TEST_F(MemberRecords, ThatDoNotFitAreWrittenInOrder) {
  const std::string large(std::size_t{513} << 20, 'x');
  MemberRecordsFile file(path_, layout_, {});
  file.append("first ");
  file.append(large);
  EXPECT_EQ(std::filesystem::file_size(path_), 6 + large.size());
  file.append(" last");
  EXPECT_TRUE(on_disk() == "first " + large + " last");
}

TEST_F(MemberRecords, OfACheckpointAreContinuedAtItsMark) {
  MemberRecordsMark mark;
  {
    MemberRecordsFile file(path_, layout_, {});
    file.append("kept ");
    file.sync();
    mark = file.mark();
    file.append("lost ");
  }
  MemberRecordsFile file(path_, layout_, mark);
  file.append("new");
  file.write_out();
  EXPECT_EQ(on_disk(), "kept new");
  EXPECT_EQ(file.mark().bytes, 8U);
}

}  // namespace
}  // namespace zwang::member_records_test
