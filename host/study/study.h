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

struct Value;  // host/study_file/document.h

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

// How one parameter gets its value. Parameters are evaluated in the order of Study::parameters, which is the
// order of System::parameters. Distributions written directly in positions, velocities, initial values and
// restitutions are hidden parameters with names such as load.x, load.x', cable.restitution.
struct ParameterRule {
  std::string name;
  std::optional<Expr> value;                 // a number or an expression
  std::optional<Distribution> distribution;  // or a draw
  std::optional<std::size_t> joint;          // or a component of joints[*joint]
  std::size_t joint_component = 0;
  bool drawn() const { return distribution.has_value() || joint.has_value(); }
};

// A point with prescribed motion.
struct AnchorFormula {
  std::string name;
  std::vector<Expr> position;  // of parameters and t
};

enum class Consistency { project, reject, error };
enum class SamplerKind { random, latin_hypercube, sobol };

// Stop early once the mean of this measure has this relative standard error.
struct UntilSettings {
  std::string measure;
  double relative_stderr = 0.01;
};

struct EnsembleSettings {
  long long members = 1;  // with `until`: the largest number
  unsigned long long seed = 1;
  SamplerKind sampler = SamplerKind::random;
  bool include_nominal = false;
  Consistency consistency = Consistency::error;
  std::optional<UntilSettings> until;
};

struct TimeSettings {
  std::vector<double> outputs;  // ascending
  double end = 0;               // not before the last output
};

struct HistogramSettings {
  long long bins = 50;
  std::optional<std::pair<double, double>> range;
};

struct StatisticsSettings {
  std::vector<double> quantiles = {0.05, 0.25, 0.5, 0.75, 0.95};
  std::map<std::string, HistogramSettings> histograms;  // by observable or measure
};

struct OutputSettings {
  bool members = false;
  std::vector<long long> trajectories;
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
  std::vector<AnchorFormula> anchors;
  std::vector<Expr> initial_positions, initial_velocities, initial_auxiliaries;  // of parameters
  EnsembleSettings ensemble;
  TimeSettings time;
  IntegratorSettings integrator;
  StatisticsSettings statistics;
  OutputSettings output;
  std::map<std::string, std::string> units;  // labels by name; "time": of all times

  // The label of a name; empty if it has none.
  std::string unit(const std::string& of) const {
    const auto found = units.find(of);
    return found == units.end() ? "" : found->second;
  }
};

}  // namespace zwang
