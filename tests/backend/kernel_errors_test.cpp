// `check` detects a relative error of 1e-6 in a formula of the kernels, 1e-3 in single precision: programs
// are compiled with such errors inserted.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "host/backend/backend_cpu.h"
#include "host/check/check.h"
#include "host/study_file/load_study.h"

namespace zwang::kernel_errors_test {
namespace {

struct Fault {
  std::string name;                   // of the test
  std::string config;                 // a study in which the formula matters
  std::string file;                   // of the kernels
  std::string formula;                // as written there
  std::string mistaken;               // with an error of 1e-6
  std::string config_in_floats = {};  // where floats leave too much of `config` undecided
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

const Fault faults[] = {
    {"Stages", "slung_load", "kernels/integrator/runge_kutta.h",
     "y[c] + h * weighted<RowWeights<Method, i>>(k, c - n, R(0));",
     "y[c] + R(1.000001) * h * weighted<RowWeights<Method, i>>(k, c - n, R(0));"},
    {"Interpolant", "slung_load", "kernels/integrator/interpolant.h", "term[1][c] = first - delta;",
     "term[1][c] = R(1.000001) * first - delta;"},
    {"Shock", "impulse_string_wall", "kernels/dynamics/shock.h",
     "const Real offset = rate - dot<n>(a, v0) + rows.rebound[j];",
     "const Real offset = rate - dot<n>(a, v0) + rows.rebound[j] + Real(1e-6);"},
    {"EventTime", "string_pendulum", "kernels/event/event_functions.h",
     "return event_function.sign * raw - event_function.level",
     "return event_function.sign * raw - Real(1e-6) - event_function.level"},
    {"Impulse", "impulse_string_wall", "kernels/event/instant_events.h",
     "event.impulse[i] = result.impulses[i] *", "event.impulse[i] = Real(1.000001) * result.impulses[i] *"},
    {"SingleContactRebound", "three_balls", "kernels/event/single_contact.h", "leaves = e * approach;",
     "leaves = Real(1.000001) * e * approach;", "shaken_table"},
    {"SingleContactImpulse", "string_pendulum", "kernels/event/single_contact.h",
     "solver.l[j] * Model::reach(", "Real(1.000001) * solver.l[j] * Model::reach("},
    {"FastEventRebound", "impact_oscillator", "kernels/lanes/event_point.h", "e = of_sought(restitution);",
     "e = Real(1.000001) * of_sought(restitution);"},
    {"FastEventImpulse", "double_string", "kernels/lanes/event_point.h", "takes_part ? factor * impulse[i]",
     "takes_part ? Real(1.000001) * factor * impulse[i]"},
    {"FastEventTime", "double_string", "kernels/lanes/event_point.h",
     "return reached ? of_sought(f) : -of_sought(lambda);",
     "return (reached ? of_sought(f) : -of_sought(lambda)) + Real(1e-6);"},
    {"Series", "impact_oscillator", "kernels/integrator/taylor_series.h",
     "const R part = R(1.0 / (d + 1)) * h;", "const R part = R(1.000001 / (d + 1)) * h;"},
    {"Multipliers", "point_in_sphere", "kernels/record/forces.h",
     "multipliers_at<M>(k, constraints, t, y, lambda);",
     "multipliers_at<M>(k, constraints, t, y, lambda);\n  for (int i = 0; i < M::r; ++i) lambda[i] *= "
     "Real(1.000001);"},
};

class KernelError : public testing::TestWithParam<Fault> {
 protected:
  // For the interpolant the error is 1e-2: at most a quarter of it, times the change within one step, reaches
  // the results, and with 1e-3 that would be within the tolerance of floats at 4e-6.
  static std::string a_thousandth(const Fault& fault) {
    const std::string factor = fault.name == "Interpolant" ? "1.01" : "1.001";
    return std::regex_replace(std::regex_replace(fault.mistaken, std::regex("1\\.000001"), factor),
                              std::regex("1e-6"), "1e-3");
  }
  CheckReport check_report(bool mistaken, bool single = false) const {
    // The integrator whose text contains the fault.
    std::vector<std::string> overrides{GetParam().file == "kernels/integrator/taylor_series.h"
                                           ? "integrator.method=taylor"
                                           : "integrator.method=dop853"};
    // The finest tolerance possible with floats.
    if (single)
      overrides.insert(overrides.end(),
                       {"integrator.precision=single", "integrator.rtol=4e-6", "integrator.atol=4e-6"});
    const Fault& fault = GetParam();
    const std::string& config =
        single && !fault.config_in_floats.empty() ? fault.config_in_floats : fault.config;
    const Study study = load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/" + config + ".toml", overrides);
    KernelProgram program = cpu_program(study, LaneChoice::best);
    std::string& text = program.text.sources.at(GetParam().file);
    const std::size_t place = text.find(GetParam().formula);
    EXPECT_NE(place, std::string::npos) << "the formula is no longer in " << GetParam().file;
    if (mistaken && place != std::string::npos) {
      text.replace(place, GetParam().formula.size(), single ? a_thousandth(GetParam()) : GetParam().mistaken);
      // The error does not depend on optimisation, and the program is used once.
      std::replace(program.text.flags.begin(), program.text.flags.end(), std::string("-O3"),
                   std::string("-O1"));
      program.text.unit_flags.clear();
    }
    BackendCpu backend(study, program, *HostCompiler::find(), 2);
    return check(study, backend, {.sample = 4, .threads = 2});
  }
};

TEST_P(KernelError, OfAMillionthIsFoundWithMemberTimeAndQuantity) {
  EXPECT_EQ(check_report(false).verdict(), CheckVerdict::pass) << "without the error";
  const CheckReport report = check_report(true);
  EXPECT_EQ(report.verdict(), CheckVerdict::disagree);
  ASSERT_FALSE(report.findings.worst().empty());
  const CheckCase& worst = report.findings.worst().front();
  EXPECT_GT(worst.severity(), 1);
  EXPECT_FALSE(worst.quantity.empty());
  EXPECT_GE(worst.t, 0);
}

TEST_P(KernelError, OfAThousandthIsFoundInSinglePrecision) {
  EXPECT_EQ(check_report(false, true).verdict(), CheckVerdict::pass) << "without the error";
  EXPECT_EQ(check_report(true, true).verdict(), CheckVerdict::disagree);
}

INSTANTIATE_TEST_SUITE_P(Formulas, KernelError, testing::ValuesIn(faults),
                         [](const auto& fault) { return fault.param.name; });

}  // namespace
}  // namespace zwang::kernel_errors_test
