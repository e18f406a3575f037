// One member: where it is, which conditions are open or closed, and what it has left behind so far.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/base/scaled.h"
#include "kernels/base/status.h"
#include "kernels/dynamics/accumulation.h"
#include "kernels/dynamics/least_constraint.h"
#include "kernels/integrator/runge_kutta.h"
#include "kernels/rootfinding/step_length_search.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

// A condition's standing in the motion (mechanics section 2).
enum class Standing : int {
  absent,    // not imposed yet, or lifted
  equation,  // in force
  open,      // restricts nothing now
  closed,    // holds as an equation; `idle` while its multiplier is zero
};

template <class Real>
struct Condition {
  Standing standing = Standing::absent;
  bool armed = false;  // of an open one: has been seen clearly below zero since it opened
  bool idle = false;   // of a closed one: neither presses nor leaves
  Real since = 0;      // of an open one not armed yet: when it opened,
  Real noise = 0;      // the rounding of its f'' then, which makes f uncertain by noise t^2 / 2,
  Real above = 0;      // and how far above zero it was: the way back onto other conditions moves it a little
  Real below_at = infinity<Real>();  // and when it was first seen clearly below zero
  Real multiplier_zero = 0;          // of a closed one: what counts as zero for its multiplier
};

// What a curve that rises through zero stands for.
enum class EventFunctionKind : int { nothing, reached, release, press, watch, stop, kink };

// What is to happen where the member has arrived.
template <class Real>
struct EventToHandle {
  EventFunctionKind kind;
  int index;        // condition, or signal
  Real resolution;  // of the curve there: what one rounding of the time does to it
};

// Events so far, and how many of them at the time of the last one.
template <class Real>
struct Tally {
  long long events;
  Real last_time;
  int at_last_time;
};

template <bool, class T>
struct OnlyIf {
  using Type = T;
};
template <class T>
struct OnlyIf<false, T> {
  struct Type {};
};

// What of a member every event needs and may change. On a GPU members are read from afar, in pieces: so it lies together.
template <class Model_, class Method_, class Real_>
struct MemberCore {
  using Model = Model_;
  using Method = Method_;
  using Real = Real_;
  static constexpr int n = Model::coordinates, nz = Model::auxiliaries, r = Model::conditions;
  static constexpr int fed_back = 2 * n + nz, judged = fed_back + Model::integrals;
  static constexpr int size = judged + (Model::works ? 1 : 0);
  static constexpr int first_kink = Model::watches + (Model::stops ? 1 : 0);  // of the signals
  static constexpr int rows = at_least_one(r), measures = at_least_one(Model::measures),
                       drives = at_least_one(Model::drives);
  ZWANG_CONSTANT static constexpr int inequalities() {
    int count = 0;
    for (int i = 0; i < r; ++i) count += Model::is_equation(i) ? 0 : 1;
    return count;
  }
  using Set = ConditionSet<r>;
  using Accumulation = AccumulationWatch<Set, Real, inequalities() == 1>;
  using Qp = Program<n, rows, Model::diagonal_mass, Real>;

  // What only those who attend to events need, and then what lanes that step need too: side by side with NearHand.
  int next_output;
  Status status;
  bool finished;
  bool any_held;
  bool redundant_now;  // the rows held are dependent: multipliers are those of least norm
  bool pending;        // an accumulation whose limit lies a little ahead
  bool redundant;
  Condition<Real> conditions[rows];
  Real results[measures];
  Tally<Real> tally;
  Accumulation accumulation;
  Real held[rows];  // 1 where a condition holds as an equation
  Real energy_start, energy_lost;
  Real k[at_least_one(Model::constants)];
  Real t, h;
  Real y[size];  // q, v, z, integrals, work
  long long steps, rejected;
};

// What a lane gives its member at every event: written in a few whole pieces.
template <class Real, int rows>
struct alignas(16) StoredLedger {
  // 1: open and armed. Below zero: open, left a moment ago, and armed when below that.
  Real arming_level[rows];
  Real peak_lambda[rows];
  Real drift, energy_size, worst_position, worst_velocity;
};
template <class Real, int rows>
struct alignas(16) StoredStep {
  Real step_h;  // the length of a step that needs attention; its start is the member's t and y
  CrossingResult<Real, rows> crossing;  // of one that has landed or crosses
  Real no_search_from;                  // as in Seek
};

