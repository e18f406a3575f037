// The state of one member between two calls of the solver, divided into groups by what they describe.
//
// Memory layout. On a GPU members lie in global memory and are copied to shared memory in whole cache lines
// (entry/warp.h, StagedMembers). An event handled in registers needs only the front of a member, so that
// front comes first and lies together: MemberCore, followed without a gap by ExchangeCore. Whatever such an
// event may change lies in MemberCore and ExchangeChanged, so that only those are copied back. Within
// MemberCore a lane that merely steps reads from `constraints.held` to the end. Everything that only the slow
// path needs lies behind.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/dynamics/accumulation.h"
#include "kernels/dynamics/least_constraint.h"
#include "kernels/dynamics/mass.h"
#include "kernels/dynamics/sparse_program.h"
#include "kernels/integrator/runge_kutta.h"
#include "kernels/rootfinding/step_length_search.h"

namespace zwang {

// Friction and bounds of a study, absent in most models.
template <class Model, bool = true>
struct ModesOf {
  static constexpr bool any = false, autonomous = false;
  static constexpr int transitions = 0, bounds = 0;
};
template <class Model>
struct ModesOf<Model, Model::has_modes> {
  static constexpr bool any = true, autonomous = Model::autonomous;
  static constexpr int transitions = Model::transitions, bounds = Model::bounds;
};

// Links that break as a whole, absent in most models.
template <class Model, bool = true>
struct LinkLimitsOf {
  static constexpr int count = 0;
};
template <class Model>
struct LinkLimitsOf<Model, Model::has_link_limits> {
  static constexpr int count = Model::link_limits;
};

// Orientations of bodies in space, absent in most models.
template <class Model, bool = true>
struct OrientationsOf {
  static constexpr int count = 0;
};
template <class Model>
struct OrientationsOf<Model, Model::has_orientations> {
  static constexpr int count = Model::orientations;
};

// Whether a model has contacts that slip in two directions.
template <class Model>
ZWANG_CONSTANT constexpr bool slips_in_space() {
  if constexpr (ModesOf<Model>::any) {
    bool any = false;
    for (int f = 0; f < Model::frictions; ++f) any = any || Model::friction_rows(f) == 2;
    return any;
  } else {
    return false;
  }
}

// Whether the friction of some contact may change its normal force: in other models kappa is constant (friction-4).
template <class Model>
ZWANG_CONSTANT constexpr bool friction_may_jam() {
  if constexpr (ModesOf<Model>::any)
    return Model::friction_couples;
  else
    return false;
}

// What ends when its signal rises through zero (src/system/system.h).
enum class TransitionKind : int { slide, stick, yield, lock, fail, part };

// Whether condition i is the slip speed of a contact, an equation in force while the contact sticks.
template <class Model>
ZWANG_CONSTANT constexpr bool is_slip_row(int i) {
  if constexpr (ModesOf<Model>::any)
    return Model::slip_of(i) >= 0;
  else
    return false;
}

// Whether condition i is the row of a link that may break and takes no part in shocks.
template <class Model>
ZWANG_CONSTANT constexpr bool is_free_in_shocks([[maybe_unused]] int i) {
  if constexpr (LinkLimitsOf<Model>::count > 0)
    return Model::is_free_in_shocks(i);
  else
    return false;
}

// The lengths of a model's arrays.
template <class Model>
struct ModelSizes {
  static constexpr int n = Model::coordinates, nz = Model::auxiliaries, r = Model::conditions;
  // The state vector holds q, v, z, the integrals of measures and, where forces do work, that work. The right
  // side of the equations of motion reads the first `fed_back` of them; the error estimate covers the first
  // `error_controlled`, because the work is only an audit.
  static constexpr int fed_back = 2 * n + nz, error_controlled = fed_back + Model::integrals;
  static constexpr int size = error_controlled + (Model::works ? 1 : 0);
  static constexpr int first_kink = Model::watches + (Model::stops ? 1 : 0);  // among the signals
  static constexpr int first_transition = Model::signals - ModesOf<Model>::transitions;
  static constexpr int rows = at_least_one(r), reductions = at_least_one(Model::reductions),
                       drives = at_least_one(Model::drives), signals = at_least_one(Model::signals);
  // Conditions, and after them the signals: what a search over the step length may look for.
  static constexpr int event_functions = rows + Model::signals;

