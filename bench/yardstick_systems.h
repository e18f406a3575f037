// The systems of the yardsticks in reduced coordinates, as an engineer who knows each of them would write it.
//
// Planar, y upwards, the nail at the origin, angles from the downward vertical. A system knows its start and
// end, runs one member and returns Cartesian positions x, y of every point, then velocities.
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
  Real first_step;                 // what the controller would have liked to start with
  int steps;
};

// Runs a system that has one smooth phase.
template <class Method, class System, class Real>
Outcome<Real, System::points> run_smooth(const System& system, const Controls<Real>& controls) {
  Integrator<Method, System, Real> motion(system, system.start(), Real(0), controls.first_step,
                                          controls.tolerance);
  motion.advance(System::end);
  const Real liked = motion.step();
  while (motion.time() < System::end) motion.advance(System::end);
  return {system.cartesian(motion.state()), liked, motion.steps()};
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

// (i) One point on a string of length 1, thrown from the bottom: swings, goes slack, falls, jerks, swings.
template <class Real>
struct StringSystem {
  static constexpr const char* name = "string";
  static constexpr int size = 2, points = 1;
  static constexpr Real end = 2;
  static constexpr Real longest_step =
      static_cast<Real>(0.3L);  // the tension stays negative for 0.6: no step leaps over that
  Real gravity;

  // The length is 1 throughout.
  [[gnu::always_inline]] void rate(const Vector<Real, 2>& y, Vector<Real, 2>& dy) const {
    dy[0] = y[1];
    dy[1] = -gravity * std::sin(y[0]);
  }

  // v^2 = 3.5 * 9.81: between 2 g L and 5 g L the string goes slack.
  Vector<Real, 2> start() const { return {0, std::sqrt(static_cast<Real>(3.5L * 9.81L))}; }

  template <class Method>
  Outcome<Real, 1> run(const Controls<Real>& controls) const {
    Vector<Real, 2> y = start();
    Real time = 0, step = controls.first_step, liked = 0;
    int steps = 0;
    for (;;) {
      const Swing swing = run_taut<Method>(y, time, step, controls.tolerance);
      steps += swing.steps;
      if (liked == 0) liked = swing.liked_step;
      if (!swing.slack) return {chain_cartesian<Real, 1>(swing.state, Real(1)), liked, steps};

      const Flight flight = fly(swing.state, swing.time);
      if (flight.time >= end) return {flight.state, liked, steps};
      y = jerk(flight.state);
      time = flight.time;
      step = swing.step;
    }
  }

 private:
  struct Swing {
    bool slack;
    Real time, step, liked_step;
    Vector<Real, 2> state;
    int steps;
  };
  struct Flight {
    Real time;
    Vector<Real, 4> state;
  };

  // On a swing w^2/2 - g cos(angle) = e stays, so the tension w^2 + g cos(angle) is 3/2 w^2 - e: no sine, no
  // cosine is spent on watching it.
  template <class Method>
  Swing run_taut(const Vector<Real, 2>& from, Real time, Real step, Real tolerance) const {
    const Real energy = from[1] * from[1] / 2 - gravity * std::cos(from[0]);
    const auto tension = [&](const Vector<Real, 2>& y) { return Real(1.5) * y[1] * y[1] - energy; };
    Integrator<Method, StringSystem, Real> motion(*this, from, time, step, tolerance);
    Real liked = 0;
    while (motion.time() < end) {
      const Real t0 = motion.time(), f0 = tension(motion.state()), d0 = tension_rate(motion);
      motion.advance(std::min(end, t0 + longest_step));
      if (liked == 0) liked = motion.step();
      const Real f1 = tension(motion.state());
      if (f1 >= 0) continue;

      // Back from the end of the step by what the cubic through both ends says.
      const Real h = motion.time() - t0;
      const Real back = h * (cubic_root(f0, h * d0, f1, h * tension_rate(motion)) - 1);
      return released(motion.trial(back), motion.time() + back, energy, motion.step(), liked, motion.steps());
    }
    return {false, motion.time(), motion.step(), liked, motion.state(), motion.steps()};
  }

  template <class Motion>
  static Real tension_rate(const Motion& motion) {
    return 3 * motion.state()[1] * motion.rate()[1];
  }

  // Newton on the cubic with values f0 > 0 > f1 and slopes d0, d1 at 0 and 1.
  static Real cubic_root(Real f0, Real d0, Real f1, Real d1) {
    const Real b = 3 * (f1 - f0) - 2 * d0 - d1, a = 2 * (f0 - f1) + d0 + d1;
    Real x = f0 / (f0 - f1);
    for (int i = 0; i < 3; ++i) {
      x -= (f0 + x * (d0 + x * (b + x * a))) / (d0 + x * (2 * b + x * 3 * a));
      x = std::clamp<Real>(x, 0, 1);
    }
    return x;
  }

  // One Newton step in time from so near that a Taylor polynomial is the flow.
  Swing released(Vector<Real, 2> y, Real time, Real energy, Real step, Real liked, int steps) const {
    const Real s = std::sin(y[0]), c = std::cos(y[0]), w = y[1];
    const Real w1 = -gravity * s, w2 = -gravity * c * w;
    const Real dt = (energy - Real(1.5) * w * w) / (3 * w * w1);
    y[0] += dt * (w + dt / 2 * w1);
    y[1] += dt * (w1 + dt / 2 * w2);
    return {true, time + dt, step, liked, y, steps};
  }

  // From the circle, with p.v = 0, the parabola p + v s + a s^2/2 is at the distance 1 again where
  // (v^2 + p.a) + (v.a) s + a^2/4 s^2 = 0: exactly two roots, the later is the meeting.
  Flight fly(const Vector<Real, 2>& y, Real time) const {
    const auto p = chain_cartesian<Real, 1>(y, Real(1));
    const Real rest = y[1] * y[1] - gravity * p[1];
    const Real meeting = 2 * (p[3] + std::sqrt(std::max<Real>(0, p[3] * p[3] - rest))) / gravity;
    const Real s = std::min(meeting, end - time);
    return {time + meeting, {p[0] + p[2] * s, p[1] + s * (p[3] - gravity / 2 * s), p[2], p[3] - gravity * s}};
  }

  // The string takes the radial velocity away.
  static Vector<Real, 2> jerk(const Vector<Real, 4>& p) {
    return {std::atan2(p[0], -p[1]), p[0] * p[3] - p[1] * p[2]};
  }
};

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
