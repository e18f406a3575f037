// The string that goes slack, in two forms: with the closed form of the free flight, and with every phase
// integrated.
#pragma once

#include "bench/yardstick_systems.h"

namespace zwang::yardstick {

// (i) One point on a string of length 1, thrown from the bottom: swings, goes slack, falls, jerks, swings.
template <class Real>
struct StringSystem {
  static constexpr const char* name = "string";
  static constexpr int size = 2, points = 1;
  static constexpr Real end = 2;
  static constexpr Real longest_step =
      static_cast<Real>(0.3L);  // the tension stays negative for 0.6, so no step passes over it
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
    Real time = 0, step = controls.first_step, proposed = 0;
    int steps = 0;
    for (;;) {
      const Swing swing = run_taut<Method>(y, time, step, controls.tolerance);
      steps += swing.steps;
      if (proposed == 0) proposed = swing.proposed_step;
      if (!swing.slack) return {chain_cartesian<Real, 1>(swing.state, Real(1)), proposed, steps};

      const Flight flight = fly(swing.state, swing.time);
      if (flight.time >= end) return {flight.state, proposed, steps};
      y = jerk(flight.state);
      time = flight.time;
      step = swing.step;
    }
  }

  // The string takes the radial velocity away.
  static Vector<Real, 2> jerk(const Vector<Real, 4>& p) {
    return {std::atan2(p[0], -p[1]), p[0] * p[3] - p[1] * p[2]};
  }

 private:
  struct Swing {
    bool slack;
    Real time, step, proposed_step;
    Vector<Real, 2> state;
    int steps;
  };
  struct Flight {
    Real time;
    Vector<Real, 4> state;
  };

  // On a swing w^2/2 - g cos(angle) = e is constant, so the tension w^2 + g cos(angle) is 3/2 w^2 - e and
  // needs no sine or cosine.
  template <class Method>
  Swing run_taut(const Vector<Real, 2>& from, Real time, Real step, Real tolerance) const {
    const Real energy = from[1] * from[1] / 2 - gravity * std::cos(from[0]);
    const auto tension = [&](const Vector<Real, 2>& y) { return Real(1.5) * y[1] * y[1] - energy; };
    Integrator<Method, StringSystem, Real> motion(*this, from, time, step, tolerance);
    Real proposed = 0;
    while (motion.time() < end) {
      const Real t0 = motion.time(), f0 = tension(motion.state()), d0 = tension_rate(motion);
      motion.advance(std::min(end, t0 + longest_step));
      if (proposed == 0) proposed = motion.step();
      const Real f1 = tension(motion.state());
      if (f1 >= 0) continue;

      // Back from the end of the step to the root of the cubic through both ends.
      const Real h = motion.time() - t0;
      const Real back = h * (cubic_root(f0, h * d0, f1, h * tension_rate(motion)) - 1);
      return released(motion.trial(back), motion.time() + back, energy, motion.step(), proposed,
                      motion.steps());
    }
    return {false, motion.time(), motion.step(), proposed, motion.state(), motion.steps()};
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

  // One Newton step in time; the remaining distance is so short that a Taylor polynomial replaces the flow.
  Swing released(Vector<Real, 2> y, Real time, Real energy, Real step, Real proposed, int steps) const {
    const Real s = std::sin(y[0]), c = std::cos(y[0]), w = y[1];
    const Real w1 = -gravity * s, w2 = -gravity * c * w;
    const Real dt = (energy - Real(1.5) * w * w) / (3 * w * w1);
    y[0] += dt * (w + dt / 2 * w1);
    y[1] += dt * (w1 + dt / 2 * w2);
    return {true, time + dt, step, proposed, y, steps};
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
};

// (i) without using closed forms: every phase is integrated, the flight in Cartesian coordinates, and both
// events are found by Newton's method on partial steps.
template <class Real>
struct StringIntegrated {
  static constexpr const char* name = "string_plain";
  static constexpr int size = 2, points = 1;
  static constexpr Real end = 2;
  static constexpr Real longest_step = static_cast<Real>(0.3L);
  Real gravity;

  [[gnu::always_inline]] void rate(const Vector<Real, 2>& y, Vector<Real, 2>& dy) const {
    dy[0] = y[1];
    dy[1] = -gravity * std::sin(y[0]);
  }

  template <class Method>
  Outcome<Real, 1> run(const Controls<Real>& controls) const {
    Vector<Real, 2> y = StringSystem<Real>{gravity}.start();
    Real time = 0, step = controls.first_step, proposed = 0;
    int steps = 0;
    for (;;) {
      Integrator<Method, StringIntegrated, Real> swing(*this, y, time, step, controls.tolerance);
      const bool slack = advance_until(swing, longest_step, proposed, [this](const auto& s, const auto& ds) {
        const Real pull = s[1] * s[1] + gravity * std::cos(s[0]);
        return Crossing{-pull, -(2 * s[1] * ds[1] - gravity * std::sin(s[0]) * ds[0])};
      });
      steps += swing.steps();
      if (!slack) return {chain_cartesian<Real, 1>(swing.state(), Real(1)), proposed, steps};

      Integrator<Method, Flight, Real> flight({gravity}, chain_cartesian<Real, 1>(swing.state(), Real(1)),
                                              swing.time(), swing.step(), controls.tolerance);
      const bool taut = advance_until(flight, end, proposed, [](const auto& p, const auto&) {
        return Crossing{(p[0] * p[0] + p[1] * p[1] - 1) / 2, p[0] * p[2] + p[1] * p[3]};
      });
      steps += flight.steps();
      if (!taut) return {flight.state(), proposed, steps};
      y = StringSystem<Real>::jerk(flight.state());
      time = flight.time();
      step = swing.step();
    }
  }

 private:
  struct Crossing {
    Real value, slope;  // an event is a rise through zero
  };
  struct Flight {
    static constexpr int size = 4;
    Real gravity;
    [[gnu::always_inline]] void rate(const Vector<Real, 4>& y, Vector<Real, 4>& dy) const {
      dy = {y[2], y[3], Real(0), -gravity};
    }
  };

  // Steps until the function has risen through zero, then back to the crossing; false when the end comes
  // first. A value above zero counts only at the end of a step, so the event just left is not found again.
  template <class Motion, class Function>
  static bool advance_until(Motion& motion, Real longest, Real& proposed, const Function& function) {
    constexpr Real rounding = sizeof(Real) == sizeof(double) ? Real(1e-15) : Real(1e-18);
    while (motion.time() < end) {
      motion.advance(std::min(end, motion.time() + longest));
      if (proposed == 0) proposed = motion.step();
      Crossing now = function(motion.state(), motion.rate());
      if (!(now.value > 0)) continue;
      Real back = 0;
      for (int i = 0; i < 8; ++i) {
        const Real move = -now.value / now.slope;
        back += move;
        const auto state = motion.trial(back);
        typename Motion::State rate;
        motion.system().rate(state, rate);
        now = function(state, rate);
        if (std::abs(move) > rounding && std::abs(now.value) > rounding) continue;
        motion.move_to(state, motion.time() + back);
        return true;
      }
      motion.move_to(motion.trial(back), motion.time() + back);
      return true;
    }
    return false;
  }
};

}  // namespace zwang::yardstick
