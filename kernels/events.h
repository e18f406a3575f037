// What happens first within a step: curves that rise through zero, sought on the interpolant and then corrected on the true
// flow (mechanics section 5, requirements 1 to 3). src/motion_step.cpp is the reference.
#pragma once

#include "kernels/locate.h"

namespace zwang {

// A condition that was left a moment ago and is clearly below zero at a sample is armed from there on. Waiting for the
// step's end would miss a string that is slack for less than a step.
template <class M, class Real>
ZWANG_DEVICE void arm_within(M& me, Lookout<Real>& lookout, Real t, Real h, Real* samples) {
  if (lookout.kind != LookoutKind::reached) return;
  Condition<Real>& condition = me.conditions[lookout.index];
  if (condition.armed) return;
  for (int s = 1; s < sample_count; ++s) {
    const Real now = t + Real(sample_fraction(s)) * h, elapsed = now - lookout.since;
    const Real level = lookout.level + Real(0.5) * lookout.noise * elapsed * elapsed;
    const Real value = samples[s] + level;
    if (value < -level) lookout.below_at = minimum(lookout.below_at, now);
    if (now >= lookout.below_at) samples[s] = value;
  }
  condition.below_at = minimum(condition.below_at, lookout.below_at);
}

// A curve that rises and falls again between two samples, as at a jump of its slope, goes unseen. What has been found may lie in
// between, a jump above all, and there the curve is seen: whoever is across by then has crossed before.
template <class M>
ZWANG_COLD void look_before(M& me, const Stretch<M>& stretch, Lookout<typename M::Real> lookout,
                            Occurrence<M>& found) {
  using Real = typename M::Real;
  const auto curve = [&](Real x) {
    Real y[M::size];
    stretch.interpolant.at(x, y);
    return look(me, lookout, stretch.interpolant.t + x * stretch.interpolant.h, y);
  };
  if (!(curve(found.x) > lookout.zero) || !(curve(Real(0)) <= 0)) return;
  lookout.bracket = {true, 0, found.x};
  for (int s = 1; s < sample_count && Real(sample_fraction(s)) < found.x; ++s)
    if (curve(Real(sample_fraction(s))) <= 0) lookout.bracket.below = Real(sample_fraction(s));
  lookout.x = root(lookout.bracket, curve);
  Occurrence<M> before;
  locate(me, stretch, lookout, before);
  if (me.going() && before.found && before.x < found.x) found = before;
}

// The earliest thing that happens within the step; one that turns out to be none on the true flow gives way to the next.
template <class M>
ZWANG_COLD void first_occurrence(M& me, const Stretch<M>& stretch, Occurrence<M>& found) {
  using Real = typename M::Real;
  Lookouts<M> lookouts;
  lookouts.gather(me);
  if (lookouts.count == 0) return;
  // Sample the interpolant once for all lookouts; multipliers only where some condition is closed.
  Real states[sample_count][M::size], multipliers[sample_count][M::rows];
  const Real t = stretch.interpolant.t, h = stretch.interpolant.h;
  bool unseen[Lookouts<M>::most];
  for (int s = 0; s < sample_count; ++s) {
    stretch.interpolant.at(Real(sample_fraction(s)), states[s]);
    if (lookouts.forces) multipliers_at(me, t + Real(sample_fraction(s)) * h, states[s], multipliers[s]);
  }
  for (int c = 0; c < lookouts.count; ++c) {
    Lookout<Real>& lookout = lookouts.list[c];
    Real samples[sample_count];
    for (int s = 0; s < sample_count; ++s) {
      if (lookout.kind == LookoutKind::release || lookout.kind == LookoutKind::press)
        samples[s] = lookout.sign * multipliers[s][lookout.index] - lookout.level;
      else
        samples[s] = look(me, lookout, t + Real(sample_fraction(s)) * h, states[s]);
    }
    arm_within(me, lookout, t, h, samples);
    const auto curve = [&](Real x) {
      Real y[M::size];
      stretch.interpolant.at(x, y);
      return look(me, lookout, t + x * h, y);
    };
    const auto slope = [&](int s) {
      const Real x = Real(sample_fraction(s));
      if (lookout.kind == LookoutKind::release || lookout.kind == LookoutKind::press) return missing<Real>();
      const Real known = h * slope_of_curve(me, lookout, t + x * h, states[s]);
      return known == known ? known : difference_slope(x, curve);
    };
    lookout.bracket = first_rise(samples, lookout.zero, slope, curve);
    unseen[c] = !lookout.bracket.found;
    if (lookout.bracket.found) lookout.x = root(lookout.bracket, curve);
  }
  // One that turns out to be later than guessed must not hide another before it: what is open would be passed through.
  Occurrence<M> next;
  for (int tried = 0; tried < lookouts.count; ++tried) {
    int best = -1;
    for (int c = 0; c < lookouts.count; ++c)
      if (lookouts.list[c].bracket.found && (best < 0 || lookouts.list[c].x < lookouts.list[best].x))
        best = c;
    if (best < 0 || (found.found && !(lookouts.list[best].x < found.x))) break;
    locate(me, stretch, lookouts.list[best], next);
    if (!me.going()) return;
    if (next.found && (!found.found || next.x < found.x)) found = next;
    lookouts.list[best].bracket.found = false;
  }
  for (int c = 0; c < lookouts.count && found.found && me.going(); ++c)
    if (unseen[c]) look_before(me, stretch, lookouts.list[c], found);
}

}  // namespace zwang