  // The velocities and the auxiliaries within a state vector; within its rates, their rates.
  template <class R>
  ZWANG_INLINE static R* v_of(R* y) {
    return y + n;
  }
  template <class R>
  ZWANG_INLINE static R* z_of(R* y) {
    return y + 2 * n;
  }
};

// Whether rows may become linearly dependent at some state. The emitter states it in the models concerned
// only (src/system/row_structure.h).
template <class Model, bool = true>
struct RowsMayBecomeDependent {
  static constexpr bool value = false;
};
template <class Model>
struct RowsMayBecomeDependent<Model, Model::rows_may_become_dependent> {
  static constexpr bool value = true;
};
template <class Model>
constexpr bool may_become_dependent = RowsMayBecomeDependent<Model>::value;

// The records of a study, absent in most models.
template <class Model, bool = true>
struct RecordsOf {
  static constexpr int count = 0;
  static constexpr bool at_events = false, forces = false, periodic = false;
};
template <class Model>
struct RecordsOf<Model, Model::has_records> {
  static constexpr int count = Model::records;
  static constexpr bool at_events = Model::records_at_events, forces = Model::records_forces,
                        periodic = Model::records_periodic;
};
// The numbers of the next occurrences of periodic records, and the first of their times.
template <class Real, int records>
struct RecordClock {
  long long next[records];
  Real time;
};

// The quadratic program of Gauss's principle.
template <class Model, class Real, bool = is_long_model<Model> && !may_become_dependent<Model>>
struct ProgramOf {
  using Type = QuadraticProgram<Model::coordinates, at_least_one(Model::conditions),
                                typename RootOf<Model, Real>::Type, Real>;
};
template <class Model, class Real>
struct ProgramOf<Model, Real, true> {
  using Type = SparseProgram<Model, Real>;
};

// The part a condition plays in the motion (mechanics section 2).
enum class Standing : int {
  absent,    // not imposed yet, or lifted
  equation,  // in force
  open,      // an inequality with f < 0: it restricts nothing now
  closed,    // an inequality that holds as an equation; `idle` while its multiplier is zero
};

template <class Real>
struct Condition {
  Standing standing = Standing::absent;
  bool armed =
      false;  // if open: f has been clearly below zero since it opened, so that a crossing is a contact
  bool idle = false;  // if closed: the multiplier is zero and f'' = 0
  // If open and not armed yet:
  Real since = 0;  // when it opened
  Real noise = 0;  // the rounding of f'' then, which makes f uncertain by noise t^2 / 2
  Real above = 0;  // f then, if positive: projection onto other conditions moves it a little
  Real below_at = infinity<Real>();  // when f was first seen clearly below zero
  Real multiplier_zero = 0;          // if closed: what counts as zero for its multiplier
};

// What it means that an event function rises through zero.
enum class EventFunctionKind : int { nothing, reached, release, press, watch, stop, kink, transition, jam };

// The event at the member's present state.
template <class Real>
struct EventToHandle {
  EventFunctionKind kind;
  int index;        // of the condition, or of the signal
  Real resolution;  // the change of the event function within one rounding of the time
};

// Number of events so far, and how many of them at the time of the last one.
template <class Real>
struct Tally {
  long long events;
  Real last_time;
  int at_last_time;
};

// An event as it is written to the log and passed to the measures.
template <int n, int rows, class Set, class Real>
struct EventRecord {
  Real t = 0;
  EventKind kind = EventKind::contact;
  int watch = 0;
  Set constraints{}, reached{};
  bool jump = false;
  Real energy_lost = 0;
  Real impulse[rows];
  Real before[n], after[n];
};

// T if the condition holds, else an empty struct.
template <bool, class T>
struct OnlyIf {
  using Type = T;
};
template <class T>
struct OnlyIf<false, T> {
  struct Type {};
};

// Whether the member is still integrated.
struct MemberProgress {
  Status status;
  bool finished;              // the end time is reached
  bool accumulation_pending;  // the limit time of a completed accumulation lies ahead: Schedule::accumulation

  ZWANG_INLINE bool going() const { return status == Status::ok && !finished; }
  // The first failure counts.
  ZWANG_INLINE void fail(Status why) {
    if (status == Status::ok) status = why;
  }
};

// Which conditions hold. `held` comes last: a lane that steps reads it together with what follows in
// MemberCore.
template <class Model, class Real>
struct ConstraintState {
  static constexpr int r = ModelSizes<Model>::r, rows = ModelSizes<Model>::rows;
  bool any_held;
  bool redundant;       // the held rows are linearly dependent: the multipliers of least norm are taken
  bool ever_redundant;  // they have been at some time
  // They are about to become dependent, or have just been: right sides are evaluated at projected states
  // (member/singular_passage.h).
  bool near_dependence;
  Condition<Real> conditions[rows];
  Real held[rows];  // 1 where a condition holds as an equation, else 0

