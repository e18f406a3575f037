// statistics.nc, members.nc, trajectories.nc and summary.json of a small run, read back.
#include <bit>
#include <nlohmann/json.hpp>

#include "host/files/write_members.h"
#include "host/files/write_statistics.h"
#include "host/files/write_summary.h"
#include "host/files/write_trajectories.h"
#include "host/sample/member.h"
#include "host/study_file/write_study.h"
#include "tests/support/netcdf_reader.h"
#include "tests/support/result_files_fixture.h"

namespace zwang::write_results_test {
namespace {

using Shape = std::vector<std::size_t>;
using Texts = std::vector<std::string>;

// Rows of some members of a batch.
template <class Number>
std::vector<Number> rows_of(const std::vector<Number>& all, std::size_t count, std::size_t first,
                            std::size_t rows) {
  const std::size_t width = all.size() / count;
  return {all.begin() + static_cast<std::ptrdiff_t>(first * width),
          all.begin() + static_cast<std::ptrdiff_t>((first + rows) * width)};
}

void write_members_in_batches(const std::filesystem::path& path, const SmallRun& small, std::size_t size,
                              unsigned threads = 1) {
  const MemberRecordLayout layout(small.study, small.drawn);
  const std::size_t count = small.batch.count;
  std::vector<char> records(count * layout.bytes());
  layout.pack(small.batch, small.results, records.data(), 1);
  MembersWriter writer(path, small.study, small.run, layout, threads);
  for (std::size_t first = 0; first < count; first += size) {
    const std::size_t rows = std::min(size, count - first);
    writer.add(static_cast<long long>(first),
               std::span(records).subspan(first * layout.bytes(), rows * layout.bytes()));
  }
  writer.close();
}

void write_chosen(const std::filesystem::path& path, const SmallRun& small,
                  const std::vector<long long>& members) {
  const std::size_t count = small.batch.count;
  BatchResults chosen;
  for (const long long member : members) {
    const auto append = [&](const auto& from, auto& to) {
      const auto rows = rows_of(from, count, static_cast<std::size_t>(member), 1);
      to.insert(to.end(), rows.begin(), rows.end());
    };
    append(small.results.status, chosen.status);
    append(small.results.end_time, chosen.end_time);
    append(small.results.states, chosen.states);
    append(small.results.observables, chosen.observables);
    append(small.results.events, chosen.events);
  }
  write_trajectories(path, small.study, small.run, members, chosen);
}

// NaN equals NaN; every other number must have the same bits.
void expect_same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_TRUE(std::isnan(a[i]) ? std::isnan(b[i])
                                 : std::bit_cast<std::uint64_t>(a[i]) == std::bit_cast<std::uint64_t>(b[i]))
        << i << ": " << a[i] << ", " << b[i];
}

class ResultFiles : public testing::Test {
 protected:
  static const SmallRun& ball() {
    static const SmallRun made = small_run(ball_study);
    return made;
  }
  const Scratch scratch;
  const std::filesystem::path path = scratch.path() / "file.nc";
};

TEST_F(ResultFiles, statistics_stand_by_observable_and_time) {
  write_statistics(path, ball().study, ball().run);
  const NetcdfReader file(path);
  EXPECT_EQ(file.texts("observable"), (Texts{"height", "flying"}));
  EXPECT_EQ(file.texts("variable"), (Texts{"bounces", "first_bounce", "highest", "kick", "ball.y"}));
  EXPECT_EQ(file.shape("mean"), (Shape{2, 9}));
  EXPECT_EQ(file.shape("quantiles"), (Shape{2, 9, 3}));
  const StatisticsResult& statistics = ball().run.statistics;
  std::vector<double> mean, high;
  std::vector<long long> count;
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t t = 0; t < 9; ++t) {
      const SeriesStatistics& series = statistics.observables[t * 2 + i];
      mean.push_back(series.moments.mean);
      count.push_back(series.moments.count);
      for (const Quantile& quantile : series.quantiles) high.push_back(quantile.high);
    }
  expect_same_bits(file.numbers("mean"), mean);
  expect_same_bits(file.numbers("quantiles_high"), high);
  EXPECT_EQ(file.integers("count"), count);
  // Members that met the stop condition are not counted afterwards.
  EXPECT_EQ(count.front(), 39);
  EXPECT_LT(count[8], 39);
  EXPECT_EQ(file.attribute("", "study"), ball_study);
  EXPECT_EQ(file.attribute("", "study_as_run"), study_as_run(ball().study));
  EXPECT_EQ(file.attribute("mean", "cell_methods"), "realization: mean");
  EXPECT_EQ(file.attribute("quantiles", "method"), "exact");
}

