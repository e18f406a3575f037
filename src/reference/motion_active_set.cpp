// The active set after an event, by Gauss's principle of least constraint.
#include <algorithm>
#include <cmath>

#include "kernels/base/status.h"
#include "src/base/error.h"
#include "src/base/index.h"
#include "src/laws/least_constraint.h"
#include "src/reference/audit.h"
#include "src/reference/member_state.h"
#include "src/reference/motion.h"
#include "src/reference/row_dependence.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"
#include "src/system/mass_metric.h"

namespace zwang {

namespace {

// A hop no higher than this many zeros of f cannot be resolved.
constexpr double unresolved_hop = 4;
// A completed accumulation changes the velocities, and with them the set; more passes than this have no
// effect.
constexpr int pass_limit = 8;
// A multiplier of this many zeros is clearly above zero.
constexpr double clear_force = 1e4;

}  // namespace

// The closed set follows from f = 0 and f' = 0 (requirement 4) [mayer-1..5] [staeckel-20..24], and Gauss's
// principle decides which of its conditions press. A condition just released stays out unless the others
// would push through it. Where forces are not unique and the others hold it at zero, it stays closed without a force:
// the forces depend on the state alone. Conditions that leave together would close each other by turns: of those without
// a force, those that have opened at this instant stay open, and with the release of one that had no force all that were
// open.
bool Motion::update_active_set(std::vector<char> touching, std::size_t released, const ModeChange& change) {
  const double multiplier_zero = released == no_condition ? 0 : member_.conditions[released].multiplier_zero;
  const bool had_force = released != no_condition && !member_.conditions[released].idle;
  const bool may_rest = had_force && !member_.unique_forces;
  const double instant = 1e-9 * std::abs(member_.t) + member_.rounding_of_time();
  std::vector<char> open_before;
  for (const ConditionState& condition : member_.conditions)
    open_before.push_back(condition.standing == Standing::open &&
                          (!had_force || member_.t - condition.since <= instant));
  std::size_t rests = no_condition;
  for (int pass = 0; pass < pass_limit; ++pass) {
    let_moving_bounds_yield(change);
    GaussProblem problem = gauss_problem(touching, released);
    const std::optional<LeastConstraint> gauss = solve_gauss_problem(problem, change);
    if (!gauss) return false;
    if (bounds_forces()) set_modes(problem);
    apply_qp_solution(problem, *gauss, touching);
    if (bounds_forces()) {
      activate_sticking_rows();
      note_dependence(problem.state);
    }

    // If the released condition would be violated, or rests, the problem is solved again with it.
    if (released != no_condition) {
      const std::vector<char> bear = pressing(problem, *gauss);
      if (may_rest && is_held_by_others(member_, released, problem.state, bear)) rests = released;
      if (rests != no_condition || must_stay(released, multiplier_zero, problem.state, *gauss)) {
        released = no_condition;
        continue;
      }
      if (keep_open(open_before, bear, touching)) continue;
    }
    // Contacts that leave too slowly for their hop to be resolved close at once.
    const std::vector<std::size_t> hops = unresolved_hops(problem, *gauss, touching, released);
    if (hops.empty()) break;
    complete_hops(hops, gauss->a);
    if (!going()) return false;
    for (const std::size_t i : hops) touching[i] = 1;
  }
  if (rests != no_condition && member_.conditions[rests].standing == Standing::closed) {
    ConditionState& condition = member_.conditions[rests];
    condition.idle = true;
    condition.multiplier_zero = std::max(condition.multiplier_zero, multiplier_zero);
  }
  describe_remainder();
  return true;
}

// The conditions that restrict the accelerations: equations, and inequalities with f = 0 and f' = 0.
Motion::GaussProblem Motion::gauss_problem(const std::vector<char>& touching, std::size_t released) const {
  GaussProblem problem{member_.state(), {}, std::vector<Zero>(member_.conditions.size())};
  for (std::size_t i = 0; i < member_.conditions.size(); ++i) {
    if (!member_.in_force(i) || equations_.system().constraints[i].slip_of) continue;
    problem.zeros[i] = member_.zero_of(i, problem.state);
    const bool still = std::abs(equations_.rate(i, problem.state)) <= problem.zeros[i].rate;
    if (member_.conditions[i].standing == Standing::equation || (touching[i] && still && i != released))
      problem.rows.push_back(i);
  }
  return problem;
}

std::optional<LeastConstraint> Motion::solve_gauss_problem(GaussProblem& problem, const ModeChange& change) {
  found_modes_.reset();
  if (bounds_forces()) return solve_modes_in_force(problem, change);
  return solve_plain_gauss_problem(problem);
}

std::optional<LeastConstraint> Motion::solve_plain_gauss_problem(const GaussProblem& problem) {
  LeastConstraint gauss = least_constraint(equations_, problem.state, member_.sizes, problem.rows,
                                           10 * settings_.contact_tolerance);
  // Dependent rows leave the multipliers undetermined, and with a general condition these are part of the
  // motion.
  if (gauss.redundant && equations_.system().any_general()) gauss.status = Status::singular;
  if (gauss.status != Status::ok) {
    std::string names;
    for (const std::size_t i : problem.rows)
      names += (names.empty() ? "" : ", ") + equations_.system().constraints[i].name;
    fail(gauss.status,
         "no acceleration at t = " + number_text(member_.t) + (names.empty() ? "" : " under " + names));
    return std::nullopt;
  }
  Trajectory& trajectory = recorder_.trajectory();
  raise_worst(trajectory.audit.kkt, gauss.kkt);
  trajectory.redundant = trajectory.redundant || gauss.redundant;
  member_.unique_forces = !gauss.redundant;
  return gauss;
}

// Every inequality in force becomes open, except those whose f'' is zero in the solution: these become
// closed, and idle if their multiplier is zero.
void Motion::apply_qp_solution(const GaussProblem& problem, const LeastConstraint& gauss,
                               const std::vector<char>& touching) {
  const State& now = problem.state;
  for (std::size_t i = 0; i < member_.conditions.size(); ++i)
    if (member_.in_force(i) && member_.conditions[i].standing != Standing::equation) {
      const Zero& zero = problem.zeros[i];
      const bool leaving = touching[i] && equations_.rate(i, now) < -zero.rate;
      member_.conditions[i] = {.standing = Standing::open,
                               .armed = equations_.value(i, now) < -zero.value || leaving,
                               .since = member_.t,
                               .above = touching[i] ? std::max(0.0, equations_.value(i, now)) : 0};
    }
  member_.active.clear();
  for (std::size_t k = 0; k < problem.rows.size(); ++k) {
    ConditionState& condition = member_.conditions[problem.rows[k]];
    if (condition.standing == Standing::absent) continue;  // it has just begun to yield, or broken
    if (condition.standing != Standing::equation) {
      if (gauss.yielding[k]) {
        condition.noise = gauss.slack(index(k));
        continue;
      }
      condition = {.standing = Standing::closed,
                   .idle = !gauss.pressing[k],
                   .multiplier_zero = gauss.multiplier_zero(index(k))};
    }
    member_.active.push_back(problem.rows[k]);
  }
}

// A contact that rests by the motion of the others, without a part in the solution, may depend on their rows.
void Motion::note_dependence(const State& now) {
  const bool any_idle =
      std::any_of(member_.conditions.begin(), member_.conditions.end(), [](const ConditionState& condition) {
        return condition.standing == Standing::closed && condition.idle;
      });
  if (any_idle && row_dependence(equations_, now, member_.active).rank < member_.active.size())
    member_.unique_forces = false;
}

// True if the accelerations without the released condition would violate it. Its multiplier was zero only up
// to `multiplier_zero`, so its f'' is known only up to the corresponding noise.
bool Motion::must_stay(std::size_t released, double multiplier_zero, const State& now,
                       const LeastConstraint& gauss) {
  const Row row = equations_.row(released, now);
  const double second = row.a.dot(gauss.a) + row.rest;
  const double size = std::abs(row.rest) + row.a.cwiseAbs().dot(gauss.a.cwiseAbs());
  const double noise =
      10 * multiplier_zero * MassMetric(gauss.dynamics.mass).rows(Eigen::MatrixXd(row.a)).squaredNorm();
  member_.conditions[released].noise = noise;
  return second > 1e-6 * size + noise;
}

// The conditions whose multipliers are clearly above zero: forces that vanish at this instant are known no better than the
// instant.
std::vector<char> Motion::pressing(const GaussProblem& problem, const LeastConstraint& gauss) const {
  std::vector<char> made(member_.conditions.size(), 0);
  for (std::size_t k = 0; k < problem.rows.size(); ++k)
    made[problem.rows[k]] =
        gauss.multipliers(index(problem.rows[k])) > clear_force * gauss.multiplier_zero(index(k));
  return made;
}

// Takes those of the conditions `open` that are closed now and do not `bear` a force out of `touching`. False: there are
// none.
bool Motion::keep_open(const std::vector<char>& open, const std::vector<char>& bear,
                       std::vector<char>& touching) const {
  bool any = false;
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (!open[i] || !touching[i] || member_.conditions[i].standing != Standing::closed || bear[i]) continue;
    touching[i] = 0;
    any = true;
  }
  return any;
}

