#include "host/sample.h"

#include <Random123/philox.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "host/quantile.h"
#include "src/error.h"

namespace zwang {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::uint32_t low_word(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high_word(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

// FNV-1a over the bytes of the name in 64 bits, folded to 32 by exclusive or.
std::uint32_t name_word(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return high_word(hash) ^ low_word(hash);
}

}  // namespace

// The contract behind "member k's draws depend on (seed, k, the draw's name) alone". Changing any of it
// changes every published ensemble.
//
//   generator  Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011)
//   key        seed bits 0..31, seed bits 32..63
//   counter    member bits 0..31, member bits 32..63, name word, attempt
//   output     words w0, w1 (w2, w3 unused): u = (2 m + 1) 2^-53 with m the upper 52 bits of w0 w1
//
// So u is one of the 2^52 midpoints of equal cells of (0, 1): never 0 or 1, and 1 - u is as likely as u.
// The integers and the one multiplication are exact: a GPU gives the same bits.
// Rejected: 53 bits plus one half, which needs 54 bits in the upper half of the range, rounds, and reaches 1.
// Two names with the same name word give the same draw: n names collide with probability about n^2 / 2^33.
double uniform_draw(unsigned long long seed, unsigned long long member, const std::string& name,
                    unsigned attempt) {
  const r123::Philox4x32_R<10>::ctr_type counter = {
      {low_word(member), high_word(member), name_word(name), attempt}};
  const r123::Philox4x32_R<10>::key_type key = {{low_word(seed), high_word(seed)}};
  const auto words = r123::Philox4x32_R<10>{}(counter, key);
  const std::uint64_t bits = std::uint64_t{words[0]} << 32 | words[1];
  return static_cast<double>(bits >> 11 | 1U) * 0x1p-53;
}

namespace {

using Kind = Distribution::Kind;

// "normal = { mean = 1, std = -0.2 }": a distribution with this member's numbers, in the study's notation.
std::string distribution_text(const Distribution& distribution, const std::vector<double>& x) {
  std::string list;
  for (const double value : x) list += (list.empty() ? "" : ", ") + number_text(value);
  const auto moments = [&] {
    return " = { mean = " + number_text(x[0]) + ", std = " + number_text(x[1]) + " }";
  };
  switch (distribution.kind) {
    case Kind::uniform:
      return "uniform = [" + list + "]";
    case Kind::normal:
      return "normal" + moments();
    case Kind::lognormal:
      return "lognormal" + moments();
    case Kind::triangular:
      return "triangular = [" + list + "]";
    case Kind::exponential:
      return "exponential = { mean = " + list + " }";
    case Kind::choice:
      return "choice = [" + list + "]";
    case Kind::grid:
      return "grid = [" + list + ", " + std::to_string(distribution.grid_points) + "]";
    case Kind::file:
      break;
  }
  return "file";
}

// What the arguments x must satisfy, in words and as a test of finite numbers.
struct Demand {
  const char* words;
  bool met;
};

Demand demand(Kind kind, const std::vector<double>& x) {
  switch (kind) {
    case Kind::uniform:
      return {"finite a <= b", x[0] <= x[1] && std::isfinite(x[1] - x[0])};
    case Kind::normal:
    case Kind::lognormal:
      return {"finite mean and std, std >= 0", x[1] >= 0};
    case Kind::triangular:
      return {"finite a <= m <= b", x[0] <= x[1] && x[1] <= x[2] && std::isfinite(x[2] - x[0])};
    case Kind::exponential:
      return {"finite mean > 0", x[0] > 0};
    case Kind::grid:  // may run downwards
      return {"finite a and b", std::isfinite(x[1] - x[0])};
    case Kind::choice:
    case Kind::file:
      break;
  }
  return {"finite numbers", true};
}

// The distribution at u: its quantile function, for the kinds that are drawn from a uniform number.
double at_quantile(Kind kind, const std::vector<double>& x, double u) {
  switch (kind) {
    case Kind::uniform:
      return uniform_quantile(x[0], x[1], u);
    case Kind::normal:
      return x[0] + x[1] * normal_quantile(u);
    case Kind::lognormal:
      return std::exp(x[0] + x[1] * normal_quantile(u));
    case Kind::triangular:
      return triangular_quantile(x[0], x[1], x[2], u);
    case Kind::exponential:
      return exponential_quantile(x[0], u);
    default: {
      assert(kind == Kind::choice);
      const auto count = static_cast<double>(x.size());
      const auto entry = static_cast<std::size_t>(u * count);
      return x[std::min(entry, x.size() - 1)];
    }
  }
}

// What a reader of the study would call the centre: the number the distribution is written around where there
// is one (mean of a normal, mode of a triangle, mean of an exponential), the middle of a range, the first of
// a list. Of a lognormal the median exp(mean): its mean grows with std, and more spread must not move the
// nominal member.
double at_centre(Kind kind, const std::vector<double>& x) {
  switch (kind) {
    case Kind::uniform:
    case Kind::grid:
      return std::midpoint(x[0], x[1]);
    case Kind::lognormal:
      return std::exp(x[0]);
    case Kind::triangular:
      return x[1];
    default:  // normal, exponential, choice
      return x[0];
  }
}

// Both ends are hit exactly.
double grid_value(double a, double b, long long index, long long points) {
  if (points == 1) return std::midpoint(a, b);
  if (index == points - 1) return b;
  return a + (b - a) * static_cast<double>(index) / static_cast<double>(points - 1);
}

// C = L L^T, L lower triangular. A covariance may be singular (one component a function of others): then a
// pivot is zero up to rounding, and so is what is left of its column, which contributes nothing.
// Rejected: pivoting. It would let the covariance's values decide which draw moves which component.
struct CovarianceFactor {
  Eigen::MatrixXd L;
  std::string flaw;  // why C is no covariance; empty when it is one
};

CovarianceFactor factor_covariance(const Eigen::MatrixXd& C, const std::vector<std::string>& names) {
  const Eigen::Index n = C.rows();
  // Relative to the variances; of the size of the rounding errors in C and in the sums below.
  const double tolerance = 16 * static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  CovarianceFactor made{Eigen::MatrixXd::Zero(n, n), ""};
  Eigen::MatrixXd& L = made.L;
  const auto name = [&](Eigen::Index i) { return "'" + names[static_cast<std::size_t>(i)] + "'"; };
  const auto flawed = [&](const std::string& flaw) {
    made.flaw = flaw;
    return made;
  };
  for (Eigen::Index j = 0; j < n; ++j) {
    // The variance of component j that the components before it leave unexplained.
    double left = C(j, j);
    for (Eigen::Index k = 0; k < j; ++k) left -= L(j, k) * L(j, k);
    if (!(left >= -tolerance * C(j, j)))
      return flawed("given the components before it, " + name(j) + " would have variance " +
                    number_text(left));
    const bool zero_pivot = left <= tolerance * C(j, j);
    if (!zero_pivot) L(j, j) = std::sqrt(left);

    for (Eigen::Index i = j + 1; i < n; ++i) {
      const double size = std::sqrt(std::abs(C(i, i))) * std::sqrt(std::abs(C(j, j)));
      if (!(std::abs(C(i, j) - C(j, i)) <= tolerance * size))
        return flawed(number_text(C(j, i)) + " for " + name(j) + " with " + name(i) + ", but " +
                      number_text(C(i, j)) + " for " + name(i) + " with " + name(j));
      double rest = C(i, j);
      for (Eigen::Index k = 0; k < j; ++k) rest -= L(i, k) * L(j, k);
      // A semi-definite matrix has rest^2 <= left * C_ii, and left is within tolerance * C_jj of zero.
      if (!zero_pivot)
        L(i, j) = rest / L(j, j);
      else if (!(std::abs(rest) <= std::sqrt(tolerance) * size))
        return flawed(name(i) + " would vary with " + name(j) + ", which has no variance of its own");
    }
  }
  return made;
}

// One member's numbers as they come about, in the order of Study::parameters.
class Drawing {
 public:
  // Without a member: the nominal one.
  Drawing(const Study& study, std::optional<unsigned long long> member, unsigned attempt)
      : study_(study), member_(member), attempt_(attempt), joints_(study.joints.size()) {
    assert(study.system->parameters.size() == study.parameters.size());
    made_.parameters.assign(study.parameters.size(), nan);  // what must not be read yet
  }

  MemberInputs run() {
    if (member_) place_on_grids();
    for (std::size_t i = 0; i < study_.parameters.size(); ++i) {
      const ParameterRule& rule = study_.parameters[i];
      made_.parameters[i] = rule.distribution ? draw(i)
                            : rule.joint      ? joint_component(rule)
                                              : evaluate(rule.value.value());
    }
    made_.start = {0, evaluate(study_.initial_positions), evaluate(study_.initial_velocities),
                   evaluate(study_.initial_auxiliaries)};
    return std::move(made_);
  }

 private:
  // At t = 0, with the parameters so far.
  double evaluate(Expr e) {
    const Inputs<double> inputs{.time = 0, .parameters = made_.parameters};
    const Expressions& pool = *study_.system->pool;
    // Numbers and plain names, nearly all that stands in a study, need no program.
    const Node& node = pool.node(e);
    if (node.op == Op::constant) return node.value;
    if (node.op == Op::symbol) return inputs[node.symbol];
    double value = nan;
    Program(pool, {e}).run<double>(inputs, scratch_, {&value, 1});
    return value;
  }

  Eigen::VectorXd evaluate(const std::vector<Expr>& list) {
    Eigen::VectorXd values(static_cast<Eigen::Index>(list.size()));
    for (std::size_t i = 0; i < list.size(); ++i) values(static_cast<Eigen::Index>(i)) = evaluate(list[i]);
    return values;
  }

  double uniform(const std::string& name) const {
    return uniform_draw(study_.ensemble.seed, *member_, name, attempt_);
  }

  double draw(std::size_t i) {
    const ParameterRule& rule = study_.parameters[i];
    const Distribution& distribution = *rule.distribution;
    if (distribution.kind == Kind::file) return file_value(rule);

    std::vector<double> x;
    x.reserve(distribution.arguments.size());
    for (const Expr argument : distribution.arguments) x.push_back(evaluate(argument));
    const Demand demanded = demand(distribution.kind, x);
    const bool finite = std::all_of(x.begin(), x.end(), [](double value) { return std::isfinite(value); });
    if (!finite || !demanded.met)
      fail({rule.name}, "the numbers of its distribution are impossible", distribution_text(distribution, x),
           demanded.words);

    if (!member_) return at_centre(distribution.kind, x);
    if (distribution.kind == Kind::grid)
      return grid_value(x[0], x[1], grid_index_[i], distribution.grid_points);
    return at_quantile(distribution.kind, x, uniform(rule.name));
  }

  // Row k for member k; the nominal member takes the first, which include_nominal leaves to it.
  double file_value(const ParameterRule& rule) const {
    const std::vector<double>& rows = rule.distribution->file_values;
    const unsigned long long row = member_.value_or(0);
    if (row >= rows.size())
      fail({rule.name}, "its file has run out of rows", std::to_string(rows.size()) + " rows",
           "a row for every member, the first for member 0");
    return rows[row];
  }

  // Full factorial: the member's number, written in the mixed base of the grids, is the list of its places on
  // them; the last grid declared is the lowest digit.
  void place_on_grids() {
    grid_index_.assign(study_.parameters.size(), 0);
    unsigned long long rest = *member_ - (study_.ensemble.include_nominal ? 1 : 0);
    unsigned long long combinations = 1;
    std::vector<std::string> names;
    for (std::size_t i = study_.parameters.size(); i-- > 0;) {
      const ParameterRule& rule = study_.parameters[i];
      if (!rule.distribution || rule.distribution->kind != Kind::grid) continue;
      assert(rule.distribution->grid_points >= 1);
      const auto points = static_cast<unsigned long long>(rule.distribution->grid_points);
      grid_index_[i] = static_cast<long long>(rest % points);
      rest /= points;
      combinations *= points;  // if this overflows, rest ends as 0 and the product is not used
      names.insert(names.begin(), rule.name);
    }
    if (!names.empty() && rest > 0)
      fail(names, "the grid has run out of points", std::to_string(combinations) + " combinations",
           "as many members as combinations");
  }

  double joint_component(const ParameterRule& rule) {
    Eigen::VectorXd& x = joints_[*rule.joint];
    if (x.size() == 0) x = draw_joint(study_.joints[*rule.joint]);
    return x(static_cast<Eigen::Index>(rule.joint_component));
  }

  // x = mean + L z with independent z, so that E[(x - mean)(x - mean)^T] = L L^T = C. The centre is z = 0.
  Eigen::VectorXd draw_joint(const Joint& joint) {
    const auto n = static_cast<Eigen::Index>(joint.mean.size());
    Eigen::VectorXd x = evaluate(joint.mean);
    Eigen::MatrixXd C(n, n);
    for (Eigen::Index i = 0; i < n; ++i)
      C.row(i) = evaluate(joint.covariance[static_cast<std::size_t>(i)]).transpose();

    if (!x.allFinite() || !C.allFinite())
      fail(joint.names, "the numbers of the joint distribution are impossible", "a number that is not finite",
           "finite means and covariances");
    const CovarianceFactor factor = factor_covariance(C, joint.names);
    if (!factor.flaw.empty())
      fail(joint.names, "the covariance of the joint distribution is impossible", factor.flaw,
           "a symmetric matrix without negative eigenvalues");

    if (!member_) return x;
    Eigen::VectorXd z(n);
    for (Eigen::Index k = 0; k < n; ++k)
      z(k) = normal_quantile(uniform(joint.names[static_cast<std::size_t>(k)]));
    // Loops, not L * z: the order of the sums, and so the last bit, is ours and not the vector unit's.
    for (Eigen::Index i = 0; i < n; ++i)
      for (Eigen::Index k = 0; k <= i; ++k) x(i) += factor.L(i, k) * z(k);
    return x;
  }

  [[noreturn]] void fail(std::vector<std::string> names, const std::string& what, const std::string& found,
                         const std::string& expected) const {
    for (std::string& name : names) name.insert(0, "'").append("'");
    const std::string who = member_ ? "member " + std::to_string(*member_) : "the nominal member";
    throw Error({.where = {study_.path, 0, 0},
                 .message = list_text(names) + " of " + who + ": " + what,
                 .found = found,
                 .expected = expected});
  }

  const Study& study_;
  std::optional<unsigned long long> member_;
  unsigned attempt_;
  std::vector<long long> grid_index_;    // per parameter; of those on grids
  std::vector<Eigen::VectorXd> joints_;  // per joint; empty until its first component is met
  std::vector<double> scratch_;
  MemberInputs made_;
};

}  // namespace

MemberInputs draw_member(const Study& study, unsigned long long member, unsigned attempt) {
  if (member == 0 && study.ensemble.include_nominal) return nominal_member(study);
  return Drawing(study, member, attempt).run();
}

MemberInputs nominal_member(const Study& study) { return Drawing(study, std::nullopt, 0).run(); }

std::vector<std::size_t> drawn_inputs(const Study& study) {
  std::vector<std::size_t> drawn;
  for (std::size_t i = 0; i < study.parameters.size(); ++i)
    if (study.parameters[i].drawn()) drawn.push_back(i);
  return drawn;
}

}  // namespace zwang
