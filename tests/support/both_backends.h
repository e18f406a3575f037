// One member or batch by the reference and by the kernels on the CPU, and the events of a member.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/backend/backend.h"
#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/backend/batch.h"
#include "host/check/backend_motion.h"
#include "host/program/host_compiler.h"
#include "host/study/study.h"
#include "kernels/base/layout.h"
#include "kernels/base/status.h"

namespace zwang {

// Calls visit(backend) for each of the two.
template <class Visit>
void by_both(const Study& study, const Visit& visit) {
  BackendReference reference(study, 1);
  BackendCpu cpu(study, *HostCompiler::find(), 1);
  for (Backend* backend : {static_cast<Backend*>(&reference), static_cast<Backend*>(&cpu)}) {
    SCOPED_TRACE(backend->name());
    visit(*backend);
  }
}

// The first member's results.
inline BatchResults first_member(const Study& study, Backend& backend) {
  const std::vector<unsigned long long> first = {0};
  return backend.run(prepare_batch(study, first, 1), {});
}

// The first member's events of a kind.
inline std::vector<Event> events_of_kind(const Study& study, Backend& backend, EventKind kind) {
  const std::vector<unsigned long long> first = {0};
  const Batch batch = prepare_batch(study, first, 1);
  const BatchResults results = backend.run(batch, {.observables = true, .states = true, .events = true});
  EXPECT_EQ(results.status[0], Status::ok);
  std::vector<Event> found = motion_of(study, batch, results, 0).events;
  std::erase_if(found, [&](const Event& event) { return event.kind != kind; });
  return found;
}

}  // namespace zwang
