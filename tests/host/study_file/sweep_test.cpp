// Sweeps and records in study files: what is read, and what is refused.
#include <gtest/gtest.h>

#include <cmath>

#include "host/sample/sample.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"
#include "host/study_file/write_study.h"
#include "src/base/error.h"
#include "src/system/system.h"

namespace zwang::sweep_test {
namespace {

// A driven oscillator with a stop; `more` is added at the end, `parameters` to [parameters].
std::string swept_oscillator(const std::string& parameters, const std::string& more = "") {
  return "title = \"t\"\n[parameters]\n" + parameters + R"toml(
[[coordinate]]
name = "x"
position = 0.5
[system]
kinetic = "0.5*x'^2"
potential = "0.5*x^2"
[[constraint]]
name = "wall"
require = "x <= 1"
restitution = 0.5
[time]
end = 1
samples = 3
)toml" + more;
}

Study swept(const std::string& parameters, const std::string& more = "",
            const std::vector<std::string>& overrides = {}) {
  return read_study(swept_oscillator(parameters, more), "s.toml", overrides);
}

// The first message of the errors in a study; "" if there are none.
std::string sweep_refusal(const std::string& parameters, const std::string& more = "",
                          const std::vector<std::string>& overrides = {}) {
  try {
    swept(parameters, more, overrides);
  } catch (const Error& error) {
    return error.problems().front().message;
  }
  return "";
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(SweepTest, HasExactEndsAndTheValuesThatOneWouldWrite) {
  const Study linear = swept("c = { sweep = [0.6, 0.95, 8] }");
  const std::vector<double> expected = {0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95};
  EXPECT_EQ(linear.sweeps.at(0).values, expected);
  const Study log = swept("c = { sweep = { from = 0.1, to = 10, count = 5, scale = \"log\" } }");
  for (int i = 0; i < 5; ++i)
    EXPECT_NEAR(log.sweeps[0].values[static_cast<std::size_t>(i)] / std::pow(10.0, -1 + i / 2.0), 1, 1e-15);
  EXPECT_EQ(log.sweeps[0].values.front(), 0.1);
  EXPECT_EQ(log.sweeps[0].values.back(), 10);
  EXPECT_EQ(swept("c = { sweep = { values = [1, 2, 5] } }").sweeps[0].values, (std::vector<double>{1, 2, 5}));
}

TEST(SweepTest, CombinesAllSweepsWithTheFirstSlowest) {
  const Study study = swept("a = { sweep = { values = [1, 2] } }\nb = { sweep = { values = [3, 4, 5] } }",
                            "[ensemble]\nmembers_per_point = 2\n");
  EXPECT_EQ(study.ensemble.points(), 6);
  EXPECT_EQ(study.ensemble.members, 12);
  for (unsigned long long member = 0; member < 12; ++member) {
    const std::vector<double> parameters = draw_member(study, member).parameters;
    EXPECT_EQ(parameters[0], 1 + static_cast<double>(member / 6));
    EXPECT_EQ(parameters[1], 3 + static_cast<double>(member / 2 % 3));
  }
}

TEST(SweepTest, HasTheRowsOfSensitivityAtEachPoint) {
  const std::string parameters =
      "c = { sweep = { values = [1, 2, 5] } }\na = { uniform = [0, 1] }\nb = { uniform = [0, 1] }";
  const std::string sensitivity = "[measure]\nend = \"final(x)\"\n[sensitivity]\nbase = 100\n";
  const Study study = swept(parameters, sensitivity);
  EXPECT_EQ(study.ensemble.members_per_point, 100);
  EXPECT_EQ(study.ensemble.members, 300);
  EXPECT_EQ(study.members_in_all(), 1200);
  // The study as run reads as the same.
  EXPECT_EQ(read_study(study_as_run(study), "run.toml").members_in_all(), 1200);
  // Row 7 of the second point in blocks A, B, and A with b from B: the same value of the sweep.
  const auto draws = [&](unsigned long long block) {
    return draw_member(study, block * 300 + 107).parameters;
  };
  EXPECT_EQ(draws(0)[0], 2);
  EXPECT_EQ(draws(1)[0], 2);
  EXPECT_EQ(draws(3), (std::vector<double>{2, draws(0)[1], draws(1)[2]}));
  EXPECT_NE(draws(0)[2], draws(1)[2]);
  EXPECT_TRUE(mentions(sweep_refusal(parameters, sensitivity + "[ensemble]\nmembers_per_point = 99\n"),
                       "not the number of rows of [sensitivity]"));
  EXPECT_TRUE(mentions(sweep_refusal(parameters, sensitivity + "[ensemble]\nmembers = 300\n"),
                       "not the number of members of all points"));
  EXPECT_EQ(sweep_refusal(parameters, sensitivity + "[ensemble]\nmembers = 1200\n"), "");
}

TEST(SweepTest, StandsWhereADistributionMayStandByItself) {
  const std::string text = R"toml(title = "t"
[[point]]
name = "p"
mass = 1
position = [{ sweep = [0, 1, 3] }, 0]
velocity = [0, { sweep = [1, 2, 2] }]
[system]
gravity = [0, -1]
[[constraint]]
name = "floor"
require = "p.y >= -1"
restitution = { sweep = [0.1, 0.9, 2] }
[time]
end = 1
)toml";
  const Study study = read_study(text, "s.toml", {});
  ASSERT_EQ(study.sweeps.size(), 3U);
  EXPECT_EQ(study.sweeps[0].name, "p.x");
  EXPECT_EQ(study.sweeps[1].name, "p.y'");
  EXPECT_EQ(study.ensemble.members, 12);
}

TEST(SweepTest, CommonStreamsRepeatTheDrawsAndIndependentOnesDoNot) {
  const std::string parameters = "c = { sweep = [1, 2, 2] }\nu = { uniform = [0, 1] }";
  for (const char* sampler : {"random", "sobol", "latin-hypercube"}) {
    const std::string ensemble =
        std::string("[ensemble]\nmembers_per_point = 8\nsampler = \"") + sampler + "\"\n";
    const Study common = swept(parameters, ensemble),
                independent = swept(parameters, ensemble + "streams = \"independent\"\n");
    for (unsigned long long j = 0; j < 8; ++j) {
      EXPECT_EQ(draw_member(common, j).parameters[1], draw_member(common, 8 + j).parameters[1]) << sampler;
      EXPECT_NE(draw_member(independent, j).parameters[1], draw_member(independent, 8 + j).parameters[1])
          << sampler;
    }
  }
}

TEST(SweepTest, GridsRunInsideEachPointAndDetermineItsMembers) {
  const Study study = swept("c = { sweep = [1, 2, 2] }\ng = { grid = [0, 1, 3] }");
  EXPECT_EQ(study.ensemble.members_per_point, 3);
  for (unsigned long long member = 0; member < 6; ++member)
    EXPECT_EQ(draw_member(study, member).parameters[1], 0.5 * static_cast<double>(member % 3));
}

TEST(SweepTest, RefusesWhatIsNoSweep) {
  EXPECT_TRUE(mentions(sweep_refusal("c = { sweep = [1, 2, 1] }"), "a sweep needs two points or more"));
  EXPECT_TRUE(
      mentions(sweep_refusal("c = { sweep = { values = [1] } }"), "a sweep needs two points or more"));
  EXPECT_TRUE(mentions(sweep_refusal("c = { sweep = { from = 0, to = 1, count = 3, scale = \"log\" } }"),
                       "a log sweep needs positive ends"));
  EXPECT_TRUE(mentions(sweep_refusal("c = { sweep = [2, 2, 3] }"), "from and to are equal"));
  EXPECT_TRUE(mentions(sweep_refusal("c = { sweep = [1, 2, 2.5] }"), "not a whole number"));
  EXPECT_TRUE(
      mentions(sweep_refusal("c = { sweep = [1, 2, 2] }\ngust = { uniform = [0, 1] }\nm = { normal = { "
                             "mean = 1, std = 1 } }"),
               "members_per_point is missing: the study draws gust, m"));
  EXPECT_TRUE(mentions(sweep_refusal("a = { sweep = [1, 2, 1000] }\nb = { sweep = [1, 2, 1001] }"),
                       "the sweeps have too many points"));
  EXPECT_TRUE(mentions(sweep_refusal("c = { sweep = [1, 2, 5] }", "[ensemble]\nmembers = 4\n"),
                       "not the number of members of all points"));
  EXPECT_TRUE(mentions(sweep_refusal("c = { sweep = [1, 2, 5] }", "", {"ensemble.members=5"}),
                       "the study has a sweep"));
  EXPECT_TRUE(
      mentions(sweep_refusal("c = { sweep = [1, 2, 900000] }",
                             "[observe]\nx = \"x\"\nv = \"x'\"\n[statistics]\nquantiles = [0.1, 0.5, 0.9]\n"),
               "too many numbers in statistics.nc"));
}

TEST(SweepTest, IsTheSameStudyWhenWrittenOutAndReadAgain) {
  const Study study =
      swept("c = { sweep = [1, 2, 3] }\nu = { uniform = [0, 1] }", "[ensemble]\nmembers_per_point = 4\n");
  const std::string once = study_as_run(study);
  EXPECT_EQ(study_as_run(read_study(once, "s.toml", {})), once);
  // With the sweep replaced by one of its values, members_per_point are the members.
  const Study plain = swept("c = { sweep = [1, 2, 3] }\nu = { uniform = [0, 1] }",
                            "[ensemble]\nmembers_per_point = 4\n", {"parameters.c=2"});
  EXPECT_EQ(plain.ensemble.members, 4);
  EXPECT_TRUE(plain.sweeps.empty());
  // Trajectories of members that are then no longer there are left out.
  const std::string output =
      "[ensemble]\nmembers_per_point = 4\n[output]\ntrajectories = [0, 11, \"2..9\"]\n";
  const std::string parameters = "c = { sweep = [1, 2, 3] }\nu = { uniform = [0, 1] }";
  EXPECT_EQ(swept(parameters, output).output.trajectories.size(), 10U);
  EXPECT_EQ(swept(parameters, output, {"parameters.c=2"}).output.trajectories,
            (std::vector<long long>{0, 2, 3}));
  EXPECT_TRUE(mentions(sweep_refusal(parameters,
                                     "[ensemble]\nmembers_per_point = 4\n[output]\ntrajectories = "
                                     "[3, \"2..9\"]\n"),
                       "the member is listed twice"));
}

// --- Records -----------------------------------------------------------------------------------------------

const std::string a_record = "[[record]]\nname = \"section\"\nvalues = { x = \"x\", v = \"x'\" }\n";

TEST(RecordTest, IsReadWithItsDefaults) {
  const Study study = swept("w = 2", a_record + "every = \"2*pi/w\"\n");
  const RecordFormula& record = study.system->records.at(0);
  EXPECT_TRUE(record.periodic());
  EXPECT_EQ(record.most, 64);
  EXPECT_FALSE(record.keep_last);
  EXPECT_EQ(record.values.size(), 2U);
}

TEST(RecordTest, RefusesWhatCannotBeRecorded) {
  EXPECT_TRUE(mentions(sweep_refusal("w = 2", a_record), "a record needs one of at, every"));
  EXPECT_TRUE(mentions(sweep_refusal("w = 2", a_record + "every = 1\nat = \"shock(wall)\"\n"),
                       "a record needs one of at, every"));
  EXPECT_TRUE(
      mentions(sweep_refusal("w = 2", "[[record]]\nname = \"s\"\nevery = 1\n"), "'values' is missing"));
  EXPECT_TRUE(mentions(sweep_refusal("w = 2", "[[record]]\nname = \"s\"\nevery = 1\nvalues = {}\n"),
                       "a record needs values"));
  EXPECT_TRUE(mentions(sweep_refusal("w = 2", a_record + "every = 1\n" + a_record + "every = 1\n"),
                       "the name is taken"));
  EXPECT_TRUE(mentions(sweep_refusal("w = 2", a_record + "every = 0\n"), "not a period"));
  EXPECT_TRUE(mentions(sweep_refusal("w = 2", a_record + "every = 1e-9\n"), "too many times up to the end"));
  EXPECT_TRUE(
      mentions(sweep_refusal("w = 2", a_record + "every = 1\nside = \"before\"\n"), "nothing jumps there"));
  EXPECT_TRUE(mentions(sweep_refusal("w = 2", a_record + "every = 1\nmost = 10000000\n"),
                       "the records are too large"));
}

TEST(RecordTest, RefusesReductionsOfUnknownRecords) {
  const auto refused = [](const std::string& measure) {
    return sweep_refusal("w = 2", a_record + "every = 1\n[measure]\nm = \"" + measure + "\"\n");
  };
  EXPECT_TRUE(mentions(refused("period(sectoin, 1e-3)"), "there is no record 'sectoin'"));
  EXPECT_TRUE(mentions(refused("label(section, 0)"), "a positive tolerance"));
  EXPECT_TRUE(mentions(refused("last(section.q)"), "has no value 'q'"));
  EXPECT_EQ(refused("1 + label(section, 1e-3)"), "");
  EXPECT_EQ(refused("maximum(section.x) - minimum(section.x)"), "");
}

// Labels are known once all members have ended.
TEST(RecordTest, KeepsWhatFormulasWithLabelsNeedAndRefusesThemDuringTheRun) {
  const std::string measures = a_record + "every = 1\n[measure]\nwhich = \"label(section, 1e-3)\"\n" +
                               "mixed = \"probability(which*w > final(x))\"\n";
  const System& system = *swept("w = 2", measures).system;
  // Whether a missing value decided it, the final x, and w.
  EXPECT_EQ(system.flags.size(), 3U);
  const std::string draws = "w = { uniform = [1, 2] }\nu = { uniform = [1, 2] }";
  EXPECT_TRUE(
      mentions(sweep_refusal("w = { uniform = [1, 2] }",
                             measures + "[ensemble]\nmembers = 5000\n"
                                        "until = { measure = \"mixed\", relative_halfwidth = 0.1 }\n"),
               "labels are known at the end only"));
  EXPECT_TRUE(mentions(sweep_refusal("w = 2", measures + "[[given]]\nname = \"g\"\nwhen = \"which > 1\"\n"
                                                         "observables = true\n"),
                       "labels are known at the end only"));
  EXPECT_TRUE(mentions(sweep_refusal(draws, measures + "[sensitivity]\nbase = 64\nof = [\"which\"]\n"),
                       "labels have no Sobol' indices"));
  const std::string more = measures + "end = \"final(x)\"\n[sensitivity]\nbase = 64\n";
  EXPECT_EQ(swept(draws, more).sensitivity->of, std::vector<std::size_t>{2});
}

}  // namespace
}  // namespace zwang::sweep_test
