// `check` detects errors in the formulas of friction and of bounded multipliers: programs are compiled with such errors
// inserted. It finds the formulas by text.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <stdexcept>
#include <string>

#include "host/backend/backend_cpu.h"
#include "host/check/check.h"
#include "host/study_file/load_study.h"
#include "tests/support/friction_case.h"
#include "tests/support/friction_cases.h"
#include "tests/support/study_runs.h"

namespace zwang::friction_errors_test {
namespace {

struct FrictionFault {
  std::string name;      // of the test
  std::string study;     // the name of a case in which the formula matters, or a study
  std::string file;      // of the kernels
  std::string formula;   // as written there
  std::string mistaken;  // with an error
};
void PrintTo(const FrictionFault& fault, std::ostream* out) { *out << fault.name; }

// A beam in a dry guide is pushed aside and holds where it stops.
constexpr const char* dry_guide = R"toml(
[[coordinate]]
name = "x"
position = 0
velocity = 1
[system]
kinetic = "0.5*x'^2"
potential = "0.5*x^2"
[[constraint]]
name = "guide"
require = "x == 0"
limit = 0.7
[time]
end = 4
samples = 41
[measure]
held = "final(x)"
)toml";

// Rods that strike the floor: a whole rebound would give energy to some of them.
constexpr const char* capped_rod = R"toml(
[parameters]
phi0 = { uniform = [-1.4, 1.4] }
mu = { uniform = [0.3, 1.3] }
[[coordinate]]
name = "x"
position = 0
velocity = { uniform = [-3, 3] }
[[coordinate]]
name = "y"
position = "sin(phi0)"
velocity = { uniform = [-3, 3] }
[[coordinate]]
name = "phi"
position = "phi0"
velocity = { uniform = [-3, 3] }
[system]
kinetic = "0.5*(x'^2 + y'^2) + phi'^2/6"
potential = "9.81*y"
[[constraint]]
name = "floor"
require = "y - sin(phi) >= 0"
restitution = 0.9
friction = "mu"
slip = "x' + sin(phi)*phi'"
[ensemble]
members = 80
[time]
end = 0.001
samples = 3
)toml";

const FrictionFault friction_faults[] = {
    {"ConeOfImpacts", "F_ball_bounce_slip", "kernels/dynamics/friction_shock.h",
     "unit.cone = unit.cone_static = Model::cone(",
     "unit.cone = unit.cone_static = Real(1.000001) * Model::cone("},
    {"TangentialRestitution", "F_superball", "kernels/dynamics/friction_shock.h",
     "inelastic ? Real(0) : e * rate[slip];", "inelastic ? Real(0) : Real(1.000001) * e * rate[slip];"},
    {"EnergyCap", capped_rod, "kernels/dynamics/friction_shock.h",
     "if (dissipated(theta) >= -noise) return true;",
     "if (dissipated(theta) >= -2 * size_of_energy()) return true;"},
    {"DirectionAfterReversal", "F_incline_slides", "kernels/event/modes.h",
     "set_friction_mode(me, f, stick, rubs ? problem.solution.d[k] : none);",
     "const Real turned[2] = {-problem.solution.d[k][0], -problem.solution.d[k][1]};\n"
     "    set_friction_mode(me, f, stick, rubs ? turned : none);"},
    {"ConeOfStick", "F_incline_stays", "kernels/lanes/transition_crossing.h",
     "const Real most = cone * point.lambda[contact]",
     "const Real most = Real(0.9) * cone * point.lambda[contact]"},
    {"SignOfYield", "L_clutch", "kernels/event/modes.h", "sign = holds ? Real(0) : problem.solution.d[k][0];",
     "sign = holds ? Real(0) : -problem.solution.d[k][0];"},
    {"PlaceOfLock", dry_guide, "kernels/lanes/transition_crossing.h",
     "point.k[Model::first_mode + Model::bound_offset(b)] +=",
     "point.k[Model::first_mode + Model::bound_offset(b)] += Real(1e-6) +"},
    {"Break", "L_cable_breaks", "kernels/event/modes.h",
     "me.constraints.conditions[Model::bound_condition(b)] = Condition<Real>{};", ""},
    {"Painleve", "F_painleve_inconsistent", "kernels/dynamics/contact_problem.h",
     "if (!(kappa(k, alone, true) > margin *", "if (!(-kappa(k, alone, true) > margin *"},
    {"HopsLeftOut", "F_zeno", "kernels/dynamics/friction_shock.h",
     "unit.moving = unit.tangents > 0 && sqrt(size) > zero;", "unit.moving = false;"},
};

std::string text_of(const std::string& study) {
  if (study.find('\n') != std::string::npos) return study;
  for (const FrictionCase& known : friction_cases())
    if (known.name == study) return known.study;
  throw std::out_of_range("no case '" + study + "'");
}

class FrictionError : public testing::TestWithParam<FrictionFault> {
 protected:
  CheckReport check_report(bool mistaken) const {
    const FrictionFault& fault = GetParam();
    const bool several = fault.study == capped_rod;
    const Study study = read_study(text_of(fault.study), fault.name + ".toml",
                                   several ? Overrides{} : Overrides{"ensemble.members=4"});
    KernelProgram program = cpu_program(study, LaneChoice::best);
    std::string& text = program.text.sources.at(fault.file);
    const std::size_t place = text.find(fault.formula);
    EXPECT_NE(place, std::string::npos) << "the formula is no longer in " << fault.file;
    if (mistaken && place != std::string::npos) text.replace(place, fault.formula.size(), fault.mistaken);
    // The error does not depend on optimisation, and the program is used once.
    std::replace(program.text.flags.begin(), program.text.flags.end(), std::string("-O3"),
                 std::string("-O1"));
    program.text.unit_flags.clear();
    BackendCpu backend(study, program, *HostCompiler::find(), 1);
    return check(study, backend, {.sample = several ? 80u : 4u, .threads = 1});
  }
};

TEST_P(FrictionError, IsFound) {
  const CheckReport sound = check_report(false);
  EXPECT_EQ(sound.verdict(), CheckVerdict::pass) << sound.verdict_text();
  EXPECT_EQ(check_report(true).verdict(), CheckVerdict::disagree);
}

INSTANTIATE_TEST_SUITE_P(Formulas, FrictionError, testing::ValuesIn(friction_faults),
                         [](const auto& fault) { return fault.param.name; });

}  // namespace
}  // namespace zwang::friction_errors_test