  ZWANG_INLINE bool in_force(int i) const { return conditions[i].standing != Standing::absent; }
};

template <class Model, class Real>
struct MotionState {
  static constexpr int n = ModelSizes<Model>::n, size = ModelSizes<Model>::size;
  Real t, h;
  Real y[size];  // q, v, z, integrals, work

  ZWANG_INLINE const Real* q() const { return y; }
  ZWANG_INLINE const Real* v() const { return y + n; }
  ZWANG_INLINE Real* v() { return y + n; }
  ZWANG_INLINE const Real* z() const { return y + 2 * n; }
  ZWANG_INLINE Real work() const { return Model::works ? y[size - 1] : Real(0); }
  // Times closer than this are one instant.
  ZWANG_INLINE Real rounding_of_time() const { return 16 * Precision<Real>::epsilon * absolute(t); }
};

// [voss] The balance T + V + lost - work = start.
template <class Real>
struct EnergyBalance {
  Real start, lost;  // at t = 0; in shocks since then
};

struct StepCounts {
  long long taken, rejected;
};

// The front of a member: what any event may need or change.
template <class Model_, class Method_, class Real_>
struct alignas(16) MemberCore : ModelSizes<Model_> {
  using Model = Model_;
  using Method = Method_;
  using Real = Real_;
  using Sizes = ModelSizes<Model>;
  ZWANG_CONSTANT static constexpr int inequalities() {
    int count = 0;
    for (int i = 0; i < Sizes::r; ++i) count += Model::is_equation(i) ? 0 : 1;
    return count;
  }
  using Set = ConditionSet<Sizes::r>;
  using Accumulation = AccumulationWatch<Set, Real, inequalities() == 1>;
  using Root = typename RootOf<Model, Real>::Type;
  using Qp = typename ProgramOf<Model, Real>::Type;
  using Constraints = ConstraintState<Model, Real>;
  using Motion = MotionState<Model, Real>;

