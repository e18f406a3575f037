// Many contacts with friction. Blocks that do not act on each other are solved apart, whatever their number. Where all
// are coupled there are more combinations of modes than are tried: the modes are found by projected Gauss-Seidel
// iterations and judged. In both studies each block moves as it would alone.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/backend/batch.h"
#include "host/inspect/inspect_member.h"
#include "host/inspect/write_explain.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"

namespace zwang::many_contacts_test {
namespace {

constexpr int blocks = 8;  // 4^8 combinations at rest, above the limits of both implementations

double stiffness_of(int i) { return 4 + 0.5 * i; }
double place_of(int i) { return 0.05 * i; }

// Blocks on a belt, each on its own spring, with other stiffnesses and places. `coupled`: a coordinate is held equal to
// the sum of their heights. That takes no force while all heights are 0, but each contact then acts on the others.
std::string blocks_on_a_belt(bool coupled) {
  std::string points, forces, contacts, measures, heights = "0";
  for (int i = 0; i < blocks; ++i) {
    const std::string p = "p" + std::to_string(i), belt = "belt" + std::to_string(i);
    points += "[[point]]\nname = \"" + p + "\"\nmass = 1\nposition = [" + std::to_string(place_of(i)) +
              ", 0]\nvelocity = [\"V\", 0]\n";
    forces += "\"" + p + ".x\" = \"-" + std::to_string(stiffness_of(i)) + "*" + p + ".x\"\n";
    contacts += "[[constraint]]\nname = \"" + belt + "\"\nrequire = \"" + p +
                ".y >= 0\"\nfriction = 0.3\nfriction_static = 0.5\nslip = \"" + p + ".x' - V\"\n";
    heights += " + " + p + ".y";
    measures += "slides" + std::to_string(i) + " = \"first(slides(" + belt + "))\"\n";
    measures += "sticks" + std::to_string(i) + " = \"first(sticks(" + belt + "))\"\n";
  }
  if (coupled) {
    points += "[[coordinate]]\nname = \"sum\"\nposition = 0\nvelocity = 0\n";
    contacts += "[[constraint]]\nname = \"total\"\nrequire = \"sum == " + heights + "\"\n";
  }
  return "title = \"Blocks on a belt\"\n[parameters]\nV = 0.2\n" + points +
         "[system]\ngravity = [0, -9.81]\n" + (coupled ? "kinetic = \"0.5*sum'^2\"\n" : "") +
         "[system.force]\n" + forces + contacts + "[time]\nend = 9\nsamples = 3\n[measure]\n" + measures;
}

// A block is carried to k x = mu_s g. Then x - x0 = (x_s - x0) cos(w t) + V/w sin(w t) about x0 = mu g/k, until its
// speed is V again: at w t = 2 pi - 2 atan((x_s - x0) w/V).
class ManyContacts : public testing::TestWithParam<bool> {};

TEST_P(ManyContacts, MoveAsEachBlockAlone) {
  constexpr double V = 0.2, g = 9.81;
  const Study study = read_study(blocks_on_a_belt(GetParam()), "blocks.toml");
  BackendReference reference(study, 1);
  BackendCpu cpu(study, *HostCompiler::find(), 1);
  const std::vector<unsigned long long> first = {0};
  for (Backend* backend : {static_cast<Backend*>(&reference), static_cast<Backend*>(&cpu)}) {
    SCOPED_TRACE(backend->name());
    const BatchResults results = backend->run(prepare_batch(study, first, 1), {});
    ASSERT_EQ(results.status[0], Status::ok);
    for (int i = 0; i < blocks; ++i) {
      SCOPED_TRACE(i);
      const double k = stiffness_of(i), w = std::sqrt(k);
      const double slides = (0.5 * g / k - place_of(i)) / V;
      const double slip = (2 * M_PI - 2 * std::atan(0.2 * g / k * w / V)) / w;
      // Located to the default tolerance of the motion.
      EXPECT_NEAR(results.measures[2 * static_cast<std::size_t>(i)], slides, 1e-8);
      EXPECT_NEAR(results.measures[2 * static_cast<std::size_t>(i) + 1], slides + slip, 1e-7);
    }
  }
}

TEST_P(ManyContacts, AreCertifiedUnlessAllActOnEachOther) {
  const Study study = read_study(blocks_on_a_belt(GetParam()), "blocks.toml");
  const ExplainedState found = explain_state(study, 0, 1.0, [](const std::string&) {});
  const std::string text = explain_text(study, found.member, found.explanation);
  EXPECT_EQ(text.find("not certified") != std::string::npos, GetParam()) << text;
}

INSTANTIATE_TEST_SUITE_P(BlocksOnABelt, ManyContacts, testing::Bool(),
                         [](const auto& given) { return given.param ? "Coupled" : "Apart"; });

}  // namespace
}  // namespace zwang::many_contacts_test
