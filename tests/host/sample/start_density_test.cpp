// The density of drawn starts against densities written out by hand.
#include "host/sample/start_density.h"

#include <gtest/gtest.h>

#include <cmath>

#include "host/files/write_members.h"
#include "host/sample/sample.h"
#include "host/study_file/load_study.h"
#include "tests/support/netcdf_reader.h"
#include "tests/support/result_files_fixture.h"

namespace zwang::start_density_test {
namespace {

constexpr double rounding = 1e-12;
const double log_two_pi = std::log(2 * std::acos(-1.0));

Study coordinate(const std::string& parameters, const std::string& position, const std::string& velocity,
                 const std::string& more = "") {
  return read_study("[parameters]\n" + parameters + "\n[[coordinate]]\nname = \"x\"\nposition = " + position +
                        "\nvelocity = " + velocity + "\n[system]\nkinetic = \"x'^2\"\n[time]\nend = 1\n" +
                        more,
                    "written.toml");
}

struct Drawn {
  double x, v, log_density;
  std::vector<double> parameters;
};
Drawn drawn(const Study& study, unsigned long long member) {
  StartDensity density(study);
  EXPECT_EQ(density.why_unknown(), "");
  const MemberInputs inputs = draw_member(study, member);
  return {inputs.start.q(0), inputs.start.v(0), density.log_at(inputs.parameters), inputs.parameters};
}

TEST(StartDensity, IsTheProductOfIndependentDensities) {
  const Study study = coordinate("", "{ uniform = [-1, 3] }", "{ exponential = { mean = 0.5 } }");
  for (unsigned long long member = 0; member < 5; ++member) {
    const Drawn made = drawn(study, member);
    EXPECT_NEAR(made.log_density, -std::log(4.0) - 2 * made.v + std::log(2.0), rounding);
  }
}

TEST(StartDensity, FollowsFormulasByTheirDeterminant) {
  // x = exp(2 a), v = a + 3 b: the determinant is 2 x * 3. The spread of b depends on a.
  const Study study = coordinate(
      "a = { normal = { mean = 0.2, std = 0.3 } }\nwide = \"1 + a^2\"\nb = { normal = { mean = \"a\", std = "
      "\"wide\" } }",
      "\"exp(2*a)\"", "\"a + 3*b\"");
  for (unsigned long long member = 0; member < 5; ++member) {
    const Drawn made = drawn(study, member);
    const double a = std::log(made.x) / 2, b = (made.v - a) / 3, wide = 1 + a * a;
    const auto normal = [](double z, double std) { return -0.5 * z * z - std::log(std) - 0.5 * log_two_pi; };
    EXPECT_NEAR(made.log_density,
                normal((a - 0.2) / 0.3, 0.3) + normal((b - a) / wide, wide) - std::log(6 * made.x), rounding);
  }
}

TEST(StartDensity, KnowsTrianglesLognormalsAndJoints) {
  const Drawn one =
      drawn(coordinate("", "{ triangular = [0, 1, 4] }", "{ lognormal = { mean = 0.1, std = 0.4 } }"), 3);
  const double side = one.x < 1 ? one.x : (4 - one.x) / 3, z = (std::log(one.v) - 0.1) / 0.4;
  EXPECT_NEAR(one.log_density, std::log(side / 2) - 0.5 * z * z - std::log(0.4 * one.v) - 0.5 * log_two_pi,
              rounding);

  const Drawn pair = drawn(coordinate("", "\"a\"", "\"b\"",
                                      "[[joint]]\nnames = [\"a\", \"b\"]\nmean = [1, 2]\ncovariance = [[0.5, "
                                      "0.2], [0.2, 0.4]]\n"),
                           2);
  const double da = pair.x - 1, db = pair.v - 2, determinant = 0.5 * 0.4 - 0.04;
  const double form = (0.4 * da * da - 0.4 * da * db + 0.5 * db * db) / determinant;
  EXPECT_NEAR(pair.log_density, -0.5 * form - 0.5 * std::log(determinant) - log_two_pi, rounding);
}

TEST(StartDensity, SaysWhyThereIsNone) {
  const auto why = [](const Study& study) { return StartDensity(study).why_unknown(); };
  EXPECT_NE(why(coordinate("", "{ uniform = [0, 1] }", "1")).find("depends on 1 draws"), std::string::npos);
  EXPECT_NE(
      why(coordinate("", "{ uniform = [0, 1] }", "{ choice = [1, 2] }")).find("not drawn from a density"),
      std::string::npos);
  const Study shared = read_study(R"toml(
[parameters]
k = { uniform = [1, 2] }
stiff = "2*k"
[[coordinate]]
name = "x"
position = "k"
velocity = { uniform = [0, 1] }
[system]
kinetic = "x'^2"
potential = "stiff*x^2"
[time]
end = 1
)toml",
                                  "written.toml");
  EXPECT_NE(why(shared).find("'k' enters the equations of motion"), std::string::npos);
}

// --- members.nc ---

SmallRun with_density(const std::string& more) {
  const std::string text = ball_study + more;
  std::string made = text;
  const auto replace = [&](const std::string& from, const std::string& to) {
    made.replace(made.find(from), from.size(), to);
  };
  replace("position = [0, {", "position = [{ normal = { mean = 0, std = 0.2 } }, {");
  replace("velocity = [1, \"kick\"]", "velocity = [{ uniform = [0, 2] }, \"kick\"]");
  replace("initial = 0", "initial = { exponential = { mean = 1 } }");
  replace("[observe]", "[observe]\ndense = \"logdensity()\"");
  return small_run(made);
}

TEST(StartDensity, StandsInMembersNcWithItsChangeAlongTheFlow) {
  const SmallRun made = with_density("");
  const Scratch scratch;
  const auto path = scratch.path() / "members.nc";
  const MemberRecordLayout layout(made.study, made.drawn);
  std::vector<char> records(made.batch.count * layout.bytes());
  layout.pack(made.batch, made.results, records.data(), 1);
  MembersWriter writer(path, made.study, made.run, layout, 2);
  writer.add(0, records);
  writer.close();
  const NetcdfReader file(path);
  const std::vector<double> change = file.numbers("log_density_change"),
                            start = file.numbers("log_density_start"), sum = file.numbers("log_density");
  StartDensity density(made.study);
  ASSERT_EQ(density.why_unknown(), "");
  const std::size_t width = made.study.parameters.size();
  std::size_t bounced = 0;
  for (std::size_t k = 0; k < made.batch.count; ++k) {
    EXPECT_EQ(start[k], density.log_at({made.batch.parameters.data() + k * width, width}));
    // After a bounce with e = 1/2 the density is undefined; in free flight its logarithm stays 0.
    const bool lost =
        made.results.event_counts[k * event_kinds + static_cast<std::size_t>(EventKind::shock)] > 0;
    bounced += lost ? 1 : 0;
    EXPECT_EQ(std::isnan(change[k]), lost);
    EXPECT_EQ(std::isnan(sum[k]), lost);
    if (!lost) {
      EXPECT_EQ(change[k], 0);
      EXPECT_EQ(sum[k], start[k]);
    }
  }
  EXPECT_GT(bounced, 0u);
  EXPECT_LT(bounced, made.batch.count);
}

}  // namespace
}  // namespace zwang::start_density_test
