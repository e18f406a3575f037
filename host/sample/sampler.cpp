// Draws members. The constructor compiles everything that is the same for all members; Drawing computes one
// member.
#include "host/sample/sampler.h"

#include <array>
#include <cassert>
#include <cmath>
#include <limits>

#include "host/sample/distribution.h"
#include "host/sample/joint.h"
#include "host/sample/prepared_member.h"
#include "host/sample/quantile.h"
#include "host/sample/sobol.h"
#include "host/study/study.h"
#include "src/base/error.h"
#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"

namespace zwang {

using Kind = Distribution::Kind;

// ---------------------------------------------------------------------------------------------------------
// Once per study
// ---------------------------------------------------------------------------------------------------------

ParameterFormula::ParameterFormula(const Expressions& pool, Expr e) : node_(pool.node(e)) {
  if (node_.op != Op::constant && node_.op != Op::symbol) program_ = Program(pool, {e});
}

double ParameterFormula::operator()(std::span<const double> parameters, std::vector<double>& slots) const {
  const Inputs<double> inputs{.time = 0, .parameters = parameters};
  if (node_.op == Op::constant) return node_.value;
  if (node_.op == Op::symbol) return inputs[node_.symbol];
  double value = std::numeric_limits<double>::quiet_NaN();
  program_.run<double>(inputs, slots, {&value, 1});
  return value;
}

std::vector<std::size_t> drawn_inputs(const Study& study) {
  std::vector<std::size_t> drawn;
  for (std::size_t i = 0; i < study.parameters.size(); ++i)
    if (study.parameters[i].drawn()) drawn.push_back(i);
  return drawn;
}

std::vector<std::string> dimension_names(const Study& study) {
  std::vector<std::string> names;
  for (const ParameterRule& rule : study.parameters)
    if (rule.joint || (rule.distribution && takes_uniform(rule.distribution->kind)))
      names.push_back(rule.name);
  return names;
}

namespace {

// Pick-freeze has a second set of draws, whose names end in a prime: one design of twice the dimensions.
std::vector<std::string> uniform_names(const Study& study) {
  std::vector<std::string> names = dimension_names(study);
  const std::size_t count = names.size();
  for (std::size_t k = 0; k < count && study.sensitivity; ++k) names.push_back(names[k] + "\u2032");
  return names;
}

}  // namespace

Sampler::Sampler(const Study& study)
    : study_(&study),
      per_point_(study.sweeps.empty() ? std::numeric_limits<unsigned long long>::max()
                                      : static_cast<unsigned long long>(study.ensemble.per_point())),
      uniform_(study.ensemble, uniform_names(study)),
      start_check_(*study.system, study.integrator.contact_tolerance),
      drawn_(drawn_inputs(study)) {
  assert(study.system->parameters.size() == study.parameters.size());
  if (study.ensemble.sampler == SamplerKind::sobol && uniform_.dimensions() > sobol_dimensions)
    throw Error({.where = {study.path, 0, 0},
                 .message = "the sampler \"sobol\" does not have enough dimensions for this study",
                 .found = std::to_string(uniform_.dimensions()) + " draws",
                 .expected = "at most " + std::to_string(sobol_dimensions),
                 .hint = "\"latin-hypercube\" and \"random\" have no such limit"});
  for (const Joint& joint : study.joints) read_joint(joint);
  read_rules();
  for (const std::size_t i : drawn_) drawn_names_.push_back(study.parameters[i].name);
  std::vector<Expr> start = study.initial_positions;
  start.insert(start.end(), study.initial_velocities.begin(), study.initial_velocities.end());
  start.insert(start.end(), study.initial_auxiliaries.begin(), study.initial_auxiliaries.end());
  start_ = Program(*study.system->pool, start);
  find_drawn_starts();
}

// A parameter varies if it is drawn or a formula of one that is.
void Sampler::find_drawn_starts() {
  const Expressions& pool = *study_->system->pool;
  std::vector<char> varies(study_->parameters.size(), 0);
  const auto depends = [&](Expr e) {
    const std::vector<Symbol> symbols = pool.symbols({e});
    return std::any_of(symbols.begin(), symbols.end(), [&](const Symbol& symbol) {
      return symbol.kind == SymbolKind::parameter && varies[symbol.index] != 0;
    });
  };
  for (std::size_t i = 0; i < varies.size(); ++i) {
    const ParameterRule& rule = study_->parameters[i];
    varies[i] = rule.drawn() || (rule.value && depends(*rule.value)) ? 1 : 0;
  }
  const std::size_t n = study_->initial_positions.size();
  for (std::size_t k = 0; k < 2 * n; ++k)
    if (depends(k < n ? study_->initial_positions[k] : study_->initial_velocities[k - n]))
      drawn_starts_.push_back(k);
}

void Sampler::read_joint(const Joint& joint) {
  const Expressions& pool = *study_->system->pool;
  JointRule made;
  made.dimensions.resize(joint.mean.size());
  for (const Expr e : joint.mean) made.mean.emplace_back(pool, e);
  bool constant = true;
  for (const std::vector<Expr>& row : joint.covariance)
    for (const Expr e : row) constant = made.covariance.emplace_back(pool, e).constant() && constant;
  // A constant matrix that is not a covariance is reported by the first draw, whose message names the member.
  if (constant) {
    const auto n = static_cast<Eigen::Index>(joint.mean.size());
    Eigen::MatrixXd C(n, n), L;
    std::vector<double> slots;
    for (Eigen::Index i = 0; i < n * n; ++i)
      C(i / n, i % n) = made.covariance[static_cast<std::size_t>(i)]({}, slots);
    if (C.allFinite() && factor_covariance(C, joint.names, L).empty()) made.factor = L;
  }
  joints_.push_back(std::move(made));
}

// Dimensions are assigned in the order of the parameters.
void Sampler::read_rules() {
  const Expressions& pool = *study_->system->pool;
  std::size_t dimension = 0;
  for (const ParameterRule& rule : study_->parameters) {
    Rule& made = rules_.emplace_back();
    if (rule.distribution) {
      for (const Expr e : rule.distribution->arguments) made.arguments.emplace_back(pool, e);
      if (takes_uniform(rule.distribution->kind)) made.dimension = dimension++;
    } else if (rule.joint) {
      joints_[*rule.joint].dimensions[rule.joint_component] = dimension++;
    } else if (!rule.sweep) {
      made.value.emplace(pool, rule.value.value());
    }
  }
  assert(dimension * (study_->sensitivity ? 2 : 1) == uniform_.dimensions());
  if (study_->sensitivity) assign_inputs();
}

void Sampler::assign_inputs() {
  const SensitivitySettings& settings = *study_->sensitivity;
  input_of_dimension_.assign(uniform_.dimensions() / 2, -1);
  for (std::size_t i = 0; i < settings.inputs.size(); ++i)
    for (const std::size_t parameter : settings.inputs[i].parameters) {
      const ParameterRule& rule = study_->parameters[parameter];
      const std::size_t dimension =
          rule.joint ? joints_[*rule.joint].dimensions[rule.joint_component] : rules_[parameter].dimension;
      input_of_dimension_[dimension] = static_cast<int>(i);
    }
}

Sampler::Place Sampler::place_of_member(unsigned long long member) const {
  const auto rows = static_cast<unsigned long long>(study_->ensemble.members);
  if (!study_->sensitivity || member / rows >= study_->sensitivity->blocks()) return {member, 0};
  return {member % rows, static_cast<std::size_t>(member / rows)};
}

bool Sampler::is_swapped(std::size_t dimension, std::size_t block) const {
  if (block == 0 || input_of_dimension_[dimension] < 0) return false;
  return block == 1 || static_cast<std::size_t>(input_of_dimension_[dimension]) == block - 2;
}

// ---------------------------------------------------------------------------------------------------------
// Once per member
// ---------------------------------------------------------------------------------------------------------

class Sampler::Drawing {
 public:
  // member: its number in the point of the sweeps; none means the nominal member.
  Drawing(const Sampler& sampler, unsigned long long point, std::optional<unsigned long long> member,
          unsigned attempt, Scratch& scratch, MemberInputs& made)
      : sampler_(sampler),
        study_(*sampler.study_),
        point_(point),
        member_(member),
        place_(member ? sampler.place_of_member(*member) : Place{}),
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
    if (member_) {
      check_limit();
      place_on_grids();
      if (sampler_.uniform_.has_designs() && (!scratch_.design || scratch_.design->point != point_))
        scratch_.design = sampler_.uniform_.design_of(point_);
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
    return sampler_.uniform_(dimension, place_.row, attempt_, point_,
                             scratch_.design ? &*scratch_.design : nullptr);
  }