  MemberProgress progress;
  Real results[Sizes::reductions];  // of the reductions, so far
  Tally<Real> tally;
  Accumulation accumulation;  // recognises that shocks accumulate
  Constraints constraints;
  EnergyBalance<Real> energy;
  // Constant, but for the modes of friction and bounds and the branches of integrands at its end.
  Real k[at_least_one(Model::constants)];
  Motion motion;
  StepCounts steps;
};

// Lanes write these two structs in pieces of 16 bytes (copy_by_wide_words).
template <class Real, int rows>
struct alignas(16) StoredLedger {
  // 1: open and armed. Below zero: open and not armed, and f must fall below this value to arm it. 0: not
  // open.
  Real arming_level[rows];
  Real peak_lambda[rows];
  Real drift, energy_size, worst_position, worst_velocity;
};
template <class Real, int functions>
struct alignas(16) StoredStep {
  Real h;  // length of the step to be handled; it starts at the member's t and y
  CrossingResult<Real, functions> crossing;  // if it ends at an event, or crosses one on its power series
  Real no_search_from;                       // as in StepLengthSearch
};

// Flags of a step that a lane stores for the slow path or the event kernel: one word, as members lie in
// global memory.
struct StepVerdict {
  unsigned stuck : 1, event_possible : 1, extremum_possible : 1, clipped : 1, output_due : 1;
  // The step ends at the crossing that was sought, without another event before.
  unsigned at_event : 1;
  // Of such a step: other crossings may come before its end.
  unsigned order_unknown : 1;
  // One condition crosses zero within the step, which is known as a power series.
  unsigned crosses_on_series : 1;
  // Set by the member: every step goes through the slow path.
  unsigned always_handle : 1;
  // Set by the slow path: it has more steps to take with this member before a lane goes on (prepare_next_step()).
  unsigned continues_alone : 1;
};

// Watched functions, the stop condition and kinks, as a lane needs them.
template <class Core>
struct SignalExchange {
  using Real = typename Core::Real;
  Real signal[Core::signals];
  Real side[Core::signals];  // +1: a rise through zero is an event, -1: a fall, 0: neither
};

// Numbers exchanged between a member and the lane that moves it: first those that an event may change. The
// lane loads them at the start of a step and stores those at the step's end.
template <class Core>
struct ExchangeChanged : OnlyIf<(Core::Model::signals > 0), SignalExchange<Core>>::Type {
  using Real = typename Core::Real;
  StoredLedger<Real, Core::rows> ledger;
  Real lambda[Core::rows], f[Core::rows], f_rate[Core::rows];
  Real presses_now[Core::rows];           // 1: a closed inequality with a positive multiplier
  Real first_rate[Core::size - Core::n];  // rates of all but the positions, at the start
  Real values[Core::Model::any_extremes ? Core::reductions : 1];  // that are reduced
};
template <class Core>
struct ExchangeCore : ExchangeChanged<Core> {
  using Real = typename Core::Real;
  StoredStep<Real, Core::event_functions> step;
  StepVerdict verdict;
  Real scheduled_time, next_output;
  Real end[Core::size];  // the step's end, projected onto the held conditions
};
template <class Core>
struct LaneExchange : ExchangeCore<Core>, OnlyIf<Core::Model::signals == 0, SignalExchange<Core>>::Type {
  using Real = typename Core::Real;
  using Method = typename Core::Method;
  Real next_h;  // the length of the step after this one
  bool may_cross[Core::rows];
  Real last_rate[Core::size - Core::n];  // as first_rate, at the end
  EventToHandle<Real> event;             // at the end of the step, until it is handled
  typename OnlyIf<ZWANG_STAGES_KEPT, StepArrays<Method, Core::n, Core::size, Core::fed_back, Real>>::Type
      stages;
};

// What a member is given at its start, and never changes.
template <class Real>
struct MemberInput {
  const KernelSettings* settings;
  const KernelBatch* batch;
  long long number;
  Real end;
  Real rtol, atol, contact_tolerance, rest_speed;
};

// The largest violation of each invariant, as in struct Audit (src/reference/trajectory.h).
enum AuditIndex {
  audit_position,
  audit_velocity,
  audit_drift,
  audit_size,
  audit_kkt,
  audit_carnot,
  audit_created,
  // Shares of the bound, above 1: the member is inaccurate (dynamics/audit.h).
  audit_energy_share,
  audit_condition_share,
  audit_shock_share
};
template <class Real>
struct MemberAudit {
  Real worst[audit_numbers];

  // None is ever negative: a value that is not positive needs no look at the memory. NaN stays.
  ZWANG_INLINE void raise(int which, Real value) {
    if (!(value <= 0) && !(value <= worst[which]) && worst[which] == worst[which]) worst[which] = value;
  }
};

// The magnitudes of coordinates and velocities over the last step: the scale of their rounding errors.
template <int n, class Real>
struct RoundingSizes {
  Real q[n], v[n];
  Real duration;  // of that step
};

// Parts of the time that an accumulation still takes, with the conditions that hold as equations in each.
template <class Set, class Real, int most_>
struct RestPhases {
  static constexpr int most = most_;
  Real share[most];  // of the time
  Set held[most];
  int count = 0;

