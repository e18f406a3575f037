// The equations of a System in numbers, for one member's parameters: M, Q, A, c, f, f', g at a state.
#pragma once

#include <Eigen/Dense>

#include "src/expression/evaluate.h"
#include "src/expression/scaled.h"
#include "src/system/system.h"

namespace zwang {

struct State {
  double t = 0;
  Eigen::VectorXd q, v;        // n
  Eigen::VectorXd z;           // auxiliaries
  Eigen::VectorXd modes = {};  // of friction and bounds (System::modes); empty: all 0
};

// The sizes of the coordinates and velocities over the last step: their rounding errors are proportional to
// these.
struct Sizes {
  Eigen::VectorXd q, v;
};
Sizes sizes_of(const State& state);

// Conditions couple coordinates and their rounding: a large coordinate leaves noise in all others. Sizes are
// therefore at least a hundredth of the size of the whole state, measured in the mass metric so that units do
// not mix.
void raise_to_noise(Sizes& sizes, const Eigen::MatrixXd& mass);

// Sets components to exactly zero that are only rounding of velocities as large as `before`.
void drop_noise(Eigen::VectorXd& v, const Eigen::VectorXd& before, const Eigen::MatrixXd& mass);

struct Dynamics {
  Eigen::MatrixXd mass;     // M, n x n
  Eigen::VectorXd applied;  // Q, n
  Eigen::VectorXd rates;    // z'
  double power = 0;         // of all but potential forces and reactions
};

// One condition at one state.
struct Row {
  double value = 0;      // f or g
  double rate = 0;       // f'; for g: g
  double rest = 0;       // c: f'' = A a + c
  Eigen::RowVectorXd a;  // A
};

// A contact with friction at one state.
struct FrictionValues {
  double cone = 0, cone_static = 0;  // |lambda_T| <= cone lambda_N
  double restitution = 0;            // of the slip, in impacts
  Eigen::VectorXd drag;  // lambda_T per unit of lambda_N in slip; 0 while the contact does not slip
};

struct BoundValues {
  double limit = 0, impulse_limit = 0;
};

class Equations {
 public:
  Equations(const System& system, std::vector<double> parameters);

  // Another member of the same system.
  void set_parameters(std::span<const double> parameters);

  const System& system() const { return *system_; }
  const std::vector<double>& parameters() const { return parameters_; }
  std::size_t size() const { return system_->size(); }
  std::size_t count() const { return system_->constraints.size(); }

  Dynamics dynamics(const State& state) const;
  // Updates the values that depend on the multipliers: the rates rho' of general conditions, and the power.
  void apply_multipliers(const Eigen::VectorXd& multipliers, const State& state, Dynamics& dynamics) const;
  Eigen::MatrixXd mass(const State& state) const { return dynamics(state).mass; }
  Row row(std::size_t constraint, const State& state) const;
  double value(std::size_t constraint, const State& state) const;
  double rate(std::size_t constraint, const State& state) const;

  // Of System::frictions, System::bounds and System::link_limits.
  FrictionValues friction(std::size_t number, const State& state) const;
  BoundValues bound(std::size_t number) const;
  double link_limit(std::size_t number) const;

  // value, rate, rest with their rounding scales; the row's entries after them.
  std::vector<Scaled> scaled_row(std::size_t constraint, const State& state, const Sizes& sizes) const;

  double kinetic(const State& state) const;
  double energy(const State& state) const;  // T + V (see System::energy)

  // Any expression of t, p, q, v, z.
  double evaluate(const Program& program, const State& state) const;
  // Also of multipliers and of which conditions are closed, where the expression contains them.
  Scaled evaluate_scaled(const Program& program, const State& state, const Sizes& sizes,
                         std::span<const Scaled> multipliers = {}, std::span<const Scaled> closed = {}) const;
  void evaluate(const Program& program, const State& state, std::span<const double> multipliers,
                std::span<const double> closed, std::span<double> out,
                std::span<const double> branches = {}) const;

 private:
  Inputs<double> inputs(const State& state) const;
  void run_scaled(const Program& program, const State& state, const Sizes& sizes,
                  std::span<const Scaled> multipliers, std::span<const Scaled> closed,
                  std::span<Scaled> out) const;

  const System* system_;
  std::vector<double> parameters_;
  std::vector<Scaled> scaled_parameters_;
  Program dynamics_, energies_;
  Program after_multipliers_;                   // z' and the power, where they depend on multipliers
  std::vector<Program> rows_, values_, rates_;  // per constraint
  std::vector<Program> frictions_, bounds_;     // per entry of System::frictions and System::bounds
  std::vector<Program> link_limits_;            // per entry of System::link_limits
  // Scratch: an Equations belongs to one member on one thread.
  mutable std::vector<double> scratch_, out_;
  std::vector<double> no_multipliers_, no_modes_;
  mutable std::vector<Scaled> scaled_scratch_, scaled_q_, scaled_v_, scaled_z_, scaled_modes_;
};

}  // namespace zwang
