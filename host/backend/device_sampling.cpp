#include "host/backend/device_sampling.h"

#include <optional>

#include "kernels/base/layout.h"
#include "kernels/sampling/draw_layout.h"

namespace zwang {

bool draw_on_device(ReductionDevice& device, const DrawPlan& plan, const KernelBatch& batch,
                    long long first) {
  using Address = ReductionDevice::Address;
  const std::size_t steps = plan.steps.size() * sizeof(DrawStep);
  const std::size_t parameters = plan.parameter_slots.size() * sizeof(int);
  const std::size_t starts = plan.start_slots.size() * sizeof(int);
  const std::optional<Address> room = device.reserve(steps + parameters + starts);
  if (!room) return false;
  device.copy_in(*room, plan.steps.data(), steps);
  if (parameters > 0) device.copy_in(*room + steps, plan.parameter_slots.data(), parameters);
  if (starts > 0) device.copy_in(*room + steps + parameters, plan.start_slots.data(), starts);

  // Device addresses: not dereferenced on the host.
  DrawJob job{};
  job.steps = reinterpret_cast<const DrawStep*>(*room);
  job.count = static_cast<int>(plan.steps.size());
  job.parameter_slots = reinterpret_cast<const int*>(*room + steps);
  job.start_slots = reinterpret_cast<const int*>(*room + steps + parameters);
  job.parameters = static_cast<int>(plan.parameter_slots.size());
  job.state = static_cast<int>(plan.start_slots.size());
  job.seed = plan.seed;
  job.first = static_cast<unsigned long long>(first);
  job.to_parameters = const_cast<double*>(batch.parameters);
  job.to_starts = const_cast<double*>(batch.starts);
  job.to_prepared = const_cast<int*>(batch.prepared);
  device.run("draw_member_there", &job, sizeof job, batch.count);
  return true;
}

}  // namespace zwang
