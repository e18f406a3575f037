// Steps that are implicit in the directions in which contacts slip in space.
//
// The friction of a contact points along its slip s. The slip across its present direction decays at the rate
// B/|s|, with B the deceleration that friction across would cause: where |s| is small, this is much faster
// than the motion, and explicit methods are stable only up to about twice the time of that decay. A slip that
// begins at the cone of a sticking contact grows as s'' t^2/2, so that an explicit method takes B/(s'' t)
// steps from the time t after its beginning on: a die that begins to slide on an edge takes 6000 to 16 000
// steps of 1e-10 to 1e-6 s. The motion itself is smooth: the direction stays close to that in which nothing
// accelerates across.
//
// The method is the extrapolation of linearly implicit Euler steps (Hairer, Wanner, Solving ODEs II, IV.9),
// implicit in the angles phi by which the directions turn and in nothing else. With theta the angle of the
// slip now, against its direction e at the start of the step, a the accelerations for that direction, G their
// change with the angles, and s(v) the slips across e at the positions after the Euler step, which are known,
// with the rows D and the slip |s| along e,
//
//     v+ = v + h (a + G phi),    |s| (theta + phi) = s(v+)
//     =>    (|s| - h D G) phi = s(v + h a) - |s| theta,
//
// a system with one unknown per contact, regular for |s| = 0 as well. An approximate G costs accuracy and not
// the order. A slip that begins is of second order in h, so that no error of first order may be left in it:
// with D and s at the positions before the Euler step its direction would be arbitrary. The reference is
// src/reference/implicit_slip.h.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/dense_solve.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/orientation.h"
#include "kernels/dynamics/smooth_motion.h"

namespace zwang {

template <class M>
struct ImplicitSlip {
  using Model = typename M::Model;
  using Real = typename M::Real;
  using Constraints = typename M::Constraints;
  static constexpr int n = M::n, most = at_least_one(Model::frictions), rows_of_table = 6;

  int count = 0;          // contacts that slip in space
  int friction[most];     // by contact, as everything below
  Real e[most][2];        // direction at the start
  Real rounding[most];    // of the slip
  Real braking[most];     // B
  Real across[most][n];   // D at the start
  Real turning[most][n];  // G
  Real shift[most];       // see direction_at()
  Real k[at_least_one(Model::constants)];

  // At the start of a step: t, y and the constants of the member.
  ZWANG_COLD ImplicitSlip(const Real* constants, const Constraints& constraints, Real t, const Real* y) {
    copy<at_least_one(Model::constants)>(constants, k);
    for (int f = 0; f < Model::frictions; ++f) {
      const Real* mode = constants + Model::first_mode + Model::friction_mode(f);
      if (Model::friction_rows(f) != 2 || (mode[0] == 0 && mode[1] == 0)) continue;
      const int i = count++;
      friction[i] = f;
      Real s[2], a[2][n];
      for (int c = 0; c < 2; ++c) slip_row(f, c, t, y, s[c], a[c]);
      const Real size = sqrt(square(s[0]) + square(s[1]));
      rounding[i] = shift[i] = mode[2];
      // A slip within its rounding has the direction in which it begins.
      const bool known = size > mode[2] && s[0] * mode[0] + s[1] * mode[1] > 0;
      for (int c = 0; c < 2; ++c) e[i][c] = known ? s[c] / size : mode[c];
      row_across(i, a, across[i]);
      set_direction(i, e[i]);
    }
    find_turning(constraints, t, y);
  }

  // The step of length h from y at t. `squared_error` is that of the step in units of the tolerance.
  ZWANG_COLD void take(const Constraints& constraints, Real t, const Real* y, Real h, Real rtol, Real atol,
                       Real* end, Real& squared_error) {
    // The direction of a slip is defined by its sum with this share of what friction changes in the step:
    // rounding of a slip that has just begun does not turn it. The direction it then lags behind is that of
    // the step's start.
    constexpr Real share = Real(1e-6);
    for (int i = 0; i < count; ++i) shift[i] = maximum(rounding[i], share * braking[i] * h);
    Real table[rows_of_table][M::size];
    for (int j = 0; j < rows_of_table; ++j) {
      euler_steps(constraints, t, y, h, j + 1, table[j]);
      // Polynomial in the length of the steps, extrapolated to 0.
      for (int l = j; l > 0; --l) {
        const Real weight = Real(l) / Real(j + 1 - l);
        for (int c = 0; c < M::size; ++c)
          table[l - 1][c] = table[l][c] + weight * (table[l][c] - table[l - 1][c]);
      }
    }
    Real sum = 0;
    for (int c = 0; c < M::error_controlled; ++c) {
      const Real scale = atol + rtol * maximum(absolute(y[c]), absolute(table[0][c]));
      sum += square((table[0][c] - table[1][c]) / scale);
    }
    squared_error = sum / Real(M::error_controlled);
    copy<M::size>(table[0], end);
  }

