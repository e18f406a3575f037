// Sampler: draws and prepares the members of a study. Everything that is the same for all members is computed
// once.
#pragma once

#include <optional>
#include <span>

#include "host/sample/consistent_start.h"
#include "host/sample/drawn_ranges.h"
#include "host/sample/prepared_member.h"
#include "host/sample/uniform.h"
#include "host/study/study.h"
#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"
#include "src/system/equations.h"

namespace zwang {

// An expression of parameters at t = 0, compiled for evaluation.
class ParameterFormula {
 public:
  ParameterFormula(const Expressions& pool, Expr e);
  double operator()(std::span<const double> parameters, std::vector<double>& slots) const;
  bool constant() const { return node_.op == Op::constant; }

 private:
  Node node_;        // a number or a single parameter needs no program; nearly all formulas are one of these
  Program program_;  // for all other formulas
};

// Immutable; any number of threads may share it. host/sample/uniform.h states what draws depend on.
class Sampler {
 public:
  // The study must outlive the sampler. Throws Error if the study has more draws than the sampler has
  // dimensions.
  explicit Sampler(const Study& study);
  explicit Sampler(Study&&) = delete;

  // Scratch space of one thread. If scratch and output are reused, nothing is allocated after the first
  // member.
  struct Scratch {
    std::vector<double> slots, arguments, outputs;
    std::vector<long long> grid_places;  // per parameter: index on its grid, if it has one
    std::vector<Eigen::VectorXd> joints;
    std::vector<char> joint_drawn;
    Eigen::VectorXd normals;
    Eigen::MatrixXd covariance, factor;
    std::optional<UniformSource::Design> design;  // of the point drawn last, if points have their own
    StartCheck::Scratch start;
    std::optional<Equations> equations;  // built when the first start has to be projected
  };

  // Parameters and start as drawn; `attempt` counts redraws of a rejected member. Member 0 of
  // each point is the nominal member if the study sets include_nominal. Throws Error if a distribution's
  // arguments are invalid for this member.
  void draw(unsigned long long member, unsigned attempt, Scratch& scratch, MemberInputs& made) const;
  // Every distribution at its centre, at a point of the sweeps.
  void draw_nominal(Scratch& scratch, MemberInputs& made, unsigned long long point = 0) const;

  // Draws the member and makes its start consistent with the constraints by the study's `consistency` rule.
  // Throws Error if that rule is "error" and the start violates a constraint by more than start_rounding.
  void prepare(unsigned long long member, Scratch& scratch, PreparedMember& made) const;

  // The drawn inputs: their indices into Study::parameters, ascending, and their names.
  const std::vector<std::size_t>& drawn() const { return drawn_; }
  const std::vector<std::string>& drawn_names() const { return drawn_names_; }

  // The number of independent randomisations (replicates) among the members, and the replicate of a member.
  // With one (random, Latin hypercube) a mean has the standard error std / sqrt(members); for a Latin
  // hypercube that is an upper bound (Owen 1997: its variance is at most members / (members - 1) times that
  // of independent members). With R > 1 (Sobol) the standard error is that of the mean of R replicate means.
  unsigned replicates() const { return uniform_.replicates(); }
  // `member`: its number in its point.
  unsigned replicate_of(unsigned long long member) const { return uniform_.replicate_of(member); }

 private:
  class Drawing;  // the draw of one member

  // The rules of Study::parameters, with compiled formulas and assigned dimensions.
  struct Rule {
    std::optional<ParameterFormula> value;
    std::vector<ParameterFormula> arguments;
    std::size_t dimension = 0;
  };
  struct JointRule {
    std::vector<ParameterFormula> mean, covariance;  // n, and n x n by rows
    std::vector<std::size_t> dimensions;             // of the components
    std::optional<Eigen::MatrixXd> factor;           // n x n, if it is the same for all members
  };

  void read_rules();
  void assign_inputs();
  void read_joint(const Joint& joint);
  // Where a member belongs: its point of the sweeps, its number in the point, and its block of pick-freeze.
  // Block 0 is the ensemble itself.
  struct MemberPlace {
    unsigned long long point = 0, row = 0;
    std::size_t block = 0;
  };
  MemberPlace place_of_member(unsigned long long member) const;
  bool nominal(unsigned long long member) const {
    return study_->ensemble.include_nominal && place_of_member(member).row == 0;
  }
  // Whether a draw of this block is that of B.
  bool is_swapped(std::size_t dimension, std::size_t block) const;
  void project(Scratch& scratch, PreparedMember& made) const;
  void require_near_constraints(Scratch& scratch, const PreparedMember& made) const;
  Sizes formula_sizes(const std::vector<double>& parameters) const;
  void find_drawn_starts();
  const Equations& equations(Scratch& scratch, const std::vector<double>& parameters) const;

  const Study* study_;
  unsigned long long per_point_;   // members of a point of the sweeps; without a sweep: no limit
  std::vector<Rule> rules_;        // per parameter
  std::vector<JointRule> joints_;  // per joint
  UniformSource uniform_;
  Program start_;                          // positions, velocities, auxiliaries
  std::vector<std::size_t> drawn_starts_;  // positions, then velocities, that depend on a draw
  DrawnRanges ranges_;
  StartCheck start_check_;
  std::vector<std::size_t> drawn_;
  std::vector<std::string> drawn_names_;
  std::vector<int> input_of_dimension_;  // pick-freeze: the input a draw belongs to, -1: none; else empty
};

// Indices (into Study::parameters) of the inputs that are drawn.
std::vector<std::size_t> drawn_inputs(const Study& study);

// The names of the draws that use a uniform number, in the order of their dimensions.
std::vector<std::string> dimension_names(const Study& study);

}  // namespace zwang
