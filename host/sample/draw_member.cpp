// Draws one member: its place among points, rows and grids, its parameters in order, its start.
#include <array>
#include <cassert>
#include <cmath>
#include <limits>

#include "host/sample/distribution.h"
#include "host/sample/joint.h"
#include "host/sample/prepared_member.h"
#include "host/sample/quantile.h"
#include "host/sample/sampler.h"
#include "host/study/study.h"
#include "src/base/error.h"
#include "src/expression/evaluate.h"

namespace zwang {

using Kind = Distribution::Kind;

class Sampler::Drawing {
 public:
  // nominal: every distribution at its centre; the place is then that of the point.
  Drawing(const Sampler& sampler, const MemberPlace& place, bool nominal, unsigned attempt, Scratch& scratch,
          MemberInputs& made)
      : sampler_(sampler),
        study_(*sampler.study_),
        place_(place),
        nominal_(nominal),
        attempt_(attempt),
        scratch_(scratch),
        made_(made) {
    made.parameters.assign(study_.parameters.size(),
                           std::numeric_limits<double>::quiet_NaN());  // not yet defined
    scratch.joints.resize(study_.joints.size());
    scratch.joint_drawn.assign(study_.joints.size(), 0);
  }

  void run() {
    place_in_sweeps();
    if (!nominal_) {
      check_limit();
      place_on_grids();
      if (sampler_.uniform_.has_designs() && (!scratch_.design || scratch_.design->point != place_.point))
        scratch_.design = sampler_.uniform_.design_of(place_.point);
    }
    for (std::size_t i = 0; i < study_.parameters.size(); ++i) {
      const ParameterRule& rule = study_.parameters[i];
      made_.parameters[i] = rule.distribution ? draw(i)
                            : rule.joint      ? joint_component(rule)
                            : rule.sweep      ? study_.sweeps[*rule.sweep].values[places_[*rule.sweep]]
                                              : evaluate(*sampler_.rules_[i].value);
    }
    start();
  }

 private:
  // At t = 0, with the parameters drawn so far.
  double evaluate(const ParameterFormula& formula) { return formula(made_.parameters, scratch_.slots); }

  double uniform(std::size_t dimension) const {
    if (sampler_.is_swapped(dimension, place_.block)) dimension += sampler_.input_of_dimension_.size();
    return sampler_.uniform_(dimension, place_.row, attempt_, place_.point,
                             scratch_.design ? &*scratch_.design : nullptr);
  }

  // The digits of the point's number, in the mixed base of the sweeps' lengths, the first sweep slowest.
  void place_in_sweeps() {
    unsigned long long rest = place_.point;
    places_.fill(0);
    for (std::size_t i = study_.sweeps.size(); i-- > 0;) {
      const std::size_t size = study_.sweeps[i].values.size();
      places_[i] = static_cast<std::size_t>(rest % size);
      rest /= size;
    }
    if (rest == 0) return;
    std::vector<std::string> names;
    for (const Sweep& sweep : study_.sweeps) names.push_back(sweep.name);
    fail(names, "the sweep has no point for this member",
         std::to_string(study_.ensemble.points()) + " points", "a member of the ensemble");
  }

  void start() {
    scratch_.outputs.resize(sampler_.start_.outputs());
    sampler_.start_.run<double>({.time = 0, .parameters = made_.parameters}, scratch_.slots,
                                scratch_.outputs);
    const double* next = scratch_.outputs.data();
    const auto take = [&](Eigen::VectorXd& x, std::size_t size) {
      x = Eigen::Map<const Eigen::VectorXd>(next, static_cast<Eigen::Index>(size));
      next += size;
    };
    made_.start.t = 0;
    take(made_.start.q, study_.initial_positions.size());
    take(made_.start.v, study_.initial_velocities.size());
    take(made_.start.z, study_.initial_auxiliaries.size());
  }

  double draw(std::size_t i) {
    const ParameterRule& rule = study_.parameters[i];
    const Distribution& distribution = *rule.distribution;
    if (distribution.kind == Kind::file) return file_value(rule);

    std::vector<double>& x = scratch_.arguments;
    x.clear();
    for (const ParameterFormula& argument : sampler_.rules_[i].arguments) x.push_back(evaluate(argument));
    const ArgumentCheck arguments = check_arguments_of(distribution.kind, x);
    if (!arguments.ok)
      fail({rule.name}, "invalid arguments of its distribution", distribution_text(distribution, x),
           arguments.expected);

    if (nominal_) return at_centre(distribution.kind, x);
    if (distribution.kind == Kind::grid)
      return grid_value(x[0], x[1], scratch_.grid_places[i], distribution.grid_points);
    return at_quantile(distribution.kind, x, uniform(sampler_.rules_[i].dimension));
  }

  // Row k for member k of a point, or of the ensemble if the streams are independent. The nominal member uses
  // row 0, which is its own if include_nominal is set.
  double file_value(const ParameterRule& rule) const {
    const std::vector<double>& rows = rule.distribution->file_values;
    const bool independent = study_.ensemble.streams == Streams::independent;
    const unsigned long long row = (independent ? place_.point * own_members() : 0) + place_.row;
    if (row >= rows.size())
      fail({rule.name}, "its file has too few rows", std::to_string(rows.size()) + " rows",
           "one row for each member, the first for member 0");
    return rows[row];
  }

  // A Latin hypercube is built for a fixed number of members and has no strata for more.
  void check_limit() const {
    if (sampler_.uniform_.dimensions() == 0 || place_.row < sampler_.uniform_.limit()) return;
    fail(dimension_names(study_), "the Latin hypercube has no stratum for this member",
         std::to_string(sampler_.uniform_.limit()) + " members", "a member of the ensemble");
  }

