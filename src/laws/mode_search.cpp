// Search for the modes that Coulomb's law and the bounds admit: all combinations, or a guess by projected
// Gauss-Seidel where there are too many [friction-6].
#include <algorithm>
#include <cmath>
#include <iterator>

#include "kernels/base/status.h"
#include "src/base/index.h"
#include "src/laws/mode_problem.h"

namespace zwang {

namespace {

constexpr std::size_t combination_limit = 20'000;
constexpr std::size_t listed_limit = 64;
constexpr int sweep_limit = 20'000;
// Solutions closer than this share of the forces' size, or than so many roundings of the motion, are one. The roundings
// are those of the velocities before a shock: its later rounds may be left with hardly more than these.
constexpr double same_solution = 1e-8;
constexpr double same_roundings = 1e3;

Eigen::VectorXd sign_vector(double sign) { return Eigen::VectorXd::Constant(1, sign); }

// In order of preference among equal accelerations: hold, slip, open.
std::vector<ElementMode> options(const ModeElement& element) {
  using Kind = ModeElement::Kind;
  std::vector<ElementMode> made;
  const bool known = element.direction.size() > 0;
  if (!known && !(element.leaves && element.kind != Kind::equation)) made.push_back({ModeKind::hold});
  if (element.kind == Kind::equation) return made;
  if (known) made.push_back({ModeKind::slip, element.direction});
  if (!known && element.kind == Kind::friction && element.tangents == 2) made.push_back({ModeKind::slip});
  if (!known && (element.kind == Kind::bound || (element.kind == Kind::friction && element.tangents == 1)))
    for (const double sign : {1.0, -1.0})
      if (sign > 0 || !element.one_sided) made.push_back({ModeKind::slip, sign_vector(sign)});
  if (element.kind != Kind::bound || element.one_sided) made.push_back({ModeKind::open});
  return made;
}

using Options = std::vector<std::vector<ElementMode>>;

// Calls `visit` with every combination; the last element's mode changes fastest.
template <class Visit>
void for_each_combination(const Options& all, Visit visit) {
  std::vector<std::size_t> chosen(all.size(), 0);
  for (;;) {
    std::vector<ElementMode> modes;
    for (std::size_t i = 0; i < all.size(); ++i) modes.push_back(all[i][chosen[i]]);
    visit(modes);
    std::size_t i = all.size();
    while (i > 0 && ++chosen[i - 1] == all[i - 1].size()) chosen[--i] = 0;
    if (i == 0) return;
  }
}

bool sticks_longer(const ModeElement& element) {
  return element.kind == ModeElement::Kind::friction && element.cone_static > element.cone &&
         element.direction.size() == 0;
}

// [friction-3] Where mu_s > mu and a contact at s = 0 may stick, it does not begin to slip.
void let_stick_win(const ModeProblem& problem, std::vector<ModeCandidate>& list) {
  for (std::size_t i = 0; i < problem.elements.size(); ++i) {
    if (!sticks_longer(problem.elements[i])) continue;
    const auto is = [i](ModeKind kind) {
      return [i, kind](const ModeCandidate& c) { return c.modes[i].kind == kind; };
    };
    if (std::any_of(list.begin(), list.end(), is(ModeKind::hold))) std::erase_if(list, is(ModeKind::slip));
  }
}

bool has_painleve(const std::vector<SlipStiffness>& list, double margin) {
  return std::any_of(list.begin(), list.end(),
                     [&](const SlipStiffness& s) { return s.kappa <= margin * s.normal; });
}

// The modes to which sweeps over the elements converge, each with the others' forces as they are.
std::vector<ElementMode> guessed_modes(const ModeProblem& problem) {
  const Eigen::LLT<Eigen::MatrixXd> mass(problem.mass);
  const Eigen::MatrixXd unit = mass.matrixL().solve(problem.rows.transpose()).transpose();
  const Eigen::MatrixXd phi = unit * unit.transpose();
  const Eigen::VectorXd gap = problem.rows * problem.free + problem.offsets;
  Eigen::VectorXd forces = Eigen::VectorXd::Zero(gap.size());
  const auto relaxed = [&](Eigen::Index row) {
    return forces(row) + (gap(row) - phi.row(row).dot(forces)) / std::max(phi(row, row), 1e-300);
  };
  std::vector<ElementMode> modes(problem.elements.size());
  for (int sweep = 0; sweep < sweep_limit; ++sweep) {
    const Eigen::VectorXd before = forces;
    for (std::size_t i = 0; i < problem.elements.size(); ++i) {
      const ModeElement& element = problem.elements[i];
      const Eigen::Index n = element.row, t = n + 1, tangents = element.tangents;
      double normal = relaxed(n);
      modes[i] = {ModeKind::hold};
      if (element.kind == ModeElement::Kind::bound) {
        const double least = element.one_sided ? 0 : -element.limit;
        forces(n) = std::clamp(normal, least, element.limit);
        if (forces(n) != normal)
          modes[i] = {element.one_sided && normal < 0 ? ModeKind::open : ModeKind::slip,
                      sign_vector(normal > 0 ? 1 : -1)};
        continue;
      }
      if (element.kind != ModeElement::Kind::equation) normal = std::max(normal, 0.0);
      forces(n) = normal;
      if (element.kind == ModeElement::Kind::equation) continue;
      if (!(normal > 0)) modes[i] = {ModeKind::open};
      if (tangents == 0) continue;
      Eigen::VectorXd force(tangents);
      for (Eigen::Index k = 0; k < tangents; ++k) force(k) = relaxed(t + k);
      if (element.direction.size() > 0) force = element.cone * normal * element.direction;
      const bool beyond = force.norm() > element.cone_static * normal;
      if (beyond && force.norm() > 0) force *= element.cone * normal / force.norm();
      forces.segment(t, tangents) = force;
      if (normal > 0 && element.direction.size() > 0)
        modes[i] = {ModeKind::slip, element.direction};
      else if (normal > 0 && (beyond || element.leaves))
        modes[i] = {ModeKind::slip, tangents == 2 ? Eigen::VectorXd{} : Eigen::VectorXd(force.normalized())};
    }
    if ((forces - before).norm() <= 1e-14 * forces.norm()) break;
  }
  return modes;
}

bool moves_alike(const ModeSolver& solver, const ModeCandidate& a, const ModeCandidate& b) {
  return solver.length(a.x - b.x) <= same_solution * solver.size(a.x) + same_roundings * solver.rounding();
}

std::vector<ModeCandidate> admissible_modes(const ModeSolver& solver, const Options& all) {
  std::vector<ModeCandidate> list;
  // Where nothing fits to the rounding of each row alone, that of the others, carried through the solve, counts too.
  for (const bool carried : {false, true}) {
    for_each_combination(all, [&](const std::vector<ElementMode>& modes) {
      const std::size_t before = list.size();
      for (ModeCandidate& candidate : solver.solutions(modes)) {
        // Forces that are not unique have a continuum of directions without slip.
        const auto alike = [&](const ModeCandidate& other) { return moves_alike(solver, other, candidate); };
        if (list.size() < listed_limit && solver.admits(candidate, carried) &&
            std::none_of(list.begin() + index(before), list.end(), alike))
          list.push_back(std::move(candidate));
      }
    });
    if (!list.empty()) break;
  }
  return list;
}

// The contacts that would slip, each with its direction if known, else with both: for the verdict where nothing fits.
std::vector<SlipStiffness> possible_stiffness(const ModeSolver& solver, const ModeProblem& problem,
                                              double sign) {
  std::vector<ElementMode> modes;
  for (const ModeElement& element : problem.elements) {
    const bool slips = element.kind == ModeElement::Kind::friction;
    ElementMode mode{slips ? ModeKind::slip : ModeKind::hold};
    if (slips) {
      mode.direction = element.direction;
      if (mode.direction.size() == 0) mode.direction = sign * Eigen::VectorXd::Unit(element.tangents, 0);
    } else if (element.kind != ModeElement::Kind::equation) {
      mode.kind = ModeKind::open;
    }
    modes.push_back(std::move(mode));
  }
  return solver.stiffness(modes);
}

// Elements that do not act on each other, neither directly nor through others, belong to different clusters.
std::vector<std::vector<std::size_t>> clusters_of(const ModeProblem& problem) {
  const std::size_t count = problem.elements.size();
  const Eigen::MatrixXd phi =
      problem.rows * Eigen::LLT<Eigen::MatrixXd>(problem.mass).solve(problem.rows.transpose());
  const auto coupled = [&](const ModeElement& a, const ModeElement& b) {
    return !phi.block(a.row, b.row, 1 + a.tangents, 1 + b.tangents).isZero(0);
  };
  std::vector<std::vector<std::size_t>> made;
  std::vector<bool> taken(count, false);
  for (std::size_t first = 0; first < count; ++first) {
    if (taken[first]) continue;
    std::vector<std::size_t> cluster{first};
    taken[first] = true;
    for (std::size_t k = 0; k < cluster.size(); ++k)
      for (std::size_t other = first; other < count; ++other) {
        if (taken[other] || !coupled(problem.elements[cluster[k]], problem.elements[other])) continue;
        taken[other] = true;
        cluster.push_back(other);
      }
    std::sort(cluster.begin(), cluster.end());
    made.push_back(std::move(cluster));
  }
  return made;
}

// The rows of some elements, in order.
std::vector<Eigen::Index> rows_of(const ModeProblem& problem, const std::vector<std::size_t>& elements) {
  std::vector<Eigen::Index> made;
  for (const std::size_t i : elements)
    for (Eigen::Index k = 0; k <= problem.elements[i].tangents; ++k)
      made.push_back(problem.elements[i].row + k);
  return made;
}

ModeProblem part_of(const ModeProblem& problem, const std::vector<std::size_t>& elements) {
  const std::vector<Eigen::Index> rows = rows_of(problem, elements);
  ModeProblem made{problem.mass,          problem.free,        problem.rows(rows, Eigen::all),
                   problem.offsets(rows), problem.slack(rows), {}};
  Eigen::Index row = 0;
  for (const std::size_t i : elements) {
    made.elements.push_back(problem.elements[i]);
    made.elements.back().row = row;
    row += 1 + problem.elements[i].tangents;
  }
  return made;
}

// A candidate without forces, into which those of the clusters are entered.
ModeCandidate candidate_without_forces(const ModeProblem& problem) {
  ModeCandidate made;
  made.modes.resize(problem.elements.size());
  made.solvable = true;
  made.x = problem.free;
  made.multipliers = made.residuals = made.noise = Eigen::VectorXd::Zero(problem.offsets.size());
  return made;
}
void enter(const ModeProblem& problem, const std::vector<std::size_t>& elements, const ModeCandidate& part,
           ModeCandidate& into) {
  for (std::size_t k = 0; k < elements.size(); ++k) into.modes[elements[k]] = part.modes[k];
  const std::vector<Eigen::Index> rows = rows_of(problem, elements);
  into.redundant = into.redundant || part.redundant;
  into.x += part.x - problem.free;
  into.multipliers(rows) = part.multipliers;
  into.residuals(rows) = part.residuals;
  into.noise(rows) = part.noise;
}

ModeSolution solve_connected(const ModeProblem& problem, double margin, bool impact) {
  ModeSolution made;
  const ModeSolver solver(problem);
  if (!solver.usable()) {
    made.status = Status::not_finite;
    return made;
  }
  Options all;
  double combinations = 1;
  for (const ModeElement& element : problem.elements) {
    all.push_back(options(element));
    combinations *= static_cast<double>(all.back().size());
  }
  if (combinations <= static_cast<double>(combination_limit)) {
    made.admissible = admissible_modes(solver, all);
  } else {
    made.certified = false;
    ModeCandidate candidate = solver.solve(guessed_modes(problem));
    if (solver.admits(candidate, true)) made.admissible.push_back(std::move(candidate));
  }
  let_stick_win(problem, made.admissible);
  if (made.admissible.empty()) {
    made.stiffness = possible_stiffness(solver, problem, 1);
    const std::vector<SlipStiffness> back = possible_stiffness(solver, problem, -1);
    if (!has_painleve(made.stiffness, margin) && has_painleve(back, margin)) made.stiffness = back;
    made.status = !impact && has_painleve(made.stiffness, margin) ? Status::painleve : Status::infeasible;
    return made;
  }
  made.chosen = made.admissible.front();
  made.stiffness = solver.stiffness(made.chosen.modes);
  bool unique = true, singular = has_painleve(made.stiffness, margin);
  for (const ModeCandidate& other : made.admissible) {
    if (moves_alike(solver, made.chosen, other)) continue;
    unique = false;
    const std::vector<SlipStiffness> stiffness = solver.stiffness(other.modes);
    if (!has_painleve(stiffness, margin)) continue;
    singular = true;
    if (!has_painleve(made.stiffness, margin)) made.stiffness = stiffness;
  }
  if (!impact && singular)
    made.status = Status::painleve;
  else if (!unique)
    made.status = Status::ambiguous;
  return made;
}

// The status of the whole: that of the worst of its clusters.
int severity(Status status) {
  const Status order[] = {Status::ok, Status::ambiguous, Status::infeasible, Status::painleve,
                          Status::not_finite};
  return static_cast<int>(std::find(std::begin(order), std::end(order), status) - std::begin(order));
}

}  // namespace

// Clusters of elements that do not act on each other are solved apart: the number of combinations grows with the
// largest of them only. The admissible motions listed are the chosen one and those that differ from it in one cluster.
ModeSolution solve_modes(const ModeProblem& problem, double margin, bool impact) {
  const std::vector<std::vector<std::size_t>> clusters = clusters_of(problem);
  if (clusters.size() <= 1) return solve_connected(problem, margin, impact);
  ModeSolution made;
  std::vector<ModeSolution> parts;
  made.chosen = candidate_without_forces(problem);
  bool all = true;
  for (const std::vector<std::size_t>& cluster : clusters) {
    parts.push_back(solve_connected(part_of(problem, cluster), margin, impact));
    const ModeSolution& part = parts.back();
    if (severity(part.status) > severity(made.status)) made.status = part.status;
    made.certified = made.certified && part.certified;
    made.stiffness.insert(made.stiffness.end(), part.stiffness.begin(), part.stiffness.end());
    all = all && !part.admissible.empty();
    if (!part.admissible.empty()) enter(problem, cluster, part.chosen, made.chosen);
  }
  if (!all) return made;
  made.admissible.push_back(made.chosen);
  for (std::size_t c = 0; c < clusters.size(); ++c)
    for (std::size_t k = 1; k < parts[c].admissible.size(); ++k) {
      ModeCandidate other = candidate_without_forces(problem);
      for (std::size_t d = 0; d < clusters.size(); ++d)
        enter(problem, clusters[d], d == c ? parts[c].admissible[k] : parts[d].chosen, other);
      made.admissible.push_back(std::move(other));
    }
  return made;
}

}  // namespace zwang
