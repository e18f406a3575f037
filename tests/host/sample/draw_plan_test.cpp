// Members drawn by the steps of a DrawPlan have the same bits as those drawn by the Sampler.
#include "host/sample/draw_plan.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "host/backend/batch.h"
#include "host/backend/device_sampling.h"
#include "host/sample/philox.h"
#include "host/study_file/load_study.h"
#include "tests/support/reduce_on_host.h"

namespace zwang::draw_plan_test {
namespace {

Study config(const std::string& name, const std::vector<std::string>& overrides = {}) {
  return load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/" + name + ".toml", overrides);
}

// A ball on a line with the given parameters, position and velocity.
Study ball(const std::string& parameters, const std::string& position = "0.5",
           const std::string& velocity = "1", const std::string& more = "") {
  return read_study("[parameters]\n" + parameters + "\n[[point]]\nname = \"ball\"\nmass = 1\nposition = [" +
                        position + "]\nvelocity = [" + velocity +
                        "]\n[[constraint]]\nname = \"floor\"\nrequire = \"ball.x >= 0\"\n[ensemble]\n" +
                        "members = 1000\nseed = 77\n" + more + "\n[time]\nend = 1\n",
                    "written.toml");
}

bool drawn_on_device(const Study& study) { return draw_plan(study, Sampler(study)).has_value(); }

void expect_same_draws(const Study& study, unsigned long long first, std::size_t count) {
  const Sampler sampler(study);
  const std::optional<DrawPlan> plan = draw_plan(study, sampler);
  ASSERT_TRUE(plan.has_value());
  std::vector<unsigned long long> numbers;
  for (std::size_t k = 0; k < count; ++k) numbers.push_back(first + k);
  const Batch expected = prepare_batch(study, sampler, numbers, 1);

  std::vector<double> parameters(expected.parameters.size()), starts(expected.starts.size());
  std::vector<int> prepared(count, -1);
  KernelBatch there{};
  there.count = static_cast<long long>(count);
  there.parameters = parameters.data();
  there.starts = starts.data();
  there.prepared = prepared.data();
  HostMachine machine;
  ASSERT_TRUE(draw_on_device(machine, *plan, there, static_cast<long long>(first)));
  const auto bits = [](const std::vector<double>& list) {
    std::vector<std::uint64_t> made;
    for (const double x : list) made.push_back(std::bit_cast<std::uint64_t>(x));
    return made;
  };
  EXPECT_EQ(bits(parameters), bits(expected.parameters));
  EXPECT_EQ(bits(starts), bits(expected.starts));
  EXPECT_EQ(prepared, std::vector<int>(count, static_cast<int>(Status::ok)));
}

TEST(DrawPlan, MakesTheGeneratorsBits) {
  for (const unsigned long long seed : {0ULL, 1ULL, 0x123456789abcdefULL})
    for (const unsigned long long number : {0ULL, 5ULL, 0xffffffffffULL})
      for (const unsigned name : {0U, 0xdeadbeefU}) {
        const DrawnWords found = philox_words(seed, number, name, 3);
        const PhiloxWords expected = philox(seed, number, name, 3);
        for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(found.word[k], expected[k]);
        EXPECT_EQ(drawn_uniform(seed, number, name), uniform_draw(seed, number, name, 0));
      }
}

TEST(DrawPlan, TakesLogarithmsAsTheLibraryDoes) {
  double worst = 0;
  for (double x = 0x1p-1060; x < 1e300; x *= 1.0000731 + (x > 0.4 && x < 2.5 ? 0 : 0.0123)) {
    const double expected = static_cast<double>(std::log(static_cast<long double>(x)));
    const double last_place = std::nextafter(std::abs(expected), 1e308) - std::abs(expected);
    worst = std::max(worst, std::abs(plain_log(x) - expected) / last_place);
  }
  EXPECT_LE(worst, 1);  // units in the last place
  EXPECT_EQ(plain_log(1), 0);
}

TEST(DrawPlan, DrawsTheSamplersBits) {
  expect_same_draws(config("impact_oscillator"), 0, 3000);
  expect_same_draws(config("impact_oscillator"), 99'999'744, 256);
  expect_same_draws(ball("a = { uniform = [0, 1] }\nb = { triangular = [-1, 0.25, 3] }\n"
                         "c = { choice = [1, 5, 2.5] }\nd = 0.1\ne = \"sin(d)*a + sqrt(abs(b))/c - a^2\"\n"
                         "f = \"min(a, b) + max(b, 0.5) - sign(b)*floor(3*a) + wrap(7*a, d)\"",
                         "0.5", "\"e - f\""),
                    17, 3000);
  expect_same_draws(ball("a = { triangular = [2, 2, 2] }\nb = { triangular = [0, 0, 1] }\n"
                         "c = { uniform = [-5, -5] }",
                         "\"2 + cos(0.3)\"", "{ uniform = [-1e-300, 1e300] }"),
                    0, 500);
  expect_same_draws(ball("a = { normal = { mean = 3, std = 0.2 } }", "0.5", "\"a\""), 0, 20'000);
  expect_same_draws(ball("a = 1"), 0, 10);
}

TEST(DrawPlan, LeavesToTheHostWhatMachinesRoundDifferently) {
  EXPECT_FALSE(drawn_on_device(ball("a = { lognormal = { mean = 0, std = 1 } }")));
  EXPECT_FALSE(drawn_on_device(ball("a = { exponential = { mean = 1 } }")));
  EXPECT_FALSE(drawn_on_device(ball("a = { uniform = [0, 1] }\nb = \"sin(a)\"")));
  EXPECT_FALSE(drawn_on_device(ball("a = { uniform = [0, 1] }\nb = \"a^3\"")));
}

TEST(DrawPlan, LeavesToTheHostWhatItDoesNotKnow) {
  EXPECT_FALSE(drawn_on_device(ball("a = { uniform = [0, 1] }", "0.5", "1", "sampler = \"sobol\"")));
  EXPECT_FALSE(drawn_on_device(ball("a = { uniform = [0, 1] }", "0.5", "1", "include_nominal = true")));
  EXPECT_FALSE(drawn_on_device(ball("a = { uniform = [0, 1] }\nb = { uniform = [\"a\", 2] }")));
  EXPECT_FALSE(drawn_on_device(ball("a = { grid = [0, 1, 1000] }")));
}

TEST(DrawPlan, LeavesToTheHostStartsThatDrawsMayPutOffTheirConditions) {
  EXPECT_FALSE(drawn_on_device(ball("a = { uniform = [-1, 1] }", "\"a\"")));
  EXPECT_FALSE(drawn_on_device(ball("a = { uniform = [0, 1] }", "-0.5")));  // every start is projected
  EXPECT_TRUE(drawn_on_device(ball("a = { uniform = [-1, 1] }", "0.5", "\"a\"")));
}

}  // namespace
}  // namespace zwang::draw_plan_test