// Between the member and the lane that moves it, what every event needs of that: first what it may change.
template <class N>
struct ExchangeChanged : StoredLedger<typename N::Real, N::rows> {
  using Real = typename N::Real;
  static constexpr int rows = N::rows, size = N::size;
  // To the lane: where the member stands and what to listen to; back from it, as it is at the end if nothing happens.
  Real lambda[rows], f[rows], f_rate[rows];
  Real presses_now[rows];        // 1: closed, an inequality, and pressing
  Real first_rate[size - N::n];  // of all but the positions, at the start
  Real values[N::Model::any_extremes ? N::measures : 1];
};
// What a lane says of a step that needs attention. One word: members lie far away.
struct StepVerdict {
  unsigned stuck : 1, event_possible : 1, extremum_possible : 1, clipped : 1, output_due : 1;
  unsigned
      at_event : 1;  // the step ends at the crossing that was sought, nothing else having happened on the way
  unsigned order_unknown : 1;  // of a landed one: the lane could not tell that it is the first crossing
  unsigned
      crosses_on_series : 1;  // one condition crosses zero within the step, and the motion there is known as a power series
  unsigned always_handle : 1;  // to the lane: every step needs attention
};
template <class N>
struct ExchangeCore : ExchangeChanged<N>, StoredStep<typename N::Real, N::rows>, StepVerdict {
  using Real = typename N::Real;
  Real scheduled_time, next_output;
  Real end[N::size];  // of a step that needs attention, on the conditions
};

template <class Model_, class Method_, class Real_>
struct alignas(64) Member : MemberCore<Model_, Method_, Real_> {
  using Near = MemberCore<Model_, Method_, Real_>;
  using Model = Model_;
  using Method = Method_;
  using Real = Real_;
  using Near::conditions, Near::finished, Near::status, Near::t, Near::y;
  using Near::fed_back, Near::first_kink, Near::measures, Near::n, Near::rows, Near::size;
  using typename Near::Set;

  // An event as it goes into the log and into the measures.
  struct Event {
    Real t = 0;
    EventKind kind = EventKind::contact;
    int watch = 0;
    Set constraints{}, reached{};
    bool jump = false;
    Real energy_lost = 0;
    Real impulse[rows];
    Real before[n], after[n];
  };

  struct LaneExchange : ExchangeCore<Near> {
    Real next_h;  // what comes after the step
    bool may_cross[rows];
    Real last_rate[size - n];  // at the end
    Real signal[at_least_one(Model::signals)];
    Real side[at_least_one(Model::signals)];  // +1: a rise through zero matters, -1: a fall, 0: neither
    EventToHandle<Real> due;                  // where a step has landed, until it has happened
    typename OnlyIf<ZWANG_STAGES_KEPT, StepArrays<Method, n, size, fed_back, Real>>::Type stages;
  };

  LaneExchange exchange;

  Real end;
  long long number;
  Real audit[audit_numbers];
  unsigned event_counts[event_kinds];
  Real contact_tolerance, rest_speed;
  const KernelSettings* settings;
  const KernelBatch* batch;
  Real rtol, atol;
  Real size_q[n], size_v[n];  // how large they have been of late: what their rounding errors are measured by
  // Conditions that may be at zero now, or press too little to be sure: at an instant only these are looked at. The others
  // are open and far, or press hard.
  Set near;
  int watch_signs[at_least_one(Model::watches)];  // of watched functions: -1, 0 (not known yet), +1
  Real scheduled_done_until;                      // appointments up to here are kept
  Event pending_event;
  Real initial[measures];

  ZWANG_INLINE bool going() const { return status == Status::ok && !finished; }
  ZWANG_INLINE void fail(Status why) {
    if (status == Status::ok) status = why;
  }
  // Times closer than this are one instant.
  ZWANG_INLINE Real rounding_of_time() const { return 16 * Precision<Real>::epsilon * absolute(t); }
  ZWANG_INLINE bool in_force(int i) const { return conditions[i].standing != Standing::absent; }
  ZWANG_INLINE Real work() const { return Model::works ? y[size - 1] : Real(0); }
  ZWANG_INLINE const Real* q() const { return y; }
  ZWANG_INLINE const Real* v() const { return y + n; }
  ZWANG_INLINE const Real* z() const { return y + 2 * n; }
  // None is below zero, and what is not asked for need not be fetched.
  ZWANG_INLINE void audit_max(int which, Real value) {
    if (!(value <= 0) && !(value <= audit[which])) audit[which] = value;
  }
};

// Places in Member::audit, as in struct Audit.
enum AuditPlace {
  audit_position,
  audit_velocity,
  audit_drift,
  audit_size,
  audit_kkt,
  audit_carnot,
  audit_created
};

// One condition at a state with the rounding scales of its parts.
template <class Real>
struct ScaledCondition {
  Real value, value_scale, rate, rate_scale, rest_scale;
  bool
      vanishes;  // every entry of its row is rounding noise: the linear condition says nothing there [staeckel-6'']
};