  // The digits of the point's number, in the mixed base of the sweeps' lengths, the first sweep slowest.
  void place_in_sweeps() {
    unsigned long long rest = point_;
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

    if (!member_) return at_centre(distribution.kind, x);
    if (distribution.kind == Kind::grid)
      return grid_value(x[0], x[1], scratch_.grid_places[i], distribution.grid_points);
    return at_quantile(distribution.kind, x, uniform(sampler_.rules_[i].dimension));
  }

  // Row k for member k of a point, or of the ensemble if the streams are independent. The nominal member uses row 0, which is its own if include_nominal is set.
  double file_value(const ParameterRule& rule) const {
    const std::vector<double>& rows = rule.distribution->file_values;
    const bool independent = study_.ensemble.streams == Streams::independent;
    const unsigned long long row = (independent ? point_ * own_members() : 0) + member_.value_or(0);
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
    unsigned long long rest = *member_ - (study_.ensemble.include_nominal ? 1 : 0);
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
    if (!member_) return;

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
    const std::string who =
        member_ ? "member " + std::to_string(point_ * own_members() + *member_) : "the nominal member";
    throw Error({.where = {study_.path, 0, 0},
                 .message = list_text(names) + " of " + who + ": " + what,
                 .found = found,
                 .expected = expected});
  }

  // Members of a point of the sweeps; 0 without a sweep, where all members are of point 0.
  unsigned long long own_members() const {
    return static_cast<unsigned long long>(study_.ensemble.members_per_point);
  }

  const Sampler& sampler_;
  const Study& study_;
  unsigned long long point_;
  std::array<std::size_t, most_sweeps> places_{};  // index of the value, by sweep
  std::optional<unsigned long long> member_;
  Place place_;
  unsigned attempt_;
  Scratch& scratch_;
  MemberInputs& made_;
};

void Sampler::draw(unsigned long long member, unsigned attempt, Scratch& scratch, MemberInputs& made) const {
  if (nominal(member)) return draw_nominal(scratch, made, member / per_point_);
  Drawing(*this, member / per_point_, member % per_point_, attempt, scratch, made).run();
}

void Sampler::draw_nominal(Scratch& scratch, MemberInputs& made, unsigned long long point) const {
  Drawing(*this, point, std::nullopt, 0, scratch, made).run();
}

}  // namespace zwang
