// Voss 1884, equation (8): small oscillations about an equilibrium under a velocity condition, from study to
// JSON.
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "host/inspect/write_modes.h"
#include "host/sample/sample.h"
#include "tests/support/scratch.h"
#include "tests/support/study_runs.h"

namespace zwang::modes_test {
namespace {

using Json = nlohmann::json;

// Eigenvalues of a 2 x 2 matrix.
constexpr double roots = 1e-14;

Modes modes_of(const Study& study) {
  const MemberInputs inputs = nominal_member(study);
  const Equations equations(*study.system, inputs.parameters);
  return find_modes(RestEquations(equations), inputs.start, study.integrator.contact_tolerance);
}

TEST(VossModes, TheFlutterRootsAreThoseOfTheNonSymmetricMatrix) {
  const Study study = config("small_oscillations");
  const Json json = Json::parse(modes_json(study, {}, modes_of(study)));
  for (const char* name : {"p.x", "p.y", "p.z"}) EXPECT_EQ(json["equilibrium"][name], 0);
  EXPECT_NEAR(json["multipliers"]["rolling"], -1, roots) << "Voss's h = g is -lambda";
  ASSERT_EQ(json["lambda_squared"].size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(json["lambda_squared"][i][0], -1.1, roots);
    EXPECT_NEAR(json["lambda_squared"][i][1], (i == 0 ? 1 : -1) * 0.48989794855663561964, roots);
    EXPECT_NEAR(json["growth_rates"][i], 0.22820983532620756441, roots);
    EXPECT_NEAR(json["frequencies_rad_s"][i], 1.0733497700841113862, roots);
    EXPECT_EQ(json["modes"][i].size(), 3u);
  }
  EXPECT_EQ(json["verdict"], "unstable");
  EXPECT_EQ(json["structural_zeros"], 1);
  // The paradox: the form is negative definite, the energy is kept, and yet the motion grows.
  EXPECT_EQ(json["symmetric"], false);
  EXPECT_EQ(json["quadratic_form"], "negative definite");
  EXPECT_EQ(json["form_misleads"], true);
  EXPECT_LT(json["eigenproblem_residual"], 1e-15);
}

TEST(VossModes, TheStableCaseHasTwoFrequencies) {
  const Study study = config("small_oscillations", {"parameters.k2=4"});
  const Json json = Json::parse(modes_json(study, {}, modes_of(study)));
  const double squared[] = {-1.0857864376269049512, -3.9142135623730950488};
  const double omega[] = {1.0420107665599741543, 1.9784371514842454173};
  ASSERT_EQ(json["lambda_squared"].size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(json["lambda_squared"][i][0], squared[i], 4 * roots);
    EXPECT_EQ(json["lambda_squared"][i][1], 0);
    EXPECT_NEAR(json["frequencies_rad_s"][i], omega[i], 4 * roots);
    EXPECT_EQ(json["growth_rates"][i], 0);
  }
  EXPECT_EQ(json["verdict"], "stable");
  EXPECT_EQ(json["symmetric"], false);
  EXPECT_EQ(json["form_misleads"], false);
}

TEST(VossModes, TheUnstableModeGrowsInTheMotionAtItsRate) {
  const Modes found = modes_of(config("small_oscillations"));
  const Mode& mode = found.modes[0];
  // Started along the mode, q = Re(a shape exp(lambda t)): small enough that squares (z sinks by about a^2
  // exp(2 g t)) stay below the error wanted, over three e-foldings.
  const double a = 1e-5, end = 14;
  const Eigen::VectorXd q = a * mode.shape.real(), v = a * (mode.root * mode.shape).real();
  const auto list = [](const Eigen::VectorXd& x, double z) {
    return "[" + number_text(x(0)) + ", " + number_text(x(1)) + ", " + number_text(z) + "]";
  };
  // The velocity condition at the start: z' = -b12 y x' - b21 x y'.
  const double vz = -0.5 * q(1) * v(0) + 0.5 * q(0) * v(1);
  const Study study =
      config("small_oscillations", {"point.0.position=" + list(q, 0), "point.0.velocity=" + list(v, vz)});
  Study fine = sampled(study, {0, end});
  fine.integrator.atol = 1e-17;
  const StudyRun run(fine);
  EXPECT_EQ(status_name(run.trajectory.status), std::string("ok"));
  // The complex amplitude along the mode: x = Re(w), y = Re(s w) with s the shape's second entry, solved for
  // w.
  const std::complex<double> s = mode.shape(1);
  const auto amplitude = [&](const Eigen::VectorXd& x) {
    return std::complex<double>(x(0), (s.real() * x(0) - x(1)) / s.imag());
  };
  const std::complex<double> grown = amplitude(run.at(end).state.q) / amplitude(run.at(0).state.q);
  EXPECT_NEAR(std::log(std::abs(grown)) / end, 0.22820983532620756441, 1e-9);
  const double turned = std::remainder(std::arg(grown) - 1.0733497700841113862 * end, 6.283185307179586);
  EXPECT_NEAR(turned, 0, 1e-8);
}

// --- The command ---

struct Ran {
  int code;
  std::string out;
};

Ran zwang(const std::string& arguments) {
  const Scratch scratch;  // tests run side by side
  const std::string file = scratch.path() / "out.txt";
  const std::string line = std::string(ZWANG_PROGRAM) + " " + arguments + " > '" + file + "' 2>&1";
  const int code = std::system(line.c_str());
  std::ifstream in(file);
  return {WEXITSTATUS(code), std::string(std::istreambuf_iterator<char>(in), {})};
}

std::string path(const std::string& name) {
  return std::string(ZWANG_SOURCE_DIR) + "/configs/" + name + ".toml";
}

TEST(ModesCommand, SaysWhatItFoundAndThatTheFormWouldHaveMisled) {
  const Ran ran = zwang("modes " + path("small_oscillations"));
  EXPECT_EQ(ran.code, 0);
  EXPECT_NE(ran.out.find("not symmetric"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("which is misleading"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("verdict: unstable"), std::string::npos) << ran.out;
}

TEST(ModesCommand, ANoEquilibriumIsAnAnswerAndATimeDependentSystemIsWrongInput) {
  const Ran none = zwang("modes " + path("plane_support") + " --json");
  EXPECT_EQ(none.code, 0);
  const Json json = Json::parse(none.out);
  EXPECT_TRUE(json["equilibrium"].is_null());
  EXPECT_EQ(json["verdict"], "no equilibrium");
  EXPECT_EQ(json["least_imbalance"]["force_left"]["p.x"], 1);
  const Ran timed = zwang("modes " + path("oneway_clutch"));
  EXPECT_EQ(timed.code, 1);
  EXPECT_NE(timed.out.find("a force on p.x that depends on t"), std::string::npos) << timed.out;
}

TEST(ModesCommand, TakesAMembersNumbersOrTheNominalOnes) {
  const std::string off = " --set parameters.sway=0 --json";
  const Json nominal = Json::parse(zwang("modes " + path("slung_load") + off).out);
  EXPECT_EQ(nominal["member"], "nominal");
  const Json member = Json::parse(zwang("modes " + path("slung_load") + off + " --member 3").out);
  EXPECT_EQ(member["member"], 3);
  EXPECT_NE(nominal["growth_rates"][0], member["growth_rates"][0])
      << "the mass is drawn, and with it the damping";
}

}  // namespace
}  // namespace zwang::modes_test
