// Rigid bodies with answers in closed form or by elliptic functions, on every backend; laws that hold for every body.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "host/backend/batch.h"
#include "host/run/backend_factory.h"
#include "host/run/run.h"
#include "host/study_file/load_study.h"
#include "src/base/error.h"
#include "tests/support/body_cases.h"
#include "tests/support/ensemble_study.h"
#include "tests/support/study_runs.h"

namespace zwang::body_test {
namespace {

struct BodyOnBackend {
  std::string backend;
  BodyCase known;
};
void PrintTo(const BodyOnBackend& one, std::ostream* out) { *out << one.backend << " " << one.known.name; }

std::vector<BodyOnBackend> bodies_on(const std::string& backend) {
  std::vector<BodyOnBackend> list;
  for (const auto& cases : {free_body_cases(), touching_body_cases()})
    for (const BodyCase& known : cases) list.push_back({backend, known});
  return list;
}

class BodyAnswer : public testing::TestWithParam<BodyOnBackend> {
  void SetUp() override {
    if (GetParam().backend != "cuda") return;
    if (const std::string why = cuda::why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

// The measures of member 0 by name.
std::vector<double> measures_on(const std::string& backend, const Study& study, std::string& status) {
  const auto made = make_backend(backend, study, {.threads = 1});
  const BatchResults results = made->run(prepare_batch(study, std::vector<unsigned long long>{0}, 1), {});
  status = status_name(results.status[0]);
  return {results.measures.begin(), results.measures.end()};
}

TEST_P(BodyAnswer, IsFoundToItsDigits) {
  const BodyCase& known = GetParam().known;
  const Study study = written(known.study);
  std::string status;
  const std::vector<double> found = measures_on(GetParam().backend, study, status);
  EXPECT_EQ(status, known.status);
  const std::vector<std::string> names = names_of(study.system->measures);
  for (const auto& [name, expected] : known.answers)
    EXPECT_NEAR(found[number_of(names, name)], expected, known.digits * std::max(1.0, std::abs(expected)))
        << name;
}

std::string name_of_body_case(const testing::TestParamInfo<BodyOnBackend>& one) {
  return one.param.known.name;
}
INSTANTIATE_TEST_SUITE_P(Reference, BodyAnswer, testing::ValuesIn(bodies_on("reference")), name_of_body_case);
INSTANTIATE_TEST_SUITE_P(Cpu, BodyAnswer, testing::ValuesIn(bodies_on("cpu")), name_of_body_case);
INSTANTIATE_TEST_SUITE_P(Gpu, BodyAnswer, testing::ValuesIn(bodies_on("cuda")), name_of_body_case);

std::string numbers(std::mt19937& random, std::size_t count, double low, double high) {
  std::uniform_real_distribution<double> draw(low, high);
  std::string text;
  for (std::size_t k = 0; k < count; ++k) text += (k ? ", " : "") + std::to_string(draw(random));
  return "[" + text + "]";
}

// A body with a full inertia moves as the same body written in its principal axes: energy and angular momentum in space
// are constant, and both have the same spin.
TEST(BodyLaws, AFreeBodyKeepsEnergyAndAngularMomentumWhateverItsAxes) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> number(-0.3, 0.3);
    const double xy = number(random), xz = number(random), yz = number(random);
    const auto text = [](double x) { return std::to_string(x); };
    const Study study = written(
        "[[body]]\nname = \"b\"\nmass = 2\ninertia = [[1.5, " + text(xy) + ", " + text(xz) + "], [" +
        text(xy) + ", 1.7, " + text(yz) + "], [" + text(xz) + ", " + text(yz) +
        ", 2.1]]\nposition = [0, 0, 0]\norientation = " + numbers(random, 4, -1, 1) +
        "\nvelocity = [1, 2, 3]\nangular_velocity = " + numbers(random, 3, -3, 3) +
        "\n[time]\nend = 10\n[measure]\nE = \"final(kinetic()) - initial(kinetic())\"\n" +
        "x = \"final(b.momentum.x) - initial(b.momentum.x)\"\ny = \"final(b.momentum.y) - "
        "initial(b.momentum.y)\"\n" +
        "z = \"final(b.momentum.z) - initial(b.momentum.z)\"\nsize = \"initial(norm(b.momentum))\"\n");
    for (const char* backend : {"reference", "cpu"}) {
      std::string status;
      const std::vector<double> found = measures_on(backend, study, status);
      EXPECT_EQ(status, "ok");
      for (std::size_t k = 0; k < 4; ++k)
        EXPECT_NEAR(found[k], 0, 1e-10 * std::max(1.0, found[4])) << backend << k;
    }
  }
}

// A planar body and the same system in hand-written coordinates.
TEST(BodyLaws, ADoublePendulumOfRodsMovesAsInHandWrittenCoordinates) {
  const std::string rod =
      "mass = 1\ninertia = \"1/12\"\nangle = \"pi/2\"\npoints = { top = [0, 0.5], end = [0, -0.5] }\n";
  const Study bodies = written("[[body]]\nname = \"a\"\nposition = [0.5, 0]\n" + rod +
                               "[[body]]\nname = \"b\"\nposition = [1.5, 0]\n" + rod + R"toml(
[[anchor]]
name = "o"
position = [0, 0]
[[link]]
name = "upper"
type = "hinge"
between = ["a.top", "o"]
[[link]]
name = "lower"
type = "hinge"
between = ["a.end", "b.top"]
[system]
gravity = [0, -9.81]
[time]
end = 2
[measure]
p = "final(a.angle)"
q = "final(b.angle)"
)toml");
  const Study by_hand = written(R"toml(
[[coordinate]]
name = "p"
position = "pi/2"
[[coordinate]]
name = "q"
position = "pi/2"
[system]
kinetic = "0.5*(1/3)*p'^2 + 0.5*(1/12)*q'^2 + 0.5*(p'^2 + 0.25*q'^2 + p'*q'*cos(p - q))"
potential = "-9.81*(1.5*cos(p) + 0.5*cos(q))"
[time]
end = 2
[measure]
p_end = "final(p)"
q_end = "final(q)"
)toml");
  std::string status;
  const std::vector<double> expected = measures_on("reference", by_hand, status);
  for (const char* backend : {"reference", "cpu"}) {
    const std::vector<double> found = measures_on(backend, bodies, status);
    EXPECT_NEAR(found[0], expected[0], 1e-9) << backend;
    EXPECT_NEAR(found[1], expected[1], 1e-9) << backend;
  }
}

std::string refusal_of(const std::string& study) {
  try {
    read_study(study, "study.toml");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(BodyMessages, NameWhatIsWrong) {
  const std::string end = "[time]\nend = 1\n";
  const auto body = [](const std::string& keys) { return "[[body]]\nname = \"b\"\nmass = 1\n" + keys; };
  const std::string space = body("position = [0, 0, 1]\ninertia = [1, 1, 1]\n"),
                    plane = "[[body]]\nname = \"p\"\nmass = 1\ninertia = 1\nposition = [0, 0]\n";
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {body("position = [0, 0, 1]\ninertia = [1, 1, 3]\n"), "principal moments 1, 1 and 3"},
      {body("position = [0, 0, 1]\ninertia = [1, -1, 1]\n"), "no rigid body has this inertia"},
      {body("position = [0, 0, 1]\ninertia = [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]\n"), "not symmetric"},
      {body("position = [0, 0, 1]\ninertia = [1, 1]\n"), "wrong number of entries"},
      {body("position = [0, 0]\ninertia = [1, 1, 1]\n"), "one moment of inertia"},
      {body("position = [0, 0, 1]\ninertia = [1, 1, 1]\norientation = [0, 0, 0, 0]\n"), "length 0"},
      {body("position = [0, 0, 1]\ninertia = [1, 1, 1]\nangle = 1\n"), "no single angle"},
      {body("position = [0, 0]\ninertia = 1\norientation = [1, 0, 0, 0]\n"), "no quaternion"},
      {space + "[system]\nkinetic = \"b.x'^2\"\n", "bodies have their own kinetic energy"},
      {space + "[observe]\na = \"b.wx'\"\n", "'b.wx' has no velocity"},
      {space + "[[constraint]]\nname = \"c\"\nrequire = \"b.q0 == 1\"\n", "body points"},
      {space + "[[link]]\nname = \"l\"\ntype = \"ball\"\nbetween = [\"b.top\", \"b\"]\n",
       "has no such point"},
      {space + plane + "[[link]]\nname = \"l\"\ntype = \"ball\"\nbetween = [\"b\", \"p\"]\n",
       "different dimensions"},
      {space + "[[anchor]]\nname = \"o\"\nposition = [0, 0, 0]\n[[link]]\nname = \"l\"\ntype = \"hinge\"\n"
               "between = [\"b\", \"o\"]\n",
       "'axis' is missing"},
      {body("position = [0, 0, 1]\ninertia = [1, 1, 1]\npoints = { top = [0, 0, 1] }\n") +
           "[[link]]\nname = \"l\"\ntype = \"rod\"\nbetween = [\"b.top\", \"b\"]\n",
       "with itself"},
      {space +
           "[[surface]]\nname = \"floor\"\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\n[[contact]]\nname = \"c\"\n"
           "between = [\"b\", \"floor\"]\n",
       "has no shape"},
      {body("position = [0, 0, 1]\ninertia = [1, 1, 1]\npoints = { a = [0, 0, 1] }\nshape = { corners = "
            "[\"a\"] }\n") +
           "[[body]]\nname = \"c\"\nmass = 1\ninertia = [1, 1, 1]\nposition = [0, 0, 5]\nshape = { sphere = "
           "1 }\n"
           "[[contact]]\nname = \"t\"\nbetween = [\"b\", \"c\"]\n",
       "corners with sphere"},
      {space + "[[impulse]]\nat = 0\non = \"b.x\"\nmomentum = [1]\nangular = [1, 0, 0]\n", "angular impulse"},
  };
  for (const auto& [study, expected] : wrong) {
    const std::string text = refusal_of(study + end);
    EXPECT_NE(text.find(expected), std::string::npos)
        << study << "\nwanted: " << expected << "\nfound: " << text;
  }
}

}  // namespace
}  // namespace zwang::body_test
