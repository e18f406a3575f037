// Known answers of Voss and Maurer in the kernels, to as many digits as in the reference.
#include <gtest/gtest.h>

#include "host/backend/batch.h"
#include "host/run/backend_factory.h"
#include "tests/support/study_runs.h"

namespace zwang::kernels_test {
namespace {

// Some hundreds of steps of rtol 1e-13; multiplied where positions are of order 10 and more.
constexpr double integrated = 1e-11;

struct Case {
  std::string name, config;
  Overrides overrides;
  double t;
  std::vector<double> q;
};

const std::vector<Case> cases = {
    {"V_PE_free_closed", "contact_element", {}, 5, {3.927586026114564926709, 4, 5.855823048033113530915}},
    {"V_smallosc_flutter",
     "small_oscillations",
     {},
     10,
     {-0.21200794969608101636, 0.24719385161551397471, -0.098955429318549518629}},
    {"V_smallosc_stable",
     "small_oscillations",
     {"parameters.k2=4"},
     10,
     {-0.068477801901936766341, 0.042269369619033845285, -0.0033311835064497636492}},
    {"V_complex_gravity",
     "linear_complex",
     {},
     6,
     {-0.17305564112288803920, 5.5588069122097370308, 19.922838538847146582}},
    {"V_complex_free", "linear_complex", {"parameters.g=0"}, 6, {2.2, 1.8, 3.6}},
    {"V_complex_central_elastic",
     "linear_complex",
     {"parameters.g=0", "parameters.k=4", "parameters.v1=0", "parameters.v2=1"},
     3,
     {0.96017028665036602055, -0.13970774909946293641, 6}},
    {"V_complex_helix", "complex_helix", {}, 3, {-0.91113026188467698837, 0.41211848524175656976, 18}},
    {"V_geodesic_special",
     "complex_geodesic",
     {},
     1.95561982482048452806,
     {-0.754653242661807746527, 1.64894741815561830887, 2.91123964964096905611}},
    {"V_geodesic_general",
     "complex_geodesic",
     {"parameters.x0=1", "parameters.v1=1.810524785801067126611661", "parameters.v2=0.38",
      "parameters.v3=0.76", "parameters.rho0=0.48"},
     3,
     {6.0980580540949566300, 1.3213345247498269277, 2.8695331051772724363}},
    {"V_two_points",
     "two_points_kepler",
     {},
     5,
     {0.49249860696233271066, 2.3888140601223067219, 0.78884942122173993632, 1.5, 1, 0.5}},
    {"V_complete_system",
     "complete_system",
     {},
     2,
     {2.0188280754516927711, 3.3172517954408837007, 0.14932145959078335177, 2.0188280754516927711,
      3.3172517954408837007, 0.14932145959078335177}},
    {"Ma_8_cart_straightest", "cart", {}, 4, {-0.37255399759856783042, 0.053106284466178639272, 6}},
    {"Ma_8_cart_geodetic",
     "cart_geodetic",
     {},
     0.501693559169283152100,
     {0.390428808463803957890, 0.359505090342304136906, 3}},
};

struct OnBackend {
  std::string backend;
  Case known;
};
void PrintTo(const OnBackend& one, std::ostream* out) { *out << one.backend << " " << one.known.name; }

std::vector<OnBackend> on(const std::string& backend) {
  std::vector<OnBackend> list;
  for (const Case& known : cases) list.push_back({backend, known});
  return list;
}

class KnownAnswer : public testing::TestWithParam<OnBackend> {
  void SetUp() override {
    if (GetParam().backend != "cuda") return;
    if (const std::string why = cuda::why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

TEST_P(KnownAnswer, IsFoundToItsDigits) {
  const Case& known = GetParam().known;
  const Study study = sampled(config(known.config, known.overrides), {known.t});
  const auto backend = make_backend(GetParam().backend, study, {.threads = 1});
  const BatchResults results = backend->run(prepare_batch(study, std::vector<unsigned long long>{0}, 1), {});
  ASSERT_EQ(results.status[0], Status::ok);
  for (std::size_t i = 0; i < known.q.size(); ++i)
    EXPECT_NEAR(results.end_state[i], known.q[i], integrated * std::max(1.0, std::abs(known.q[i])))
        << study.system->coordinates[i];
}

std::string name_of_case(const testing::TestParamInfo<OnBackend>& one) { return one.param.known.name; }
INSTANTIATE_TEST_SUITE_P(Cpu, KnownAnswer, testing::ValuesIn(on("cpu")), name_of_case);
// Tests with Gpu in their names get the label `gpu`.
INSTANTIATE_TEST_SUITE_P(Gpu, KnownAnswer, testing::ValuesIn(on("cuda")), name_of_case);

}  // namespace
}  // namespace zwang::kernels_test