 private:
  // Row c of friction f: its slip speed and gradient.
  ZWANG_DEVICE void slip_row(int f, int c, Real t, const Real* y, Real& slip, Real* a) const {
    Real value, rest;
    Model::row(k, t, y, M::v_of(y), M::z_of(y), Model::friction_row(f) + c, value, slip, rest, a);
  }

  // Gives friction i the direction d: the law adds a multiple of the direction of its mode to the slip, which
  // here exceeds every slip.
  ZWANG_DEVICE void set_direction(int i, const Real* d) {
    Real* mode = k + Model::first_mode + Model::friction_mode(friction[i]);
    mode[0] = d[0];
    mode[1] = d[1];
    mode[2] = Real(sizeof(Real) == sizeof(double) ? 1e30 : 1e15);
  }
  // The slip of friction i across its direction at the start is a v for the row a.
  ZWANG_DEVICE void row_across(int i, const Real (&a)[2][n], Real* row) const {
    for (int j = 0; j < n; ++j) row[j] = e[i][0] * a[1][j] - e[i][1] * a[0][j];
  }
  // The slip of friction i at a state, along and across its direction at the start, and the row across.
  ZWANG_DEVICE void slip_at(int i, Real t, const Real* y, Real& along, Real& beside, Real* row) const {
    Real s[2], a[2][n];
    for (int c = 0; c < 2; ++c) slip_row(friction[i], c, t, y, s[c], a[c]);
    along = e[i][0] * s[0] + e[i][1] * s[1];
    beside = e[i][0] * s[1] - e[i][1] * s[0];
    row_across(i, a, row);
  }
  // Gives friction i the direction of its slip at a state; `angle` is that from the direction at the start. A
  // slip that seems to run backwards, within the errors of an Euler step or beyond its end, keeps its side.
  ZWANG_DEVICE void follow_slip(int i, Real t, const Real* y, Real& angle) {
    Real along, beside, row[n];
    slip_at(i, t, y, along, beside, row);
    along = maximum(along, Real(0)) + shift[i];
    const Real length = sqrt(square(along) + square(beside));
    const Real cosine = length > 0 ? along / length : Real(1), sine = length > 0 ? beside / length : Real(0);
    const Real d[2] = {cosine * e[i][0] - sine * e[i][1], cosine * e[i][1] + sine * e[i][0]};
    set_direction(i, d);
    angle = along > 0 ? beside / along : Real(0);
  }

  // G by differences: accelerations with one direction turned by a small angle.
  ZWANG_COLD void find_turning(const Constraints& constraints, Real t, const Real* y) {
    constexpr Real angle = Real(sizeof(Real) == sizeof(double) ? 1e-5 : 1e-2);
    Real rate[M::size], turned[M::size], lambda[M::rows];
    right_side_at<M>(k, constraints, t, y, rate, lambda);
    for (int i = 0; i < count; ++i) {
      const Real d[2] = {e[i][0] - angle * e[i][1], e[i][1] + angle * e[i][0]};
      set_direction(i, d);
      right_side_at<M>(k, constraints, t, y, turned, lambda);
      set_direction(i, e[i]);
      for (int j = 0; j < n; ++j) turning[i][j] = (turned[n + j] - rate[n + j]) / angle;
      braking[i] = absolute(dot<n>(across[i], turning[i]));
    }
  }

  // `parts` linearly implicit Euler steps over h.
  ZWANG_COLD void euler_steps(const Constraints& constraints, Real t, const Real* y, Real h, int parts,
                              Real* state) {
    const Real length = h / Real(parts);
    copy<M::size>(y, state);
    for (int part = 0; part < parts; ++part) {
      Real rate[M::size], lambda[M::rows], angle[most];
      for (int i = 0; i < count; ++i) follow_slip(i, t + length * Real(part), state, angle[i]);
      right_side_at<M>(k, constraints, t + length * Real(part), state, rate, lambda);
      for (int c = 0; c < n; ++c) rate[c] = state[n + c];
      clear_turns<M>(rate);
      for (int c = 0; c < M::size; ++c) state[c] += length * rate[c];
      turn_directions(t + length * Real(part + 1), state, length, angle);
      for (int i = 0; i < count; ++i) add_multiple<n>(length * angle[i], turning[i], M::v_of(state));
    }
  }
  // (|s| - h D G) phi = s(v + h a) - |s| theta, at the state y after the Euler step. `angle` is theta, then
  // phi.
  ZWANG_DEVICE void turn_directions(Real t, const Real* y, Real h, Real* angle) const {
    Real matrix[most][most], right[most], scale[most];
    for (int i = 0; i < count; ++i) {
      Real along, beside, row[n];
      slip_at(i, t, y, along, beside, row);
      const Real slip = maximum(along, Real(0)) + shift[i];
      right[i] = beside - slip * angle[i];
      for (int j = 0; j < count; ++j) matrix[i][j] = -h * dot<n>(row, turning[j]);
      matrix[i][i] += slip;
      scale[i] = sqrt(maximum(slip + h * braking[i], Precision<Real>::tiny));
    }
    solve_dense(count, matrix, right, scale, Real(16) * Precision<Real>::epsilon, angle);
  }
};

}  // namespace zwang
