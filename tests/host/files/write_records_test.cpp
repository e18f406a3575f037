// records.nc has the same bytes however its members are passed on.
#include "host/files/write_records.h"

#include <gtest/gtest.h>

#include "host/backend/backend_reference.h"
#include "host/backend/batch.h"
#include "host/backend/member_bytes.h"
#include "host/sample/sampler.h"
#include "host/study_file/load_study.h"
#include "tests/support/scratch.h"

namespace zwang::write_records_test {
namespace {

// Two records with more rows and members than a chunk of the file has.
const std::string falling = R"toml(title = "f"
[[point]]
name = "p"
mass = 1
position = [{ uniform = [1, 2] }]
[[constraint]]
name = "floor"
require = "p.x >= 0"
restitution = 0.5
[system]
gravity = [-10]
[[record]]
name = "often"
every = 0.1
values = { x = "p.x", v = "p.x'" }
[[record]]
name = "shocks"
at = "shock(floor)"
values = { v = "p.x'" }
[time]
end = 1
samples = 2
[ensemble]
members = 5000
)toml";

TEST(WriteRecords, GivesTheSameBytesForAnyPieces) {
  const Scratch scratch;
  const Study study = read_study(falling, "f.toml");
  std::vector<unsigned long long> numbers(5000);
  for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = k;
  const Batch batch = prepare_batch(study, numbers, 1);
  BackendReference backend(study, 2);
  const BatchResults results = backend.run(batch, {});
  const MemberRecordLayout layout(study, Sampler(study).drawn());
  std::vector<char> records(batch.count * layout.bytes());
  layout.pack(batch, results, records.data(), 1);
  RunResult result;
  result.tally.members = 5000;
  const auto written = [&](std::size_t piece) {
    const std::filesystem::path path = scratch.path() / "records.nc";
    write_records(path, study, result, [&](const TakeMembers& take) {
      for (std::size_t first = 0; first < batch.count; first += piece) {
        const std::size_t count = std::min(piece, batch.count - first);
        take(static_cast<long long>(first),
             std::span(records).subspan(first * layout.bytes(), count * layout.bytes()));
      }
    });
    return read_text(path);
  };
  const std::string whole = written(5000);
  for (const std::size_t piece : {1250U, 1500U, 77U}) EXPECT_EQ(written(piece), whole) << piece;
}

}  // namespace
}  // namespace zwang::write_records_test
