#include "host/backend/cuda/early_start.h"

#include <numeric>
#include <utility>

#include "host/platform/machine_error.h"
#include "host/platform/stage_times.h"

namespace zwang::cuda {

EarlyStart::EarlyStart(std::vector<int> devices)
    : devices_(std::move(devices)), thread_([this] { start(); }) {}

EarlyStart::~EarlyStart() {
  thread_.join();
  for (const Device device : held_) Driver::get().context_release(device);
}

void EarlyStart::start() {
  const StageTimer timer("start driver, beside other work");
  try {
    const Driver& driver = Driver::get();
    int count = 0;
    if (driver.device_count(&count) != 0) return;
    if (devices_.empty()) {
      devices_.resize(static_cast<std::size_t>(count));
      std::iota(devices_.begin(), devices_.end(), 0);
    }
    for (const int number : devices_) {
      Device device = 0;
      Context context = nullptr;
      if (number < 0 || number >= count || driver.device_get(&device, number) != 0) continue;
      if (driver.context_retain(&context, device) == 0) held_.push_back(device);
    }
  } catch (const MachineError&) {
    // Without a driver there is nothing to start.
  }
}

}  // namespace zwang::cuda
