// Systems of the hand-written programs in reduced coordinates: common parts and the double pendulum.
//
// Planar, y upwards, the nail at the origin, angles from the downward vertical. A system defines its start
// and end, runs one member and returns Cartesian positions x, y of every point, then velocities.
#pragma once

#include "bench/yardstick_integrator.h"

namespace zwang::yardstick {

template <class Real>
struct Controls {
  Real first_step, tolerance;
};

template <class Real, int points>
struct Outcome {
  Vector<Real, 4 * points> state;  // x, y of every point, then x', y'
  Real first_step;                 // step size the controller proposes after the first step
  int steps;
};

// Runs a system that has one smooth phase.
template <class Method, class System, class Real>
Outcome<Real, System::points> run_smooth(const System& system, const Controls<Real>& controls) {
  Integrator<Method, System, Real> motion(system, system.start(), Real(0), controls.first_step,
                                          controls.tolerance);
  motion.advance(System::end);
  const Real proposed = motion.step();
  while (motion.time() < System::end) motion.advance(System::end);
  return {system.cartesian(motion.state()), proposed, motion.steps()};
}

// Cartesian coordinates of a chain of equal rods from the nail: y = (angles, angular velocities).
template <class Real, int rods>
Vector<Real, 4 * rods> chain_cartesian(const Vector<Real, 2 * rods>& y, Real length) {
  Vector<Real, 4 * rods> out;
  constexpr std::size_t velocities = 2UL * rods;
  Real px = 0, py = 0, vx = 0, vy = 0;
  for (std::size_t i = 0; i < rods; ++i) {
    const Real s = std::sin(y[i]), c = std::cos(y[i]), speed = length * y[rods + i];
    out[2 * i] = px += length * s;
    out[2 * i + 1] = py -= length * c;
    out[velocities + 2 * i] = vx += speed * c;
    out[velocities + 2 * i + 1] = vy += speed * s;
  }
  return out;
}

// (ii) Two points on two rods of length 1, masses 1, from horizontal rest.
template <class Real>
struct DoublePendulum {
  static constexpr const char* name = "double_pendulum";
  static constexpr int size = 4, points = 2;
  static constexpr Real end = 2;
  Real gravity;

  // 2 w1' +   C w2' = -S w2^2 - 2 g s1     C, S: cosine and sine of the difference of the angles
  // C w1' +     w2' =  S w1^2 -   g s2
  [[gnu::always_inline]] void rate(const Vector<Real, 4>& y, Vector<Real, 4>& dy) const {
    const Real s1 = std::sin(y[0]), c1 = std::cos(y[0]), s2 = std::sin(y[1]), c2 = std::cos(y[1]);
    const Real cosine = c1 * c2 + s1 * s2, sine = s1 * c2 - c1 * s2;
    const Real r1 = -sine * y[3] * y[3] - 2 * gravity * s1;
    const Real r2 = sine * y[2] * y[2] - gravity * s2;
    const Real scale = 1 / (2 - cosine * cosine);
    dy[0] = y[2];
    dy[1] = y[3];
    dy[2] = scale * (r1 - cosine * r2);
    dy[3] = scale * (2 * r2 - cosine * r1);
  }

  Vector<Real, 4> start() const {
    const Real level = std::acos(Real(0));
    return {level, level, 0, 0};
  }
  Vector<Real, 8> cartesian(const Vector<Real, 4>& y) const { return chain_cartesian<Real, 2>(y, Real(1)); }

  template <class Method>
  Outcome<Real, 2> run(const Controls<Real>& controls) const {
    return run_smooth<Method>(*this, controls);
  }
};

}  // namespace zwang::yardstick
