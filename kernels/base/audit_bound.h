// The bound of the audit: how far the laws of a motion may be off at its end for its tolerances to explain
// it. A member beyond it has the status `inaccurate`. The allowed errors are computed in
// kernels/dynamics/audit.h and src/reference/audit.cpp; their factors, shared by both, are here.
//
// Energy. The error of an accepted step is estimated to be below its tolerance atol + rtol |y_i| in each
// component of the state, so a step changes T + V by at most the sum of |dE/dy_i| (atol + rtol |y_i|):
//   - at a known state that sum is found by moving each component by its tolerance. It is taken where the
//     member starts and where it ends;
//   - between them only the largest energy S is known. For the velocities |p dv| <= sqrt(2 T dv M dv) by
//     Schwarz's inequality, which is at most 2 rtol S + atol sqrt(2 S sum |M_ij|) where masses are diagonal.
//     A position moves the energy as much as a velocity, because its error is that of the velocity times the
//     time in which the force changes the momentum.
//   - forces without potential add |Q_i| times the tolerance of q_i to both known states: without it a system at rest
//     under such forces, whose energies are all zero, would be allowed nothing.
// All three are added. Errors of steps add up at worst, so the sum counts once for each step and event. It
// is multiplied by `energy`, because an estimate is no bound, one component may have the error of all (the
// norm is a mean over components), and the work is integrated without error control. A method of fixed
// step has no tolerance: its energy is not judged.
//
// The work in a power series. Power is a product v Q of two series whose last terms, of order p, are within
// the tolerance. The product of e^h with itself is e^2h: its term of order p is 2^p times as large, and the
// integral of the power divides it by p + 1. Where forces do work, a step of a power series of order p may
// therefore be off by 2^p / (p + 1) tolerances in the work, while the motion is within one. (Measured on
// impact_oscillator, p = 16: the states right to 2e-10, the balance off by 3e-6, at rtol 1e-9.)
//
// Conditions. Projection leaves f, f' and g at the rounding of their terms; a step leaves f off by rtol
// scale + atol sum |A|, where scale is the size of the terms of f (base/scaled.h), and an event is located
// to contact_tolerance scale. `conditions` of these are allowed, as in `zwang check`: of equations and
// closed inequalities in either direction, of open inequalities above zero, where more is a missed
// contact.
//
// Shocks. A row counts as dependent on others if the square of the sine between them is below
// Precision::dependent, so that solving for the impulses loses a factor of at most 1 / sqrt(dependent) of the
// rounding. `shocks` times that is allowed in the optimality conditions, in Carnot's identity, and in the
// energy created, relative to the largest energy.
#pragma once

namespace zwang {

struct AuditBound {
  static constexpr double energy = 3, conditions = 30, shocks = 10;
  // A motion of one step ends beside its tolerance as easily as any other.
  static constexpr long long spare_steps = 10;
  // Tolerances by which a step of a power series of this order may be off in the work.
  static constexpr double work_of_series(int order) {
    return static_cast<double>(1LL << order) / (order + 1);
  }
  // Kernels first compare a violation with a part of what is allowed that costs little to compute. Where it
  // uses less than this share of the part, the rest is not computed: the share reported is then an upper
  // bound.
  static constexpr double certain = 0.1;
  // A share of the bound is at most this, also where the violation is not a number.
  static constexpr double largest_share = 1e30;
};

}  // namespace zwang
