// Runs one member of a study, from configs/ or written in the test, and gives its results by name.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

#include "host/sample/member.h"
#include "host/study_file/load_study.h"
#include "src/analysis/explain.h"

namespace zwang {

// The finest useful tolerance: below it, rounding exceeds the truncation error of the steps.
constexpr double finest = 1e-13;

// An answer of a few operations on numbers of order 1.
constexpr double algebra = 1e-14;

using Overrides = std::vector<std::string>;  // "path.to.key=value"

inline Study finely(Study study) {
  study.integrator.rtol = finest;
  study.integrator.atol = finest;
  return study;
}

inline Study config(const std::string& name, const Overrides& overrides = {}) {
  return finely(load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/" + name + ".toml", overrides));
}

inline Study written(const std::string& text, const Overrides& overrides = {}) {
  return finely(read_study(text, "written.toml", overrides));
}

// Output times other than the study's; the last is the end.
inline Study sampled(Study study, const std::vector<double>& times) {
  study.time.outputs = times;
  study.time.end = times.back();
  return study;
}

inline std::size_t number_of(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw std::out_of_range("no '" + name + "' in this study");
  return static_cast<std::size_t>(found - names.begin());
}

template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& list) {
  std::vector<std::string> names;
  names.reserve(list.size());
  for (const Named& entry : list) names.push_back(entry.name);
  return names;
}

// One member of a study, run to its end.
class StudyRun {
 public:
  explicit StudyRun(Study asked, unsigned long long number = 0)
      : study(std::move(asked)),
        member(prepare_member(study, number)),
        trajectory(replay_member(study, member, study_plan(study))) {}

  const System& system() const { return *study.system; }
  double end() const { return trajectory.last.state.t; }

  // The state at an output time, or at the end.
  const Sample& at(double t) const {
    for (const Sample& sample : trajectory.samples)
      if (std::abs(sample.state.t - t) <= 1e-12 * std::abs(t)) return sample;
    if (std::abs(end() - t) <= 1e-12 * std::abs(t)) return trajectory.last;
    throw std::out_of_range("no output at t = " + std::to_string(t));
  }
  double position(const std::string& coordinate, double t) const {
    return at(t).state.q(coordinate_number(coordinate));
  }
  double velocity(const std::string& coordinate, double t) const {
    return at(t).state.v(coordinate_number(coordinate));
  }
  double multiplier(const std::string& condition, double t) const {
    return at(t).multipliers(static_cast<Eigen::Index>(condition_number(condition)));
  }
  double observable(const std::string& name, double t) const {
    return at(t).observables[number_of(names_of(system().observables), name)];
  }
  double measure(const std::string& name) const {
    return trajectory.measures[number_of(names_of(system().measures), name)];
  }

  // Events of a kind, in order; with a condition: those that list it.
  std::vector<Event> events(EventKind kind) const {
    std::vector<Event> found;
    for (const Event& event : trajectory.events)
      if (event.kind == kind) found.push_back(event);
    return found;
  }
  std::vector<Event> events(EventKind kind, const std::string& condition) const {
    std::vector<Event> found;
    for (const Event& event : events(kind))
      if (lists(event, condition)) found.push_back(event);
    return found;
  }
  bool lists(const Event& event, const std::string& condition) const {
    const auto& list = event.constraints;
    return std::find(list.begin(), list.end(), condition_number(condition)) != list.end();
  }
  // Size of a condition's impulse in a shock; 0 where it is not part of the shock.
  double impulse(const Event& event, const std::string& condition) const {
    for (std::size_t k = 0; k < event.impulses.size(); ++k)
      if (event.struck()[k] == condition_number(condition)) return event.impulses[k];
    return 0;
  }

  Eigen::Index coordinate_number(const std::string& name) const {
    return static_cast<Eigen::Index>(number_of(system().coordinates, name));
  }
  std::size_t condition_number(const std::string& name) const {
    return number_of(names_of(system().conditions), name);
  }

  Study study;
  PreparedMember member;
  Trajectory trajectory;
};

// The result of `explain` at a time of a member's motion.
inline Explanation explained(const Study& study, double t = 0, unsigned long long number = 0) {
  const PreparedMember member = prepare_member(study, number);
  const Trajectory trajectory = replay_member(study, member, {{}, t});
  return explain(Equations(*study.system, member.inputs.parameters), trajectory.last,
                 study.integrator.contact_tolerance);
}

inline const ExplainedCondition& condition(const Explanation& explanation, const std::string& name) {
  return explanation.conditions[number_of(names_of(explanation.conditions), name)];
}

// The sets of pressing conditions that `explain` accepts.
inline std::vector<std::vector<std::string>> accepted_sets(const Explanation& explanation) {
  std::vector<std::vector<std::string>> accepted;
  for (const ExplainedSet& set : explanation.tried)
    if (set.accepted) accepted.push_back(set.pressing);
  return accepted;
}

inline void expect_near(const Eigen::VectorXd& actual, std::initializer_list<double> expected,
                        double tolerance, const std::string& what) {
  ASSERT_EQ(actual.size(), static_cast<Eigen::Index>(expected.size())) << what;
  Eigen::Index i = 0;
  for (const double value : expected) {
    EXPECT_NEAR(actual(i), value, tolerance) << what << ", component " << i;
    ++i;
  }
}

// Bounds of the audit of a run with given tolerances.
struct AuditLimits {
  double energy = 100 * finest;  // of the energy's size: a few hundred steps, each off by rtol
  double carnot = 1e-12;         // of the kinetic energy before the shock
  double created = 1e-12;        // of the energy's size
  double kkt = 1e-10;            // dimensionless; a wrong active set gives something of order 1
  bool may_stop = false;         // the study has a stop condition
};

// Laws that hold for every system: status, energy, Carnot, and the optimality of Gauss's principle.
inline void expect_sound(const StudyRun& run, const AuditLimits& limits = {}) {
  const Trajectory& trajectory = run.trajectory;
  const Audit& audit = trajectory.audit;
  if (!limits.may_stop || trajectory.status != Status::stopped) {
    EXPECT_EQ(status_name(trajectory.status), std::string("ok")) << trajectory.cause;
  }
  EXPECT_LE(audit.energy_drift, limits.energy * audit.energy_size);
  EXPECT_LE(audit.carnot, limits.carnot);
  EXPECT_LE(audit.energy_created, limits.created * audit.energy_size);
  EXPECT_LE(audit.kkt, limits.kkt);
}

}  // namespace zwang
