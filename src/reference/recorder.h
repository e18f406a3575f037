// The record of one member's motion while it runs: samples, events, measures, energy audit and status.
#pragma once

#include <limits>
#include <optional>
#include <string>

#include "kernels/base/status.h"
#include "src/reference/measures.h"
#include "src/reference/member_state.h"
#include "src/reference/motion_formulas.h"
#include "src/reference/records.h"
#include "src/reference/reference.h"
#include "src/reference/smooth_motion.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"

namespace zwang {

class Recorder {
 public:
  Recorder(const MemberState& member, const MotionFormulas& formulas, const Plan& plan);

  bool ok() const { return trajectory_.status == Status::ok; }
  // The first failure is kept.
  void fail(Status status, std::string cause);
  // Counters and audit, to be updated in place.
  Trajectory& trajectory() { return trajectory_; }
  const Trajectory& trajectory() const { return trajectory_; }

  // Time and energy at which the record starts.
  void set_start(double t, double energy) {
    begun_ = t;
    energy_start_ = energy;
  }
  void start_measures();
  // Fails the member if the period of a record is not a positive number.
  void start_records(double t);
  void add_energy_lost(double energy) { energy_lost_ += energy; }
  void audit_energy();

  // Output times before the member's time are skipped.
  void skip_past_outputs();
  // Output times inside a step, up to time `until`.
  void emit_outputs_until(const SmoothStep& step, double until, const SmoothMotion& smooth);
  // Output times up to `until` of a member that does not move.
  void emit_outputs_at_rest(double until);
  // Output times equal to the member's time, up to rounding of times of size |t| or h.
  void emit_output_now(double h);

  // Measures: extremes within a step up to the fraction theta, and at the member's state.
  void refine_extremes(const SmoothStep& step, double theta);
  Sample update_extremes_now();

  // A pending accumulation is listed before the event.
  void record_event(Event event);
  void record_event_now(Event event);
  // Counts an event, listed or not, and fails the member where too many come at one instant.
  void count_at_instant(double t);
  // An accumulation is listed when the motion reaches its limit, or at the next event before that.
  void set_pending_accumulation(Event event) { pending_ = std::move(event); }
  // `interrupted`: the forces since its completion are judged after the event (resume_accumulation). `overloaded`: at the
  // limit something breaks, and the forces there have never acted.
  void flush_accumulation(bool interrupted = false, bool overloaded = false);
  // Until the limit of an accumulation forces are means over hops: extremes of those that differ from them do not count.
  // What is known at the completion; the conditions whose forces are such means; the end of that time.
  void keep_extremes() { extremes_before_ = measures_.results(); }
  void set_averaged(const Eigen::VectorXd& transferred) { averaged_ = transferred; }
  void forget_averaged_extremes();
  // The impulses of the shocks that the pending accumulation stands for, and the energy lost in them beside its jump.
  void set_remainder(std::vector<std::size_t> struck, std::vector<double> impulses, double energy_lost);
  const std::optional<Event>& pending_accumulation() const { return pending_; }

  // A closed inequality never pulls: multipliers below zero are rounding around a release and are set to
  // zero.
  Sample sample(const State& state) const;
  Trajectory finish();

 private:
  const MemberState& member_;
  const MotionFormulas& formulas_;
  const Plan& plan_;
  double next_time() const;
  void write_at(double when, const State& state);

  Measures measures_;
  Records records_;
  Trajectory trajectory_;
  double begun_ = 0;                           // time at which the record starts
  double energy_start_ = 0, energy_lost_ = 0;  // at the start; in shocks since
  std::size_t next_output_ = 0;
  std::optional<Event> pending_;
  std::vector<double> extremes_before_;  // of all reductions
  Eigen::VectorXd averaged_;  // by condition, 0 where the force is that of the motion; empty: all of them
  double last_time_ = -std::numeric_limits<double>::infinity();  // of the last event
  int at_last_time_ = 0;                                         // events at that time
};

}  // namespace zwang
