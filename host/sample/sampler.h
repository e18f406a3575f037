// A study's members, drawn and made ready in great numbers: everything that does not change from member to member is
// worked out once.
#pragma once

#include <optional>
#include <span>

#include "host/sample/consistent_start.h"
#include "host/sample/member.h"
#include "host/sample/sample.h"
#include "host/sample/uniform.h"
#include "host/study/study.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"
#include "src/system/equations.h"

namespace zwang {

// An expression of parameters at t = 0, ready to be evaluated.
class ParameterFormula {
 public:
  ParameterFormula(const Expressions& pool, Expr e);
  double operator()(std::span<const double> parameters, std::vector<double>& slots) const;
  bool constant() const { return node_.op == Op::constant; }

 private:
  Node node_;        // numbers and plain names, nearly all that stands in a study, need no program
  Program program_;  // of the others
};

// Immutable, shared by any number of threads. What draws depend on is told in host/sample/uniform.h.
class Sampler {
 public:
  // The study must outlive the sampler. Throws Error where it has more draws than the sampler has dimensions.
  explicit Sampler(const Study& study);
  explicit Sampler(Study&&) = delete;

  // Belongs to one thread. With the same scratch and output nothing is allocated after the first member.
  struct Scratch {
    std::vector<double> slots, arguments, outputs;
    std::vector<long long> grid_places;  // per parameter; of those on grids
    std::vector<Eigen::VectorXd> joints;
    std::vector<char> joint_drawn;
    Eigen::VectorXd normals;
    Eigen::MatrixXd covariance, factor;
    StartCheck::Scratch start;
    std::optional<Equations> equations;  // made when the first start has to be moved
  };

  // Parameters and start as drawn; `attempt` counts redraws of a rejected member. Member 0 is the nominal one where
  // the study says so. Throws Error when a distribution's numbers are impossible for this member.
  void draw(unsigned long long member, unsigned attempt, Scratch& scratch, MemberInputs& made) const;
  void draw_nominal(Scratch& scratch, MemberInputs& made) const;  // every distribution at its centre

  // Drawn, and brought onto the conditions as the study's `consistency` says. Throws Error where that is "error" and
  // the start is off.
  void prepare(unsigned long long member, Scratch& scratch, PreparedMember& made) const;

  // The inputs that are drawn: indices into the parameters, ascending, and their names.
  const std::vector<std::size_t>& drawn() const { return drawn_; }
  const std::vector<std::string>& drawn_names() const { return drawn_names_; }

  // Independent randomisations among the members, and which one a member belongs to. With one (random, Latin
  // hypercube) a mean has the standard error std / sqrt(members); for a Latin hypercube that is an upper bound
  // (Owen 1997: its variance is at most members / (members - 1) times that of independent members). With R > 1
  // (Sobol) the standard error is that of the mean of R replicate means.
  unsigned replicates() const { return uniform_.replicates(); }
  unsigned replicate_of(unsigned long long member) const { return uniform_.replicate_of(member); }

 private:
  class Drawing;  // one member's numbers as they come about

  // How parameters come about: as in Study, with formulas ready and dimensions given out.
  struct Rule {
    std::optional<ParameterFormula> value;
    std::vector<ParameterFormula> arguments;
    std::size_t dimension = 0;
  };
  struct JointRule {
    std::vector<ParameterFormula> mean, covariance;  // n, and n x n by rows
    std::vector<std::size_t> dimensions;             // of the components
    std::optional<Eigen::MatrixXd> factor;           // n x n, where the same for all members
  };

  void read_rules();
  void read_joint(const Joint& joint);
  bool nominal(unsigned long long member) const { return member == 0 && study_->ensemble.include_nominal; }
  void project(Scratch& scratch, PreparedMember& made) const;
  [[noreturn]] void refuse(Scratch& scratch, const PreparedMember& made) const;
  const Equations& equations(Scratch& scratch, const std::vector<double>& parameters) const;

  const Study* study_;
  std::vector<Rule> rules_;        // per parameter
  std::vector<JointRule> joints_;  // per joint
  UniformSource uniform_;
  Program start_;  // positions, velocities, auxiliaries
  StartCheck start_check_;
  std::vector<std::size_t> drawn_;
  std::vector<std::string> drawn_names_;
};

// The names of the draws that take a uniform number, in the order of their dimensions.
std::vector<std::string> dimension_names(const Study& study);

}  // namespace zwang