template <class M, class Real>
ZWANG_COLD ScaledCondition<Real> scaled_condition(const M& me, int i, const Real* v, const Real* size_q,
                                                  const Real* size_v) {
  using Model = typename M::Model;
  using S = Scaled<Real>;
  constexpr int n = M::n;
  S k[at_least_one(Model::constants)], q[n], w[n], z[at_least_one(M::nz)], a[n], value, rate, rest;
  for (int j = 0; j < Model::constants; ++j) k[j] = S(me.k[j]);
  for (int j = 0; j < n; ++j) {
    q[j] = S(me.y[j], size_q[j]);
    w[j] = S(v[j], size_v[j]);
    a[j] = S(0);
  }
  for (int j = 0; j < M::nz; ++j) z[j] = S(me.z()[j]);
  value = rate = rest = S(0);
  Model::row(k, S(me.t), q, w, z, i, value, rate, rest, a);
  bool vanishes = true;
  for (int j = 0; j < n; ++j)
    vanishes = vanishes && (a[j].scale == 0 || absolute(a[j].value) <= Real(1e-10) * a[j].scale);
  return {value.value, value.scale, rate.value, rate.scale, rest.scale, vanishes};
}

// A share of a rounding scale that counts as zero: floats round more coarsely than any that is asked for.
template <class Real>
ZWANG_INLINE Real within_precision(double asked) {
  if (sizeof(Real) == sizeof(double)) return Real(asked);
  return maximum(Real(asked), 32 * Precision<Real>::epsilon);
}

// What counts as zero for f (or g) and for f' of a condition where the member is.
template <class Real>
struct Zero {
  Real value, rate, f, f_rate;
};
template <class M>
ZWANG_DEVICE Zero<typename M::Real> zero_of(const M& me, int i) {
  const auto scaled = scaled_condition(me, i, me.v(), me.size_q, me.size_v);
  return {me.contact_tolerance * scaled.value_scale, me.rest_speed * scaled.rate_scale, scaled.value,
          scaled.rate};
}

// What counts as zero for a signal, and its value.
template <class M>
ZWANG_COLD Scaled<typename M::Real> scaled_signal(const M& me, int i) {
  using Model = typename M::Model;
  using S = Scaled<typename M::Real>;
  constexpr int n = M::n;
  S k[at_least_one(Model::constants)], q[n], v[n], z[at_least_one(M::nz)];
  for (int j = 0; j < Model::constants; ++j) k[j] = S(me.k[j]);
  for (int j = 0; j < n; ++j) {
    q[j] = S(me.y[j], me.size_q[j]);
    v[j] = S(me.v()[j], me.size_v[j]);
  }
  for (int j = 0; j < M::nz; ++j) z[j] = S(me.z()[j]);
  return Model::signal(k, S(me.t), q, v, z, i);
}

// Conditions couple coordinates, and with them their rounding: sizes are never below a hundredth of the whole state's in
// the mass metric (src/system/equations.h). `whole` is the square of that; most sizes are well above, and need no root.
template <class Real>
ZWANG_INLINE Real not_below(Real size, Real mass, Real whole) {
  constexpr Real share = Real(0.01);
  return mass > 0 && mass * square(size) < square(share) * whole ? share * sqrt(whole / mass) : size;
}
template <class M>
ZWANG_DEVICE void raise_to_noise(M& me) {
  using Real = typename M::Real;
  constexpr int n = M::n;
  Real mass[n * n];
  M::Model::mass(me.k, me.t, me.q(), me.v(), me.z(), mass);
  Real whole_q = 0, whole_v = 0;
  for (int i = 0; i < n; ++i) {
    const Real m = maximum(mass[i * n + i], Real(0));
    whole_q += m * me.size_q[i] * me.size_q[i];
    whole_v += m * me.size_v[i] * me.size_v[i];
  }
  for (int i = 0; i < n; ++i) {
    me.size_q[i] = not_below(me.size_q[i], mass[i * n + i], whole_q);
    me.size_v[i] = not_below(me.size_v[i], mass[i * n + i], whole_v);
  }
}

// How large coordinates and velocities were along a stretch from y0 to y1: their rounding is of that size.
template <class M, class Real>
ZWANG_COLD void measure_sizes(M& me, const Real* y0, const Real* y1, Real duration) {
  constexpr int n = M::n;
  for (int i = 0; i < n; ++i) {
    me.size_q[i] = maximum(maximum(absolute(y0[i]), absolute(y1[i])), absolute(duration * y0[n + i]));
    me.size_v[i] = maximum(absolute(y0[n + i]), absolute(y1[n + i]));
  }
  raise_to_noise(me);
}

// Components that are nothing but rounding of velocities as large as `before` become exactly zero.
template <class M, class Real>
ZWANG_DEVICE void drop_noise(const M&, Real* v, const Real* before, const Real* mass) {
  constexpr int n = M::n;
  Real whole = 0;
  for (int i = 0; i < n; ++i) whole += maximum(mass[i * n + i], Real(0)) * before[i] * before[i];
  whole = 8 * Precision<Real>::epsilon * sqrt(whole);
  for (int i = 0; i < n; ++i)
    if (absolute(v[i]) * sqrt(maximum(mass[i * n + i], Real(0))) <= whole) v[i] = 0;
}

}  // namespace zwang
