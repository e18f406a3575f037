// Checks that need numbers. They use the nominal member: every distribution at its centre.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "host/sample/prepared_member.h"
#include "host/sample/sample.h"
#include "host/study/study.h"
#include "host/study_file/builder.h"
#include "host/toml/reader.h"
#include "src/base/error.h"
#include "src/expression/evaluate.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// ", c = 0.1": the swept quantities of a member.
std::string swept_values(const Study& study, const MemberInputs& member) {
  std::string text;
  for (const Sweep& sweep : study.sweeps)
    text += ", " + sweep.name + " = " + number_text(member.parameters[sweep.parameter]);
  return text;
}

}  // namespace

// The acceleration of a coordinate without kinetic energy is undetermined.
void StudyBuilder::check_masses() {
  const System& system = *study_.system;
  for (const NamedPart& coordinate : bodies_.coordinates) {
    const bool has_mass = std::any_of(system.mass.begin(), system.mass.end(), [&](const MassEntry& entry) {
      return entry.row == coordinate.first || entry.column == coordinate.first;
    });
    if (!has_mass)
      reader_.report_found(coordinate.entry, "has no kinetic energy", "",
                           "a square of " + coordinate.name + "' in [system] kinetic",
                           "for a state without inertia use [[auxiliary]]");
  }
  reader_.finish();
}

// With sweeps, at the first and the last of their points.
void StudyBuilder::check_nominal_member() {
  check_nominal_member(nominal_member(study_));
  if (!study_.sweeps.empty())
    check_nominal_member(
        nominal_member(study_, static_cast<unsigned long long>(study_.ensemble.points() - 1)));
}

void StudyBuilder::check_nominal_member(const MemberInputs& nominal) {
  const System& system = *study_.system;
  const auto report = [&](const Field& field, const std::string& message, const std::string& found,
                          const std::string& expected, const std::string& hint) {
    reader_.report_found(field, message,
                         found + " for the nominal member (every distribution at its centre" +
                             swept_values(study_, nominal) + ")",
                         expected, hint);
  };
  for (const DeferredCheck& check : parameters_.deferred_checks) {
    const Inputs<double> inputs{.time = 0, .parameters = nominal.parameters};
    const double value = Program(*system.pool, {check.value}).run<double>(inputs).front();
    if (!check.holds(value))
      report(check.field, check.message, number_text(value), check.expected, check.hint);
  }
  reader_.finish();

  for (std::size_t i = 0; i < system.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    if (std::isfinite(nominal.start.q(k)) && std::isfinite(nominal.start.v(k))) continue;
    throw Error({.where = {study_.path, 0, 0},
                 .message = "the nominal member does not start at a finite " +
                            std::string(std::isfinite(nominal.start.q(k)) ? "velocity" : "position"),
                 .found = system.coordinates[i] + " = " + number_text(nominal.start.q(k)) + ", " +
                          system.coordinates[i] + "' = " + number_text(nominal.start.v(k)),
                 .expected = "finite numbers"});
  }

  // The masses of points have been checked one by one; only an explicit kinetic energy can make the matrix
  // singular.
  if (!fields_.kinetic && !fields_.general_variation) return;
  const Equations equations(system, nominal.parameters);
  zwang::State without_multipliers = nominal.start;
  std::vector<std::string> multipliers;
  for (const ConditionFormula& condition : system.conditions) {
    if (!condition.general) continue;
    double& rho = without_multipliers.z(static_cast<Eigen::Index>(*condition.general));
    multipliers.push_back(condition.name + ".multiplier = " + number_text(rho));
    rho = 0;
  }
  if (fields_.kinetic) check_mass_matrix(equations.mass(without_multipliers));
  reader_.finish();
  // A constraint that is not linear in the velocities adds to the mass matrix if it has variation =
  // "general".
  if (fields_.general_variation &&
      Eigen::LLT<Eigen::MatrixXd>(equations.mass(nominal.start)).info() != Eigen::Success)
    report(fields_.general_variation, "with these multipliers M + rho g_vv is not positive definite",
           list_text(multipliers), "multipliers closer to 0", "");
}

void StudyBuilder::check_mass_matrix(const Eigen::MatrixXd& M) {
  const auto report = [&](const std::string& message, const std::string& found) {
    reader_.report_found(fields_.kinetic, message, found,
                         "kinetic energy > 0 for every motion at the start of the nominal member");
  };
  const std::vector<std::string>& names = study_.system->coordinates;
  for (Eigen::Index i = 0; i < M.rows(); ++i)
    if (!M.row(i).allFinite() || M(i, i) <= 0) {
      const std::string& name = names[static_cast<std::size_t>(i)];
      report(
          M.row(i).allFinite() ? "the mass matrix is not positive definite" : "the mass matrix is not finite",
          number_text(M(i, i)) + " for the square of " + name + "'");
      return;
    }
  // Scaled to a unit diagonal, so that masses of very different size do not make the matrix look singular.
  const Eigen::VectorXd scale = M.diagonal().cwiseSqrt().cwiseInverse();
  const Eigen::MatrixXd unit = scale.asDiagonal() * M * scale.asDiagonal();
  const Eigen::LLT<Eigen::MatrixXd> factors(unit);
  if (factors.info() == Eigen::Success && factors.rcond() > 1e-14) return;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> modes(unit);
  const Eigen::VectorXd motion = scale.cwiseProduct(modes.eigenvectors().col(0));
  std::vector<std::string> parts;
  for (Eigen::Index i = 0; i < motion.size() && parts.size() < 6; ++i)
    if (std::abs(motion(i)) > 1e-9 * motion.cwiseAbs().maxCoeff())
      parts.push_back(names[static_cast<std::size_t>(i)] + "'");
  report("the mass matrix is not positive definite",
         "a motion of " + list_text(parts) + " without kinetic energy");
}

}  // namespace zwang
