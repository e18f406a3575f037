// The formula behind a member that is not finite is named, with what was in it.
#include "src/system/not_finite.h"

#include <gtest/gtest.h>

#include "host/sample/member.h"
#include "host/sample/prepared_member.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"
#include "kernels/base/status.h"
#include "src/reference/trajectory.h"

namespace zwang::not_finite_test {
namespace {

std::string cause_of(const std::string& system, const std::string& mass = "m", const std::string& x = "1") {
  const Study study =
      read_study("[parameters]\nm = { choice = [1, -0.5] }\n[[point]]\nname = \"p\"\nmass = \"" + mass +
                     "\"\nposition = [" + x + ", 0]\nvelocity = [-1, 0]\n[system]\n" + system +
                     "\n[ensemble]\nmembers = 50\n[time]\nend = 3\n",
                 "bad.toml");
  for (unsigned long long member = 0; member < 50; ++member) {
    const PreparedMember prepared = prepare_member(study, member);
    const Trajectory made = replay_member(study, prepared, study_plan(study));
    if (made.status != Status::ok) return made.cause;
  }
  return "";
}

TEST(NotFinite, NamesTheForceAndWhatWasInIt) {
  const std::string cause = cause_of("force.\"p.x\" = \"log(p.x - 2)\"", "1");
  EXPECT_NE(cause.find("the force on p.x: log(p.x - 2) = "), std::string::npos) << cause;
  EXPECT_NE(cause.find("p.x - 2 = -1"), std::string::npos) << cause;
}

// A drawn mass is tested before the member starts.
TEST(NotFinite, NamesADrawnMassThatIsNotPositive) {
  const std::string cause = cause_of("gravity = [0, -9.81]");
  EXPECT_NE(cause.find("point 'p', mass: a mass must be positive: found -0.5"), std::string::npos) << cause;
}

// The formula is finite where the last step begins: the point runs into the singularity at x = 0.
TEST(NotFinite, NamesAFormulaThatFailsAhead) {
  const std::string cause = cause_of("force.\"p.x\" = \"-0.1*sqrt(p.x)\"", "1");
  EXPECT_NE(cause.find("sqrt(p.x) = "), std::string::npos) << cause;
}

// Formulas of friction contain the direction of the slip, which a start does not have: the search for the failing one
// read beyond it (soak seed 80690).
TEST(NotFinite, NamesAFormulaOfASystemWithFriction) {
  const std::string cause = cause_of(
      "force.\"p.y\" = \"log(p.x - 2)\"\n[[constraint]]\nname = \"floor\"\nrequire = \"p.y >= 0\"\nfriction "
      "= 0.3",
      "1");
  EXPECT_NE(cause.find("the force on p.y: log(p.x - 2) = "), std::string::npos) << cause;
}

}  // namespace
}  // namespace zwang::not_finite_test
