// Translates a study's parameters and initial states into the steps of kernels/sampling/draw.h, as far as
// they give the same bits on every machine.
#include "host/sample/draw_plan.h"

#include <map>
#include <unordered_map>

#include "host/sample/philox.h"
#include "host/sample/prepared_member.h"
#include "host/study/study.h"
#include "kernels/base/status.h"
#include "src/base/error.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"
#include "src/system/friction.h"
#include "src/system/system.h"

namespace zwang {

namespace {

using Kind = Distribution::Kind;

std::optional<DrawOp> draw_op(Op op) {
  static const std::map<Op, DrawOp> same = {
      {Op::add, DrawOp::add},         {Op::subtract, DrawOp::subtract}, {Op::multiply, DrawOp::multiply},
      {Op::divide, DrawOp::divide},   {Op::negate, DrawOp::negate},     {Op::sqrt, DrawOp::sqrt},
      {Op::abs, DrawOp::absolute},    {Op::sign, DrawOp::sign},         {Op::floor, DrawOp::floor},
      {Op::minimum, DrawOp::minimum}, {Op::maximum, DrawOp::maximum},   {Op::wrap, DrawOp::wrap},
      {Op::if_less, DrawOp::if_less},
  };
  const auto found = same.find(op);
  return found == same.end() ? std::nullopt : std::optional(found->second);
}

// Appends the steps of all parameters and start values; plan() is false if one of them must be drawn by the
// host.
class Planner {
 public:
  // `first`: the numbers of any one member. Values that depend on no draw are taken from it.
  Planner(const Study& study, const MemberInputs& first)
      : study_(study), pool_(*study.system->pool), first_(first) {}

  bool plan() {
    constant(0);  // slot 0: the argument of steps that have none
    for (std::size_t i = 0; i < study_.parameters.size(); ++i)
      if (!plan_parameter(study_.parameters[i], first_.parameters[i])) return false;
    return plan_start(study_.initial_positions, q_) && plan_start(study_.initial_velocities, v_) &&
           plan_start(study_.initial_auxiliaries, z_) && !start_check_varies() &&
           made_.steps.size() <= most_draw_steps;
  }

  DrawPlan take() { return std::move(made_); }

 private:
  // One number of each member: the slot that holds it, and whether it depends on draws.
  struct Made {
    int slot = 0;
    bool varies = false;
  };

  int add(DrawStep step) {
    made_.steps.push_back(step);
    return static_cast<int>(made_.steps.size()) - 1;
  }
  int constant(double value) { return add({DrawOp::constant, 0, 0, 0, 0, 0, 0, value}); }

  bool plan_parameter(const ParameterRule& rule, double value) {
    Made made;
    if (rule.joint) return false;
    if (rule.distribution) {
      const std::optional<int> slot = plan_draw(rule);
      if (!slot) return false;
      made = {*slot, true};
    } else if (rule.sweep) {
      made = {constant(value), false};
    } else {
      const std::optional<Made> formula = plan_formula(*rule.value);
      if (!formula) return false;
      made = *formula;
      if (!made.varies) made.slot = constant(value);
    }
    parameters_.push_back(made);
    made_.parameter_slots.push_back(made.slot);
    return true;
  }

  // Arguments that depend on no draw were checked when the first member was drawn.
  std::optional<int> plan_draw(const ParameterRule& rule) {
    const Distribution& distribution = *rule.distribution;
    if (distribution.kind != Kind::uniform && distribution.kind != Kind::triangular &&
        distribution.kind != Kind::normal && distribution.kind != Kind::choice)
      return std::nullopt;
    std::vector<int> x;
    for (const Expr e : distribution.arguments) {
      if (varies(e)) return std::nullopt;
      x.push_back(constant(value_of(e)));  // consecutive slots: a choice indexes them
    }
    const int u = add({DrawOp::uniform_number, 0, 0, 0, 0, 0, name_word(rule.name), 0});
    switch (distribution.kind) {
      case Kind::uniform:
        return add({DrawOp::uniform, x[0], x[1], u, 0, 0, 0, 0});
      case Kind::normal:
        return add({DrawOp::normal, x[0], x[1], u, 0, 0, 0, 0});
      case Kind::triangular:
        return add({DrawOp::triangular, x[0], x[2], x[1], u, 0, 0, 0});
      default:
        return add({DrawOp::choice, x[0], 0, u, 0, static_cast<int>(x.size()), 0, 0});
    }
  }

  bool plan_start(const std::vector<Expr>& formulas, std::vector<Made>& places) {
    for (const Expr e : formulas) {
      std::optional<Made> made = plan_formula(e);
      if (!made) return false;
      if (!made->varies) made->slot = constant(value_of(e));
      places.push_back(*made);
      made_.start_slots.push_back(made->slot);
    }
    return true;
  }