std::vector<std::size_t> Motion::unresolved_hops(const GaussProblem& problem, const LeastConstraint& gauss,
                                                 const std::vector<char>& touching,
                                                 std::size_t released) const {
  std::vector<std::size_t> hops;
  for (std::size_t i = 0; i < member_.conditions.size(); ++i) {
    if (member_.conditions[i].standing != Standing::open || !touching[i] || i == released) continue;
    if (!equations_.system().constraints[i].holonomic) continue;
    const Row row = equations_.row(i, problem.state);
    const double second = row.a.dot(gauss.a) + row.rest;
    if (!(row.rate < 0 && second > 0)) continue;
    const double height = row.rate * row.rate / (2 * second), duration = -2 * row.rate / second;
    if (height <= unresolved_hop * problem.zeros[i].value || duration <= 16 * member_.rounding_of_time())
      hops.push_back(i);
  }
  return hops;
}

// The inequalities in force that are at f = 0 now (velocity conditions: g = 0).
std::vector<char> Motion::touching_now() const {
  const State now = member_.state();
  std::vector<char> touching(member_.conditions.size(), 0);
  for (std::size_t i = 0; i < member_.conditions.size(); ++i) {
    if (member_.conditions[i].standing == Standing::closed) touching[i] = 1;
    if (member_.conditions[i].standing != Standing::open) continue;
    const Zero zero = member_.zero_of(i, now);
    touching[i] =
        std::abs(equations_.value(i, now)) <=
        (equations_.system().constraints[i].holonomic ? zero.value : std::max(zero.value, zero.rate));
  }
  return touching;
}

}  // namespace zwang
