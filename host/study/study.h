// A study as data: the system, how members are drawn, what is observed, and how members are integrated.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/settings.h"
#include "src/expression/expression.h"
#include "src/system/system.h"

namespace zwang {

struct Value;  // host/toml/document.h

// One random input. Arguments are expressions of earlier parameters.
struct Distribution {
  enum class Kind { uniform, normal, lognormal, triangular, exponential, choice, grid, file };
  Kind kind = Kind::uniform;
  // uniform a b | normal, lognormal mean std | triangular a m b | exponential mean | choice ... | grid a b
  std::vector<Expr> arguments;
  long long grid_points = 0;        // of a grid
  std::string file, column;         // of a file: path relative to the study's folder, and column name
  std::vector<double> file_values;  // of a file: row k is for member k
};

// Correlated normals: parameters `first` .. `first + mean.size() - 1`.
struct Joint {
  std::vector<std::string> names;
  std::vector<Expr> mean;
  std::vector<std::vector<Expr>> covariance;
};

constexpr std::size_t most_sweeps = 8;

// A quantity that takes given values one after the other, each with an ensemble of its own.
struct Sweep {
  std::string name;           // the parameter's: "c", or "load.x" for a quantity written in place
  std::size_t parameter = 0;  // index into Study::parameters
  std::vector<double> values;
  bool logarithmic = false;  // equally spaced logarithms
};

// How one parameter gets its value. Parameters are evaluated in the order of Study::parameters, which is the
// order of System::parameters. Distributions written directly in positions, velocities, initial values and
// restitutions are hidden parameters with names such as load.x, load.x', cable.restitution.
struct ParameterRule {
  std::string name;
  std::optional<Expr> value;                 // a number or an expression
  std::optional<Distribution> distribution;  // or a draw
  std::optional<std::size_t> joint;          // or a component of joints[*joint]
  std::size_t joint_component = 0;
  std::optional<std::size_t> sweep = {};  // or a value of sweeps[*sweep]
  bool drawn() const { return distribution.has_value() || joint.has_value(); }
};

// A point with prescribed motion.
struct AnchorFormula {
  std::string name;
  std::vector<Expr> position;  // of parameters and t
};

enum class Consistency { project, reject, error };
enum class SamplerKind { random, latin_hypercube, sobol };

// Stop early once the mean of a measure, or a sensitivity index, is known well enough.
struct UntilSettings {
  enum class Error { relative_stderr, relative_halfwidth, absolute_halfwidth };
  std::string measure;
  std::string index;  // with [sensitivity], instead of a measure: "S.NAME" or "T.NAME" of an input
  Error error = Error::relative_stderr;
  double limit = 0.01;
};

// The key of the study file.
inline const char* until_error_name(UntilSettings::Error error) {
  using Error = UntilSettings::Error;
  return error == Error::relative_stderr      ? "relative_stderr"
         : error == Error::relative_halfwidth ? "relative_halfwidth"
                                              : "absolute_halfwidth";
}

// Whether the draws of a member depend on its number within its point of the sweeps, or on its number.
enum class Streams { common, independent };

struct EnsembleSettings {
  long long members = 1;  // over all points of the sweeps; with `until`: the largest number
  // Members at each point of the sweeps: member = point * members_per_point + j. 0: there is no sweep.
  long long members_per_point = 0;
  Streams streams = Streams::common;
  unsigned long long seed = 1;
  SamplerKind sampler = SamplerKind::random;
  bool include_nominal = false;
  Consistency consistency = Consistency::error;
  std::optional<UntilSettings> until;

  // Members of one point; without a sweep all members.
  long long per_point() const { return members_per_point > 0 ? members_per_point : members; }
  long long points() const { return members / per_point(); }
  long long point_of(long long member) const { return member / per_point(); }
  long long place_in_point(long long member) const { return member % per_point(); }
};

struct TimeSettings {
  std::vector<double> outputs;  // ascending
  double end = 0;               // not before the last output
};

struct HistogramSettings {
  long long bins = 50;
  std::optional<std::pair<double, double>> range;
};

// P(measure > x) at given x, or at so many order statistics.
struct ExceedanceSettings {
  std::vector<double> at;  // ascending; empty: `points` counts
  long long points = 60;
};

struct StatisticsSettings {
  std::vector<double> quantiles = {0.05, 0.25, 0.5, 0.75, 0.95};
  std::map<std::string, HistogramSettings> histograms;         // by observable or measure
  std::map<std::string, HistogramSettings> record_histograms;  // by "record.value"
  std::map<std::string, ExceedanceSettings> exceedances;       // by measure
};

// Statistics once more over the members that fulfil a condition.
struct GivenSettings {
  std::string name;
  std::string condition;     // as written
  std::size_t flag = 0;      // among System::flags: 1 in the members selected
  bool observables = false;  // also observables over time
};

// Sobol' indices by pick-freeze: rows of members that share their draws except those of one input.
struct SensitivitySettings {
  struct Input {
    std::string name;                     // of a draw, or of a group
    std::vector<std::size_t> parameters;  // varied together: indices into Study::parameters
    std::string note;                     // what the index refers to, if that needs saying
  };
  long long base = 0;           // rows at each point of the sweeps: EnsembleSettings::per_point()
  std::vector<std::size_t> of;  // measures
  std::vector<Input> inputs;

  // Blocks of members: A, B, and A with one input from B. Block A is the ensemble, in which row j of a point
  // has the number point * base + j; in the other blocks it has this number + block *
  // EnsembleSettings::members.
  std::size_t blocks() const { return inputs.size() + 2; }
};

// A requirement on a value that depends on draws, such as a mass. A member that violates it is not integrated: it ends
// as inconsistent_start.
struct DrawnRange {
  std::string what;      // "body 'b': mass: a mass must be positive"
  std::string expected;  // "a finite number > 0"
  Expr value{};          // of parameters
  bool (*holds)(double) = nullptr;
};

struct OutputSettings {
  bool members = false;
  std::vector<long long> trajectories;
  bool events = true;  // in trajectories.nc
};

struct Study {
  std::string path;  // as given by the user
  std::string name;  // file name without folder and extension
  std::string title;
  std::string text;                       // the file as read
  std::shared_ptr<const Value> document;  // the file as a tree, with the changes made by --set
  std::shared_ptr<const System> system;
  std::vector<ParameterRule> parameters;
  std::vector<Joint> joints;
  std::vector<Sweep> sweeps;       // their points are all combinations, the first sweep slowest
  std::vector<DrawnRange> ranges;  // those that some draw may violate
  std::vector<AnchorFormula> anchors;
  std::vector<Expr> initial_positions, initial_velocities, initial_auxiliaries;  // of parameters
  EnsembleSettings ensemble;
  TimeSettings time;
  IntegratorSettings integrator;
  StatisticsSettings statistics;
  std::vector<GivenSettings> givens;
  std::optional<SensitivitySettings> sensitivity;
  OutputSettings output;
  std::map<std::string, std::string> units;  // labels by name; "time": of all times

  // The label of a name; empty if it has none.
  std::string unit(const std::string& of) const {
    const auto found = units.find(of);
    return found == units.end() ? "" : found->second;
  }

  // All members that are integrated; with `until` at most.
  long long members_in_all() const {
    return ensemble.members * (sensitivity ? static_cast<long long>(sensitivity->blocks()) : 1);
  }
};

// Whether the records of single members are kept until the end: for members.nc or records.nc.
inline bool keeps_members(const Study& study) {
  return study.output.members || !study.system->records.empty();
}

}  // namespace zwang