TEST_F(ResultFiles, histograms_stand_where_they_were_asked_for_and_are_missing_elsewhere) {
  write_statistics(path, ball().study, ball().run);
  const NetcdfReader file(path);
  ASSERT_EQ(file.shape("histogram"), (Shape{2, 9, 7}));
  ASSERT_EQ(file.shape("measure_histogram"), (Shape{3, 7}));
  const HistogramResult& height = ball().run.statistics.histograms[0];
  const HistogramResult& bounces = ball().run.statistics.histograms[1];
  const std::vector<long long> counts = file.integers("histogram"),
                               measured = file.integers("measure_histogram");
  for (std::size_t t = 0; t < 9; ++t)
    for (std::size_t bin = 0; bin < 7; ++bin) {
      EXPECT_EQ(counts[t * 7 + bin], height.counts[t][bin]);
      EXPECT_EQ(counts[(9 + t) * 7 + bin], -1);
    }
  for (std::size_t bin = 0; bin < 7; ++bin) {
    EXPECT_EQ(measured[bin], bin < 4 ? bounces.counts[0][bin] : -1);
    EXPECT_EQ(measured[7 + bin], -1);
  }
  const std::vector<double> edges = file.numbers("measure_histogram_edges");
  EXPECT_EQ(std::vector<double>(edges.begin(), edges.begin() + 5), bounces.edges);
  EXPECT_TRUE(std::isnan(edges[5]));
}

TEST_F(ResultFiles, a_study_that_observes_nothing_has_files_all_the_same) {
  const SmallRun bare = small_run(R"([[point]]
name = "ball"
mass = 1
position = [0]
velocity = [1]
[time]
end = 1
)");
  write_statistics(path, bare.study, bare.run);
  EXPECT_EQ(NetcdfReader(path).shape("mean"), (Shape{0, 101}));
  EXPECT_EQ(NetcdfReader(path).shape("covariance"), (Shape{0, 0}));
  write_members_in_batches(path, bare, 1);
  EXPECT_EQ(NetcdfReader(path).shape("measures"), (Shape{1, 0}));
  EXPECT_NEAR(NetcdfReader(path).numbers("final_position").at(0), 1, 1e-14);
  write_chosen(path, bare, {0});
  EXPECT_EQ(NetcdfReader(path).shape("position"), (Shape{1, 101, 1}));
  EXPECT_EQ(NetcdfReader(path).shape("event_time"), Shape{0});
  const auto json = nlohmann::json::parse(summary_json(bare.study, bare.run));
  EXPECT_TRUE(json["observables"].empty());
  EXPECT_EQ(json["covariance"]["matrix"].size(), 0U);
}

TEST_F(ResultFiles, members_have_their_inputs_ends_and_measures) {
  write_members_in_batches(path, ball(), 40);
  const NetcdfReader file(path);
  EXPECT_EQ(file.texts("input"), (Texts{"kick", "ball.y"}));
  EXPECT_EQ(file.texts("coordinate"), (Texts{"ball.x", "ball.y"}));
  expect_same_bits(file.numbers("measures"), ball().results.measures);
  expect_same_bits(file.numbers("end_time"), ball().results.end_time);
  EXPECT_EQ(file.integers("steps"), ball().results.steps);
  EXPECT_EQ(file.integers("events"), ball().results.event_counts);
  EXPECT_EQ(file.attribute("status", "flag_meanings").rfind("ok stopped step_limit", 0), 0U);
  const std::vector<double> inputs = file.numbers("inputs"), position = file.numbers("final_position"),
                            velocity = file.numbers("final_velocity"),
                            clock = file.numbers("final_auxiliary");
  const std::vector<long long> status = file.integers("status"), entered = file.integers("entered");
  for (std::size_t k = 0; k < 40; ++k) {
    const PreparedMember member = prepare_member(ball().study, k);
    EXPECT_EQ(inputs[2 * k], member.inputs.parameters[ball().drawn[0]]);
    EXPECT_EQ(inputs[2 * k + 1], member.inputs.start.q(1));
    EXPECT_EQ(position[2 * k + 1], ball().results.end_state[5 * k + 1]);
    EXPECT_EQ(velocity[2 * k], ball().results.end_state[5 * k + 2]);
    EXPECT_EQ(clock[k], ball().results.end_state[5 * k + 4]);
    EXPECT_EQ(status[k], static_cast<long long>(ball().results.status[k]));
    EXPECT_EQ(entered[k], k == 0 ? 0 : 1);
  }
}

