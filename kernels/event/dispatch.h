// What happens at a crossing, the general way. src/reference/motion_events.cpp is the reference.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/event/active_set.h"
#include "kernels/event/instant_events.h"
#include "kernels/record/event_log.h"

namespace zwang {

template <class M>
ZWANG_COLD void dispatch_event(M& me, const EventToHandle<typename M::Real>& due) {
  using Model = typename M::Model;
  const int i = due.index;
  typename M::Event event;
  event.t = me.motion.t;
  switch (due.kind) {
    case EventFunctionKind::reached:
      // Everything else that is reached at this instant belongs to the same shock.
      for (int j = 0; j < M::r; ++j) {
        if (me.constraints.conditions[j].standing != Standing::open || !me.candidates.has(j)) continue;
        const auto zero = zero_of(me, j);
        const bool together =
            absolute(zero.f) <= zero.value && me.constraints.conditions[j].armed && zero.f_rate > zero.rate;
        if (j == i || (together && Model::is_holonomic(j))) event.constraints.add(j);
      }
      event.kind = Model::is_holonomic(i) ? EventKind::contact : EventKind::touch;
      record_event(me, event);
      {
        typename M::Real now[M::n];
        copy<M::n>(me.motion.v(), now);
        apply_shock(me, now, event.constraints, EventKind::shock, typename M::Set{});
      }
      break;
    case EventFunctionKind::release: {
      // Others may lose their force at the same instant; they are released with it.
      typename M::Set closed;
      for (int j = 0; j < M::r; ++j)
        if (me.constraints.conditions[j].standing == Standing::closed) closed.add(j);
      flush_accumulation(me);
      // Its multiplier is zero there only as far as the time can tell.
      me.constraints.conditions[i].multiplier_zero =
          maximum(me.constraints.conditions[i].multiplier_zero, due.resolution);
      if (!update_active_set(me, touching_now(me), i)) break;
      event.kind = EventKind::release;
      for (int j = 0; j < M::r; ++j)
        if (j == i || (closed.has(j) && me.constraints.conditions[j].standing == Standing::open))
          event.constraints.add(j);
      record_event_now(me, event);
      break;
    }
    case EventFunctionKind::press:
      event.kind = EventKind::press;
      event.constraints.add(i);
      record_event(me, event);
      me.constraints.conditions[i].idle = false;
      break;
    case EventFunctionKind::watch: {
      const int direction = Model::watch_direction(i);
      me.watch_signs[i] = -me.watch_signs[i];
      event.kind = EventKind::event;
      event.watch = i;
      if (direction == 0 || direction == me.watch_signs[i]) record_event(me, event);
      break;
    }
    case EventFunctionKind::stop:
      event.kind = EventKind::stop;
      record_event(me, event);
      me.fail(Status::stopped);
      break;
    case EventFunctionKind::nothing:
    case EventFunctionKind::kink:
      return;  // nothing happens to the motion; the next step starts on the other side
  }
  if (me.going() && due.kind != EventFunctionKind::watch) update_watch_signs(me);
}

}  // namespace zwang
