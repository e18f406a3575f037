// The state of one moving member: time, integrated quantities, and the standing of every condition.
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <vector>

#include "src/base/settings.h"
#include "src/expression/evaluate.h"
#include "src/expression/scaled.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

// A condition's standing in the motion (mechanics section 2).
enum class Standing {
  absent,    // not imposed yet, or lifted
  equation,  // in force
  open,      // an inequality that restricts nothing now
  closed,    // an inequality that holds as an equation; `idle` while its multiplier is zero
};

struct ConditionState {
  Standing standing = Standing::absent;
  // Open conditions:
  bool armed = false;  // has been clearly below zero since it opened
  double since = 0;    // if not armed: the time at which it opened,
  double noise = 0;    // the rounding of its f'' then, which makes f uncertain by noise t^2 / 2,
  double above = 0;    // and its f then if above zero: projection onto other conditions moves it a little
  // Closed conditions:
  bool idle = false;           // its multiplier is zero and its f'' is zero
  double multiplier_zero = 0;  // multipliers up to this size count as zero
};

// Values up to these sizes count as zero for f (or g) and for f' of a condition.
struct Zero {
  double value, rate;
};

struct MemberState {
  MemberState(const Equations& equations_of_member, const IntegratorSettings& integrator_settings)
      : equations(equations_of_member),
        settings(integrator_settings),
        reactions_bend(equations_of_member.system().reactions_bend()),
        conditions(equations_of_member.count()),
        hops_end(equations_of_member.system().bounds.size(), 0) {}

  const Equations& equations;
  const IntegratorSettings& settings;
  const bool reactions_bend;  // System::reactions_bend()

  double t = 0;
  Eigen::VectorXd y;          // q, v, z, integrals, work
  Eigen::VectorXd modes;      // of friction and bounds (State::modes); empty where there are none
  bool unique_forces = true;  // false: the active rows are dependent
  Sizes sizes;
  double last_duration = 0;  // of the last step, over which these are the sizes
  std::vector<ConditionState> conditions;
  // The limit until which a completed accumulation leaves out the hops of a contact that breaks, by System::bounds; 0: none.
  // In the motion that the record stands for it is open between them: the force of the closed contact is a mean that has
  // never acted.
  std::vector<double> hops_end;
  std::vector<std::size_t> active;  // equations in force and closed conditions: rows that hold as equations
  std::vector<int> watch_signs;     // of watched functions: -1, +1, or 0 while not known

  Eigen::Index n() const { return static_cast<Eigen::Index>(equations.size()); }
  const System& system() const { return equations.system(); }
  State state_of(double time, const Eigen::VectorXd& values) const;
  State state() const { return state_of(t, y); }
  void set_positions(const Eigen::VectorXd& q) { y.head(n()) = q; }
  void set_auxiliaries(const Eigen::VectorXd& z) { y.segment(2 * n(), z.size()) = z; }
  void set_velocities(const Eigen::VectorXd& v) { y.segment(n(), n()) = v; }

  // A contact with friction, by its number in System::frictions.
  bool sticks(std::size_t friction) const;
  bool slips(std::size_t friction) const;
  Eigen::VectorXd slip_of(std::size_t friction, const State& state) const;
  // Slip speeds up to this size count as zero.
  double zero_slip(std::size_t friction, const State& state) const;
  // A bounded condition, by its number in System::bounds: the sign with which it yields.
  double yields(std::size_t bound) const;
  // The mode that a transition ends is in force.
  bool may_change(const Transition& transition) const;
  // What counts as zero for the excess of sticking contacts over their cones where the forces are not unique: that of
  // their normal forces, with the rounding of the rows on which these depend.
  double zero_of_excess(const State& state) const;
  // The function of a transition at a state [friction-10].
  double transition_value(std::size_t k, const Program& program, const State& state,
                          const Eigen::VectorXd* multipliers = nullptr) const;

  std::vector<std::size_t> hopping() const;
  bool hops(std::size_t i) const;
  bool in_force(std::size_t i) const { return conditions[i].standing != Standing::absent; }
  // 1 for equations in force and closed conditions, else 0.
  std::vector<double> closed_flags() const;
  // A kink of an integrand, or its branch. Multipliers, where they enter, are computed unless they are given.
  double kink_value(const Program& program, const State& state,
                    const Eigen::VectorXd* multipliers = nullptr) const;
  Scaled scaled_kink(const Program& program, const State& state) const;
  // A watched function. While conditions hold, reactions cancel what the forces would add to the velocities over a step
  // of this duration, but for its rounding: the velocities of a body at rest are smaller than that.
  Scaled scaled_watch(const Program& program, const State& state, double duration) const;
  // At a state, with the rounding of the sizes of late.
  Zero zero_of(std::size_t i, const State& state) const;
  // Times closer than this are one instant.
  double rounding_of_time() const;

 private:
  Scaled scaled_signal(const Program& program, const State& state, const Sizes& by) const;
};

}  // namespace zwang