TEST_F(ResultFiles, members_are_the_same_bytes_for_any_batches) {
  // 40 members would form one block; a larger nominal ensemble gives several blocks.
  SmallRun several = small_run(ball_study);
  several.study.ensemble.members = 4;
  write_members_in_batches(path, several, 40);
  const std::string whole = read_text(path);
  for (const std::size_t size : {1U, 3U, 7U, 39U}) {
    write_members_in_batches(path, several, size);
    EXPECT_EQ(read_text(path), whole) << "batches of " << size;
  }
}

TEST(MembersInBlock, blocks_are_small_for_small_ensembles_and_bounded_for_wide_systems) {
  EXPECT_EQ(members_in_block(30, 1), 1U);
  EXPECT_EQ(members_in_block(30, 1000), 1024U);
  EXPECT_EQ(members_in_block(30, 1'000'000'000), 16384U);
  EXPECT_EQ(members_in_block(100'000, 1'000'000), 16U);
  EXPECT_EQ(members_in_block(1'000'000'000, 1'000'000), 1U);
}

TEST_F(ResultFiles, trajectories_have_states_and_events_of_the_members_chosen) {
  const std::vector<long long> chosen = {0, 3, 1};
  write_chosen(path, ball(), chosen);
  const NetcdfReader file(path);
  EXPECT_EQ(file.integers("trajectory"), chosen);
  EXPECT_EQ(file.shape("position"), (Shape{3, 9, 2}));
  const std::vector<double> y = file.numbers("position"), clock = file.numbers("auxiliaries"),
                            height = file.numbers("observables");
  const std::vector<long long> closed = file.integers("closed");
  // A row is (q, v, z, multipliers, closed) = 2 + 2 + 1 + 1 + 1 numbers.
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t t = 0; t < 9; ++t) {
      const double* row = ball().results.states.data() + (static_cast<std::size_t>(chosen[c]) * 9 + t) * 7;
      const std::size_t at = c * 9 + t;
      if (std::isnan(row[0])) {
        EXPECT_TRUE(std::isnan(y[2 * at + 1]));
        EXPECT_EQ(closed[at], -1);
        continue;
      }
      EXPECT_EQ(y[2 * at + 1], row[1]);
      EXPECT_EQ(clock[at], row[4]);
      EXPECT_EQ(height[2 * at], row[1]);
      EXPECT_EQ(closed[at], static_cast<long long>(row[6]));
    }
}

TEST_F(ResultFiles, events_stand_member_by_member_with_impulses_where_velocities_jump) {
  const std::vector<long long> chosen = {0, 3, 1};
  write_chosen(path, ball(), chosen);
  const NetcdfReader file(path);
  const std::vector<double> time = file.numbers("event_time"), impulse = file.numbers("event_impulse"),
                            lost = file.numbers("event_energy_lost"),
                            before = file.numbers("event_velocity_before");
  const std::vector<long long> owner = file.integers("event_trajectory"), kind = file.integers("event_kind");
  const Texts names = file.texts("event_name"), constraints = file.texts("event_constraints");
  std::size_t at = 0, shocks = 0;
  for (std::size_t c = 0; c < 3; ++c)
    for (const Event& event : ball().results.events[static_cast<std::size_t>(chosen[c])]) {
      ASSERT_LT(at, time.size());
      EXPECT_EQ(owner[at], static_cast<long long>(c));
      EXPECT_EQ(time[at], event.t);
      EXPECT_EQ(kind[at], static_cast<long long>(event.kind));
      EXPECT_EQ(names[at], event.kind == EventKind::event ? "gate" : "");
      if (event.kind == EventKind::shock) {
        ++shocks;
        EXPECT_EQ(constraints[at], "floor");
        EXPECT_EQ(impulse[at], event.impulses[0]);
        EXPECT_EQ(lost[at], event.energy_lost);
        EXPECT_EQ(before[2 * at + 1], event.velocity_before(1));
      } else {
        EXPECT_TRUE(std::isnan(impulse[at]));
        EXPECT_TRUE(std::isnan(lost[at]));
      }
      ++at;
    }
  EXPECT_EQ(at, time.size());
  EXPECT_GT(shocks, 0U);
}

TEST_F(ResultFiles, the_summary_has_the_keys_of_the_contract_in_their_order) {
  const auto json = nlohmann::ordered_json::parse(summary_json(ball().study, ball().run));
  Texts keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_EQ(keys, (Texts{"schema_version", "study",
                         "title",          "version",
                         "seed",           "backend",
                         "members",        "events",
                         "audit",          "time",
                         "observables",    "measures",
                         "inputs",         "quantile_method",
                         "covariance",     "rank_correlation",
                         "first_order",    "sensitivity",
                         "given",          "formulas",
                         "units",          "performance"}));
  EXPECT_EQ(json["title"], "A ball, \"dropped\"");
  EXPECT_EQ(json["members"]["requested"], 40);
  EXPECT_EQ(json["members"]["integrated"], 40);
  EXPECT_EQ(json["members"]["entered"], 39);
  EXPECT_EQ(json["members"]["nominal"], 0);
  EXPECT_TRUE(json["members"]["until"].is_null());
  const long long ok = json["members"]["status"]["ok"], stopped = json["members"]["status"]["stopped"];
  EXPECT_EQ(ok + stopped, 40);
  EXPECT_EQ(json["time"].size(), 9U);
  EXPECT_EQ(json["observables"]["height"]["mean"].size(), 9U);
  EXPECT_EQ(json["observables"]["height"]["quantiles"]["0.975"].size(), 9U);
  EXPECT_EQ(json["observables"]["height"]["count"][0], 39);
  const auto& bounce = json["measures"]["first_bounce"];
  EXPECT_EQ(bounce["count"].get<int>() + bounce["missing"].get<int>(), 39);
  EXPECT_GT(bounce["missing"].get<int>(), 0);
  EXPECT_EQ(bounce["mean"].get<double>(), ball().run.statistics.measures[1].moments.mean);
  EXPECT_EQ(json["covariance"]["names"], (Texts{"bounces", "first_bounce", "highest", "kick", "ball.y"}));
  EXPECT_EQ(json["covariance"]["matrix"][2][3].get<double>(), ball().run.statistics.covariance[2 * 5 + 3]);
  // 39 members are too few for an upper end of the 0.975 quantile: a number that does not exist is null.
  EXPECT_TRUE(json["measures"]["highest"]["quantiles_high"]["0.975"].is_null());
}

// All members as trajectories, so that xarray and NumPy can also check the statistics over time.
TEST_F(ResultFiles, xarray_opens_them_and_numpy_finds_the_same_statistics) {
  if (std::string(ZWANG_PYTHON).empty()) GTEST_SKIP() << "no Python with xarray and netCDF4";
  std::vector<long long> all(40);
  std::iota(all.begin(), all.end(), 0);
  std::string list;
  for (const long long member : all) list += std::to_string(member) + ",";
  const SmallRun small = small_run(ball_study, "ball.toml", {"output.trajectories=[" + list + "]"});
  write_statistics(scratch.path() / "statistics.nc", small.study, small.run);
  write_members_in_batches(scratch.path() / "members.nc", small, 16);
  write_chosen(scratch.path() / "trajectories.nc", small, all);
  write_text(scratch.path() / "summary.json", summary_json(small.study, small.run));
  write_text(scratch.path() / "study.toml", study_as_run(small.study));
  const std::string command = std::string(ZWANG_PYTHON) + " '" + ZWANG_SOURCE_DIR +
                              "/tests/python/check_results.py' '" + scratch.path().string() + "'";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;

  // The checker must also be able to fail.
  RunResult wrong = small.run;
  wrong.statistics.measures[2].moments.mean *= 1 + 1e-11;
  write_statistics(scratch.path() / "statistics.nc", small.study, wrong);
  write_text(scratch.path() / "summary.json", summary_json(small.study, wrong));
  EXPECT_NE(std::system((command + " > /dev/null").c_str()), 0);
}

}  // namespace
}  // namespace zwang::write_results_test