  // Full factorial: the digits of the member's number, in the mixed base of the grid sizes, are its indices
  // on the grids; the last grid declared is the lowest digit.
  void place_on_grids() {
    scratch_.grid_places.assign(study_.parameters.size(), 0);
    unsigned long long rest = place_.row - (study_.ensemble.include_nominal ? 1 : 0);
    bool any = false;
    for (std::size_t i = study_.parameters.size(); i-- > 0;) {
      const auto& distribution = study_.parameters[i].distribution;
      if (!distribution || distribution->kind != Kind::grid) continue;
      assert(distribution->grid_points >= 1);
      const auto points = static_cast<unsigned long long>(distribution->grid_points);
      scratch_.grid_places[i] = static_cast<long long>(rest % points);
      rest /= points;
      any = true;
    }
    if (any && rest > 0) fail_off_the_grid();
  }

  [[noreturn]] void fail_off_the_grid() const {
    unsigned long long combinations = 1;  // cannot overflow: the member's number is larger
    std::vector<std::string> names;
    for (const ParameterRule& rule : study_.parameters) {
      if (!rule.distribution || rule.distribution->kind != Kind::grid) continue;
      combinations *= static_cast<unsigned long long>(rule.distribution->grid_points);
      names.push_back(rule.name);
    }
    fail(names, "the grid has no point for this member", std::to_string(combinations) + " combinations",
         "as many members as combinations");
  }

  double joint_component(const ParameterRule& rule) {
    const std::size_t joint = *rule.joint;
    if (!scratch_.joint_drawn[joint]) draw_joint(joint);
    scratch_.joint_drawn[joint] = 1;
    return scratch_.joints[joint](static_cast<Eigen::Index>(rule.joint_component));
  }

  // x = mean + L z with independent z, so that E[(x - mean)(x - mean)^T] = L L^T = C. The centre is z = 0.
  void draw_joint(std::size_t joint) {
    const JointRule& rule = sampler_.joints_[joint];
    const auto n = static_cast<Eigen::Index>(rule.mean.size());
    Eigen::VectorXd& x = scratch_.joints[joint];
    x.resize(n);
    for (Eigen::Index i = 0; i < n; ++i) x(i) = evaluate(rule.mean[static_cast<std::size_t>(i)]);
    const Eigen::MatrixXd& L = rule.factor && x.allFinite() ? *rule.factor : factor(joint, x);
    if (nominal_) return;

    scratch_.normals.resize(n);
    for (Eigen::Index k = 0; k < n; ++k)
      scratch_.normals(k) = normal_quantile(uniform(rule.dimensions[static_cast<std::size_t>(k)]));
    // Loops instead of L * z: the order of the sums, and so the last bit, must not depend on the vector unit.
    for (Eigen::Index i = 0; i < n; ++i)
      for (Eigen::Index k = 0; k <= i; ++k) x(i) += L(i, k) * scratch_.normals(k);
  }

  // The Cholesky factor of a covariance with this member's numbers.
  const Eigen::MatrixXd& factor(std::size_t joint, const Eigen::VectorXd& mean) {
    const std::vector<std::string>& names = study_.joints[joint].names;
    const Eigen::Index n = mean.size();
    Eigen::MatrixXd& C = scratch_.covariance;
    C.resize(n, n);
    for (Eigen::Index i = 0; i < n * n; ++i)
      C(i / n, i % n) = evaluate(sampler_.joints_[joint].covariance[static_cast<std::size_t>(i)]);
    if (!mean.allFinite() || !C.allFinite())
      fail(names, "invalid arguments of the joint distribution", "a number that is not finite",
           "finite means and covariances");
    const std::string flaw = factor_covariance(C, names, scratch_.factor);
    if (!flaw.empty())
      fail(names, "the matrix of the joint distribution is not a covariance", flaw,
           "a symmetric matrix without negative eigenvalues");
    return scratch_.factor;
  }

  [[noreturn]] void fail(std::vector<std::string> names, const std::string& what, const std::string& found,
                         const std::string& expected) const {
    for (std::string& name : names) name.insert(0, "'").append("'");
    const std::string who = nominal_ ? "the nominal member" : "member " + std::to_string(number());
    throw Error({.where = {study_.path, 0, 0},
                 .message = list_text(names) + " of " + who + ": " + what,
                 .found = found,
                 .expected = expected});
  }

  // The number of the member in messages, as `replay` takes it.
  unsigned long long number() const {
    return place_.block * static_cast<unsigned long long>(study_.ensemble.members) +
           place_.point * own_members() + place_.row;
  }

  // Members of a point of the sweeps; 0 without a sweep, where all members are of point 0.
  unsigned long long own_members() const {
    return static_cast<unsigned long long>(study_.ensemble.members_per_point);
  }

  const Sampler& sampler_;
  const Study& study_;
  std::array<std::size_t, most_sweeps> places_{};  // index of the value, by sweep
  MemberPlace place_;
  bool nominal_;
  unsigned attempt_;
  Scratch& scratch_;
  MemberInputs& made_;
};

void Sampler::draw(unsigned long long member, unsigned attempt, Scratch& scratch, MemberInputs& made) const {
  const MemberPlace place = place_of_member(member);
  Drawing(*this, place, nominal(member), attempt, scratch, made).run();
}

void Sampler::draw_nominal(Scratch& scratch, MemberInputs& made, unsigned long long point) const {
  Drawing(*this, {.point = point}, true, 0, scratch, made).run();
}

}  // namespace zwang