  ZWANG_DEVICE void add(Real part, const Set& conditions) {
    if (count == most) return;
    share[count] = part;
    held[count++] = conditions;
  }
};

// What is known of the shocks that a pending accumulation stands for, until its closed set is known too.
template <class Phases, int rows, class Real>
struct AccumulationRemainder {
  Real begin;              // when the accumulation was completed
  Real time;               // from then to the limit
  Real multipliers[rows];  // l of the projection onto the limit; 0 where it is rounding
  Phases phases;
  bool unknown;
};

// How much of it belongs to the time ahead, in models with friction or bounds: where the motion takes another course
// before the limit, that part is taken back (event/interrupted_hops.h). `corrected` are the integrals and auxiliary states.
// Forces until the limit are means over hops: extremes of them do not count, and no contact breaks under them.
template <int corrected, int rows, int reductions, int bounds, class Real>
struct RemainderAhead {
  bool counts;       // until `limit`
  bool interrupted;  // by the event at hand
  bool divided;      // and listed without what belongs to the time ahead
  Real from, limit;
  Real corrections[corrected];  // of integrals and auxiliary states for that time
  Real transferred[rows];       // impulses that the listed event contains for that time
  bool averages;                // forces whose `transferred` is not zero are means
  Real results[reductions];     // at the completion
  // The limit of the hops of each condition that breaks; 0: none. Known after the first completion.
  Real hops_end[bounds];
};

// Events at known times.
template <class Event, class Remainder, class Ahead, class Real>
struct Schedule {
  Real done_until;      // scheduled events up to this time have been applied
  Event accumulation;   // while MemberProgress::accumulation_pending: logged when the motion gets to its time
  Remainder remainder;  // of that accumulation
  Ahead ahead;          // what of it belongs to the time ahead
};

// The linear dependence of the held rows, for models in which they may become dependent.
template <class Set, class Real>
struct DependenceWatch {
  Set rows;       // the held rows to which the rank belongs
  int rank;       // -1: not known yet
  Real time;      // until the rows become dependent; negative: since then
  Real excluded;  // around that time, where rounding spoils a right side
  // Lanes leave a step to the slow path where a pivot comes below this share of its diagonal entry.
  Real level;
};

template <class Model_, class Method_, class Real_>
struct alignas(64) Member : MemberCore<Model_, Method_, Real_> {
  using Core = MemberCore<Model_, Method_, Real_>;
  using Model = Model_;
  using Method = Method_;
  using Real = Real_;
  using Core::n, Core::rows, Core::reductions;
  using typename Core::Set;
  using Event = EventRecord<n, rows, Set, Real>;
  using Input = MemberInput<Real>;
  using Audit = MemberAudit<Real>;
  using Rounding = RoundingSizes<n, Real>;
  static constexpr int phases = Core::inequalities() > 1 ? Core::Accumulation::longest_cycle + 1 : 1;
  using Phases = RestPhases<Set, Real, phases>;
  using Remainder = AccumulationRemainder<Phases, rows, Real>;
  static constexpr int corrected = at_least_one(Core::error_controlled - 2 * n);
  using Ahead =
      typename OnlyIf<ModesOf<Model>::any, RemainderAhead<corrected, rows, reductions,
                                                          at_least_one(ModesOf<Model>::bounds), Real>>::Type;

  LaneExchange<Core> exchange;

  Input input;
  Audit audit;
  unsigned event_counts[event_kinds];
  int next_output;  // index of the next output time
  // The conditions that held as equations before each shock of Core::accumulation. A model with a single
  // inequality needs none: they are the equations in force.
  struct HeldBefore {
    Set sets[Core::Accumulation::memory];
  };
  typename OnlyIf<(Core::inequalities() > 1), HeldBefore>::Type held_before;
  typename OnlyIf<may_become_dependent<Model>, DependenceWatch<Set, Real>>::Type dependence;
  Rounding sizes;
  // Conditions that may be at zero now, or whose multiplier may be; the slow path examines only these. The
  // others are open and clearly below zero, or closed with a multiplier clearly above it.
  Set candidates;
  int watch_signs[at_least_one(Model::watches)];  // of watched functions: -1, 0 (not known yet), +1
  Schedule<Event, Remainder, Ahead, Real> schedule;
  typename OnlyIf<RecordsOf<Model>::periodic, RecordClock<Real, at_least_one(RecordsOf<Model>::count)>>::Type
      record_clock;
  Real initial[reductions];  // the reduced values at the start
  // Extremes inside steps that zwang_record has refined on a GPU, apart from the results of the lane: which of
  // its steps may contain an extremum does not depend on when they are refined.
  struct RefinedExtremes {
    Real extremes[reductions];
  };
  static constexpr bool has_refined = Method::records && Model::any_extremes;
  typename OnlyIf<has_refined, RefinedExtremes>::Type refined;

  ZWANG_INLINE bool going() const { return this->progress.going(); }
  ZWANG_INLINE void fail(Status why) { this->progress.fail(why); }

  // StagedMembers copies the first bytes of a member: the exchange must follow the core without a gap.
  static_assert(sizeof(Core) % alignof(LaneExchange<Core>) == 0 && alignof(LaneExchange<Core>) == 16);
  static constexpr int bytes_changed_by_events = int(sizeof(Core) + sizeof(ExchangeChanged<Core>)),
                       bytes_needed_by_events = int(sizeof(Core) + sizeof(ExchangeCore<Core>));
  // They are stored in whole lines, which must not reach beyond the exchange: events change what follows it in
  // the member itself, not in the staged copy.
  static_assert((bytes_changed_by_events + 63) / 64 * 64 <= int(sizeof(Core) + sizeof(LaneExchange<Core>)));
};

}  // namespace zwang
