// Plain events (kernels/plain.h) and the general way (kernels/happen.h) are two ways to one answer: programs that know only
// the general way give the same members, and events that are not plain are left to it.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "host/backend_cpu.h"
#include "host/batch.h"
#include "host/study.h"

namespace zwang {
namespace {

struct Ways {
  BatchResults plain, general;
};

void replace(KernelProgram& program, const std::string& text, const std::string& by) {
  std::string& source = program.text.sources.at("kernels/plain.h");
  const std::size_t place = source.find(text);
  ASSERT_NE(place, std::string::npos) << text;
  source.replace(place, text.size(), by);
}

Ways both_ways(const Study& study, std::size_t count) {
  std::vector<unsigned long long> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0ULL);
  const Batch batch = prepare_batch(study, numbers, 2);
  KernelProgram program = cpu_program(study, LaneChoice::best);
  BackendCpu plain(study, program, *HostCompiler::find(), 2);
  replace(program, "if constexpr (Plain<M>::possible) {", "if constexpr (false) {");
  BackendCpu general(study, program, *HostCompiler::find(), 2);
  Wanted wanted;
  wanted.events = true;
  return {plain.run(batch, wanted), general.run(batch, wanted)};
}

// Events of the same kinds about the same conditions, at the same times and with the same impulses to rounding.
void expect_same_events(const MemberEvents& a, const MemberEvents& b, std::size_t member) {
  ASSERT_EQ(a.size(), b.size()) << "member " << member;
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].kind, b[i].kind) << "member " << member << ", event " << i;
    EXPECT_EQ(a[i].constraints, b[i].constraints) << "member " << member << ", event " << i;
    EXPECT_NEAR(a[i].t, b[i].t, 1e-9) << "member " << member << ", event " << i;
    EXPECT_NEAR(a[i].energy_lost, b[i].energy_lost, 1e-8) << "member " << member << ", event " << i;
  }
}

class PlainEvents : public testing::TestWithParam<std::string> {};

TEST_P(PlainEvents, AreWhatTheGeneralWayGives) {
  const Study study = load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/" + GetParam() + ".toml");
  const std::size_t count = 24;
  const Ways ways = both_ways(study, count);
  EXPECT_EQ(ways.plain.status, ways.general.status);
  long long happened = 0;
  for (std::size_t m = 0; m < count; ++m) {
    expect_same_events(ways.plain.events.at(m), ways.general.events.at(m), m);
    happened += static_cast<long long>(ways.plain.events.at(m).size());
  }
  EXPECT_GT(happened, 0) << "a study in which nothing happens proves nothing";
}

// Strings that go slack and taut, hops off a moving floor, a rebound, several bodies, equations beside inequalities.
INSTANTIATE_TEST_SUITE_P(Configs, PlainEvents,
                         testing::Values("string_pendulum", "bouncing_ball", "slung_load", "three_balls",
                                         "shaken_table", "crane_slings"),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace zwang