  // Node by node, in the order in which the host evaluates it. A formula that depends on no draw needs no
  // steps.
  std::optional<Made> plan_formula(Expr root) {
    if (!varies(root)) return Made{};
    std::unordered_map<std::uint32_t, int> slots;
    const std::vector<Expr> nodes = pool_.reachable({root});
    if (nodes.size() > 10 * std::size_t{most_draw_steps}) return std::nullopt;  // too long in any case
    for (const Expr e : nodes) {
      if (!varies(e)) continue;
      const Node& node = pool_.node(e);
      if (node.op == Op::symbol) {
        slots[e.id] = parameters_.at(node.symbol.index).slot;
        continue;
      }
      std::array<int, 4> arguments{};
      for (std::size_t k = 0; k < static_cast<std::size_t>(arity(node.op)); ++k) {
        const Expr argument = node.arguments[k];
        arguments[k] = varies(argument) ? slots.at(argument.id) : constant(value_of(argument));
      }
      const std::optional<DrawStep> step = plan_operation(node, arguments);
      if (!step) return std::nullopt;
      slots[e.id] = add(*step);
    }
    return Made{slots.at(root.id), true};
  }

  std::optional<DrawStep> plan_operation(const Node& node, const std::array<int, 4>& x) const {
    // The host too computes a square as a product. Other powers call the maths library, which differs by
    // machine.
    if (node.op == Op::power && !varies(node.arguments[1]) && value_of(node.arguments[1]) == 2)
      return DrawStep{DrawOp::multiply, x[0], x[0], 0, 0, 0, 0, 0};
    const std::optional<DrawOp> op = draw_op(node.op);
    if (!op) return std::nullopt;
    return DrawStep{*op, x[0], x[1], x[2], x[3], 0, 0, 0};
  }

  // --- Dependence on draws ---------------------------------------------------------------------------------

  bool varies(Expr root) const {
    for (const Expr e : pool_.reachable({root})) {
      const Node& node = pool_.node(e);
      if (node.op == Op::symbol && symbol_varies(node.symbol)) return true;
    }
    return false;
  }

  bool symbol_varies(const Symbol& symbol) const {
    const auto of = [&](const std::vector<Made>& list) {
      return symbol.index >= list.size() || list[symbol.index].varies;
    };
    switch (symbol.kind) {
      case SymbolKind::time:
        return false;
      case SymbolKind::parameter:
        return of(parameters_);
      case SymbolKind::coordinate:
        return of(q_);
      case SymbolKind::velocity:
        return of(v_);
      case SymbolKind::auxiliary:
        return of(z_);
      default:
        return true;
    }
  }

  // The value of a formula that contains only parameters, computed by the host's own code.
  double value_of(Expr e) const {
    std::vector<double> slots;
    return ParameterFormula(pool_, e)(first_.parameters, slots);
  }

  // Whether the result of StartCheck depends on draws.
  bool start_check_varies() const {
    for (const Constraint& constraint : study_.system->constraints) {
      if (constraint.from && varies(*constraint.from)) return true;
      if (constraint.until && varies(*constraint.until)) return true;
      if (!projected_at_start(constraint, false)) continue;
      if (constraint.holonomic && varies(constraint.value)) return true;
      const bool rate =
          (constraint.equation || !constraint.holonomic) && projected_at_start(constraint, true);
      if (rate && varies(constraint.rate)) return true;
    }
    return false;
  }

  const Study& study_;
  const Expressions& pool_;
  const MemberInputs& first_;
  std::vector<Made> parameters_, q_, v_, z_;
  DrawPlan made_;
};

// A member, if its first draw satisfies the constraints and its start need not be projected.
std::optional<PreparedMember> unprojected_member(const Sampler& sampler, unsigned long long number) {
  try {
    Sampler::Scratch scratch;
    PreparedMember made;
    sampler.prepare(number, scratch, made);
    const auto& preparation = made.preparation;
    if (made.attempts != 1 || preparation.status != Status::ok || preparation.position_moved != 0 ||
        preparation.velocity_moved != 0)
      return std::nullopt;
    return made;
  } catch (const Error&) {
    return std::nullopt;  // reported when the members are drawn
  }
}

}  // namespace

std::optional<DrawPlan> draw_plan(const Study& study, const Sampler& sampler, unsigned long long point) {
  if (study.ensemble.sampler != SamplerKind::random || study.ensemble.include_nominal) return std::nullopt;
  if (!study.ranges.empty()) return std::nullopt;
  if (!study.sweeps.empty() && study.ensemble.streams == Streams::independent) return std::nullopt;
  const std::optional<PreparedMember> first =
      unprojected_member(sampler, point * static_cast<unsigned long long>(study.ensemble.per_point()));
  if (!first) return std::nullopt;
  Planner planner(study, first->inputs);
  if (!planner.plan()) return std::nullopt;
  DrawPlan made = planner.take();
  made.seed = study.ensemble.seed;
  return made;
}

}  // namespace zwang
