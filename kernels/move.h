// One try of all lanes of a crew: by the method's stages, or, where nothing is held, by a power series; and how good it was.
#pragma once

#include "kernels/attend.h"
#include "kernels/lane_step.h"
#include "kernels/series.h"

namespace zwang {

template <class Crew>
struct Mover {
  using M = typename Crew::Member;
  using R = typename Crew::Number;
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  static constexpr int n = M::n, r = M::r, size = M::size, signals = Model::signals;
  Crew& crew;

  // How good a step was, and how much longer the next may be.
  struct Judged {
    R error, factor;
  };

  // By the method's stages; or, where nothing is held, by a power series. A lane goes by its own state, not by its neighbours'.
  ZWANG_INLINE Judged move() const {
    if constexpr (Method::expands) {
      Judged made{R(0), R(0)};
      R some = R(0);
      ZWANG_REGISTERS for (int i = 0; i < r; ++i) some = some + crew.held[i];
      crew.bound = some > R(0);
      if (crew.any_held) made = move_bound();
      if (any(!crew.bound)) {
        const Judged free = move_free();
        made.error = select(crew.bound, made.error, free.error);
        made.factor = select(crew.bound, made.factor, free.factor);
        ZWANG_REGISTERS for (int i = 0; i < size; ++i) crew.step.end[i] =
            select(crew.bound, crew.step.end[i], crew.series.end[i]);
        ZWANG_REGISTERS for (int m = 0; m < crew.step.kept; ++m) crew.step.last()[m] =
            select(crew.bound, crew.step.last()[m], crew.series.rate[m]);
        ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
          crew.end_lambda[i] = select(crew.bound, crew.end_lambda[i], R(0));
          crew.via_lambda[i] = select(crew.bound, crew.via_lambda[i], R(0));
        }
      }
      return made;
    } else {
      return move_bound();
    }
  }
  ZWANG_INLINE void move_by_stages() const {
    if constexpr (Model::drives > 0)
      crew.drive->see(crew.k, crew.t, crew.step.h, stage_nodes<Method, R>.part);
    // Written out, stages with nothing held are short of all that asks what is: a text of their own. A lane goes by its own
    // state, not by its neighbours': two texts may round differently.
    if constexpr (Method::written_out && n == 1 && !Model::always_held) {
      if (crew.any_held)
        take_stages(true);
      else
        take_stages(false);
    } else if constexpr (knows_all_held) {
      // Known before, that all is held is not asked again and again in the text.
      if (crew.any_held && all_held())
        take_all_stages();
      else
        take_stages(crew.any_held);
    } else {
      take_stages(crew.any_held);
    }
  }

 private:
  // Lanes of packs would have to go by their neighbours, and a GPU's text is long enough.
  static constexpr bool knows_all_held = Crew::lone && Model::light_events && !Model::always_held;
  ZWANG_INLINE bool all_held() const {
    bool all = true;
    for (int i = 0; i < r; ++i) all = all && crew.held[i] > R(0);
    return all;
  }

  ZWANG_INLINE Judged move_bound() const {
    move_by_stages();
    const R error = error_of(crew.step);
    return {error, step_factor<Method>(error)};
  }
  ZWANG_INLINE Judged move_free() const {
    crew.series.take(crew.k, crew.t, crew.step.h, crew.y);
    const R error = error_of(crew.series);
    return {error, series_factor<Method>(error)};
  }

  ZWANG_INLINE void take_all_stages() const {
    R all[M::rows];
    for (int i = 0; i < r; ++i) all[i] = R(1);
    take_stages(true, all);
  }
  ZWANG_INLINE void take_stages(bool hold) const { take_stages(hold, crew.held); }
  ZWANG_INLINE void take_stages(bool hold, const R* held) const {
    int stage = 0;
    crew.step.take(crew.t, crew.y, [&, this](R when, const R* there, R* rate) {
      rates_at(when, crew.drive->w[stage], there, hold, held, rate);
      if (++stage == Method::witness)
        ZWANG_REGISTERS for (int i = 0; i < r; ++i) crew.via_lambda[i] = crew.end_lambda[i];
      if constexpr (Crew::two_witnesses)
        if (stage == Method::second_witness)
          ZWANG_REGISTERS for (int i = 0; i < r; ++i) crew.beyond_lambda[i] = crew.end_lambda[i];
      if (hold) ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
          if (Model::is_equation(i)) continue;
          crew.low[i] = lesser(crew.low[i], crew.end_lambda[i]);
          crew.high[i] = larger(crew.high[i], crew.end_lambda[i]);
        }
    });
  }

  // The work is an audit and has no say.
  template <class Taken>
  ZWANG_INLINE R error_of(const Taken& taken) const {
    const R rtol = R(Real(crew.settings.rtol)), atol = R(Real(crew.settings.atol));
    return taken.template squared_error<M::judged>(crew.y, rtol, atol);
  }

  ZWANG_INLINE void rates_at(R when, const R* w, const R* there, bool hold, const R* held, R* rate) const {
    driven_right_side<M>(crew.k, when, w, there, held, hold, rate, crew.end_lambda);
    if constexpr (Crew::one_by_one)
      if (crew.any_redundant) integrands_one_by_one(when, there, rate);
  }
  ZWANG_INLINE void integrands_one_by_one(R when, const R* there, R* rate) const {
    for (int lane = 0; lane < Crew::lanes; ++lane) {
      if (!lane_of(crew.live, lane) || !crew.members[lane].redundant_now) continue;
      Real y_lane[size], rate_lane[size];
      for (int i = 0; i < M::fed_back; ++i) y_lane[i] = lane_of(there[i], lane);
      integrands_of_least_norm(crew.members[lane], lane_of(when, lane), y_lane, rate_lane);
      for (int i = M::fed_back; i < M::judged; ++i) set_lane(rate[i], lane, rate_lane[i]);
    }
  }
};

}  // namespace zwang
