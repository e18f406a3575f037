// Malicious records: their checksums are right, but their contents are impossible.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <sstream>

#include "host/backend/backend_reference.h"
#include "host/backend/batch.h"
#include "host/files/trajectory_bytes.h"
#include "host/results/run_files.h"
#include "host/statistics/plan.h"
#include "host/study_file/load_study.h"
#include "tests/support/run_fixture.h"
#include "tests/support/scratch.h"

namespace zwang::hostile_record_test {
namespace {

long peak_memory_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(HostileBytes, ALengthThatIsALieTakesNoMemory) {
  std::ostringstream written;
  ByteWriter(written).number(std::uint64_t{1} << 31);
  const std::string bytes = written.str() + std::string(100, 'x');
  const long before = peak_memory_kib();
  for (const bool text : {false, true}) {
    std::istringstream stream(bytes);
    ByteReader reader(stream, "a record");
    std::vector<double> numbers;
    const auto read = [&] {
      if (text)
        reader.text(std::uint64_t{1} << 32);
      else
        reader.numbers(numbers, std::uint64_t{1} << 32);
    };
    EXPECT_NE(message_of<Error>(read).find("an early end"), std::string::npos);
  }
  EXPECT_LT(peak_memory_kib() - before, 64 * 1024) << "kibibytes for a hundred bytes";
}

TEST(HostileBytes, AWrongChecksumIsNamedWithItsPlace) {
  std::ostringstream written;
  ByteWriter writer(written);
  writer.number(7.0);
  writer.finish();
  std::string bytes = written.str();
  bytes[0] ^= 1;
  std::istringstream stream(bytes);
  ByteReader reader(stream, "a record");
  reader.number<double>();
  EXPECT_NE(message_of<Error>([&] { reader.finish(); }).find("at byte 8"), std::string::npos);
}

TEST(HostilePlan, StatisticsWithoutMemoryHaveAnEnd) {
  StatisticsPlan plan;
  plan.members = 1'000'000'000'000;
  plan.measures = 3;
  plan.memory = 0;
  EXPECT_GE(choose_storage(plan).stride, plan.members);
}

// A run of forty members recorded as a finished part, with one change before it is written.
class HostileRecord : public ::testing::Test {
 protected:
  HostileRecord() : backend_(study_, 1), run_(study_, backend_, {.threads = 1}) {
    while (!run_.done()) run_.advance();
    record_.identity = run_identity(study_, run_.origin(), memory, {});
    record_.part = run_.part();
  }
  // Message of reading the record; "" if it is accepted.
  std::string refusal() const {
    const std::filesystem::path path = scratch_.path() / "record";
    write_record(path, record_, run_.statistics());
    return message_of<Error>([&] {
      RecordReader reader(path, "checkpoint", "");
      reader.statistics(run_.plan());
    });
  }
  static bool is_clean(const std::string& message) {
    return std::none_of(message.begin(), message.end(),
                        [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n'; });
  }

  static constexpr std::size_t memory = std::size_t{512} << 20;
  Scratch scratch_;
  Study study_ = read_study(thrown_ball, "ball.toml", {"ensemble.members=40"});
  BackendReference backend_;
  EnsembleRun run_;
  RunRecord record_;
};

TEST_F(HostileRecord, IsTakenWhereNothingWasChanged) { EXPECT_EQ(refusal(), ""); }

TEST_F(HostileRecord, CountsThatMembersCannotHaveAreRefused) {
  const RunTally good = record_.part.tally;
  const std::vector<std::function<void(RunTally&)>> changes = {
      [](RunTally& tally) { ++tally.members; },
      [](RunTally& tally) { ++tally.failed; },
      [](RunTally& tally) { --tally.entered; },
      [](RunTally& tally) { tally.status[0] = -1; },
      [](RunTally& tally) { tally.steps = std::numeric_limits<long long>::max(); },
      [](RunTally& tally) { tally.examples[3] = {40}; },
      [](RunTally& tally) { tally.events[1] = std::numeric_limits<long long>::min(); }};
  for (std::size_t k = 0; k < changes.size(); ++k) {
    record_.part.tally = good;
    changes[k](record_.part.tally);
    EXPECT_NE(refusal().find("damaged"), std::string::npos) << "change " << k;
  }
}

TEST_F(HostileRecord, WordsDoNotSteerATerminal) {
  record_.identity.facts.emplace_back("device", "\x1b]0;a title\x07");
  const std::string message = refusal();
  EXPECT_NE(message.find("damaged"), std::string::npos) << message;
  EXPECT_TRUE(is_clean(message)) << message;

  RunIdentity other = record_.identity;
  for (auto& [name, value] : other.facts)
    if (name == "study") value = "\x1b[2J" + value;
  const auto found = difference(other, run_identity(study_, run_.origin(), memory, {}));
  ASSERT_TRUE(found);
  EXPECT_TRUE(is_clean(found->found)) << found->found;
}

TEST_F(HostileRecord, TrajectoriesOfAnotherStudyAreNotTakenForOurs) {
  const std::vector<unsigned long long> members = {0, 1};
  const Batch batch = prepare_batch(study_, members, 1);
  const BatchResults good = backend_.run(batch, {.observables = true, .states = true, .events = true});
  EXPECT_TRUE(are_of_study(good, study_));
  const std::vector<std::function<void(BatchResults&)>> changes = {
      [](BatchResults& results) { results.states.pop_back(); },
      [](BatchResults& results) { results.observables.push_back(0); },
      [](BatchResults& results) { results.events[1].push_back({.constraints = {1}}); },
      [](BatchResults& results) { results.events[0].push_back({.reached = {9}}); },
      [](BatchResults& results) { results.events[0].push_back({.kind = EventKind::event, .watch = 0}); },
      [](BatchResults& results) { results.events[0].push_back({.velocities_jump = true}); }};
  for (std::size_t k = 0; k < changes.size(); ++k) {
    BatchResults changed = good;
    changes[k](changed);
    EXPECT_FALSE(are_of_study(changed, study_)) << "change " << k;
  }
}

TEST(HostileMembers, AStatusThatDoesNotExistIsDamage) {
  const Scratch scratch;
  const Study study = read_study(thrown_ball, "ball.toml");
  const std::vector<unsigned long long> numbers = {0, 1, 2};
  const Batch batch = prepare_batch(study, numbers, 1);
  BackendReference backend(study, 1);
  BatchResults results = backend.run(batch, {});
  const MemberRecordLayout layout(study, Sampler(study).drawn());
  const auto can_be_read = [&] {
    MemberRecordsFile file(scratch.path() / "members", layout, {});
    std::vector<char> records(batch.count * layout.bytes());
    layout.pack(batch, results, records.data(), 1);
    file.append({records.data(), records.size()});
    file.write_out();
    return read_members(scratch.path() / "members", layout, file.mark(), {{0, 3}}, [](auto&&...) {});
  };
  EXPECT_TRUE(can_be_read());
  results.status[2] = static_cast<Status>(77);
  EXPECT_FALSE(can_be_read());
}

}  // namespace
}  // namespace zwang::hostile_record_test
