#include "host/backend/cuda/device_program.h"

#include <algorithm>

#include "host/platform/stage_times.h"

namespace zwang {

namespace {

using cuda::Driver;

// Loads relocatable objects as one module. Linking takes 12 ms on the host of an H200, so the result is not
// cached.
cuda::Module linked_module(const Driver& driver, const std::vector<std::string>& objects) {
  const char* doing = "linking the program";
  cuda::Linker linker = nullptr;
  driver.require(driver.link_create(0, nullptr, nullptr, &linker), doing);
  cuda::Result result = 0;
  for (const std::string& object : objects)
    if (result == 0)
      // The driver reads the object and does not change it.
      result = driver.link_add(linker, cuda::link_kind_object, const_cast<char*>(object.data()),
                               object.size(), "unit", 0, nullptr, nullptr);
  void* image = nullptr;
  std::size_t bytes = 0;
  cuda::Module module = nullptr;
  if (result == 0) result = driver.link_complete(linker, &image, &bytes);
  if (result == 0) result = driver.module_load(&module, image);
  driver.link_destroy(linker);
  driver.require(result, doing);
  return module;
}

}  // namespace

CudaDeviceProgram::CudaDeviceProgram(const CudaBinaries& binaries, int processors, cuda::Stream stream)
    : driver_(Driver::get()) {
  const StageTimer timer("start backend: load modules");
  load(binaries);
  open = kernel(0, "zwang_open", processors);
  step = kernel(0, "zwang_step", processors);
  event = kernel(modules_.size() - 1, "zwang_event", processors);
  slow_path = kernel(modules_.size() - 1, "zwang_slow_path", processors);
  if (binaries.modules.size() > 1) record = kernel(1, "zwang_record", processors);
  prefer_cache();
  slot_bytes = stated_number("zwang_slot_bytes", stream);
  listed_step_bytes = stated_number("zwang_listed_step_bytes", stream);
  slow_run_rule = static_cast<SlowRunRule>(stated_number("zwang_slow_run_rule", stream));
}

CudaDeviceProgram::~CudaDeviceProgram() {
  for (cuda::Module module : modules_) driver_.module_unload(module);
}

void CudaDeviceProgram::load(const CudaBinaries& binaries) {
  for (const std::string& cubin : binaries.modules) {
    cuda::Module module = nullptr;
    driver_.require(driver_.module_load(&module, cubin.data()), "loading the program");
    modules_.push_back(module);
  }
  if (!binaries.objects.empty()) modules_.push_back(linked_module(driver_, binaries.objects));
}

CudaKernel CudaDeviceProgram::kernel(std::size_t module, const char* name, int processors) const {
  CudaKernel made;
  driver_.require(driver_.module_function(&made.function, modules_.at(module), name), "looking for a kernel");
  driver_.require(driver_.function_attribute(
                      &made.threads, static_cast<int>(cuda::FunctionAttribute::most_threads), made.function),
                  "querying the threads per block of a kernel");
  driver_.require(driver_.occupancy(&made.blocks, made.function, made.threads, 0),
                  "querying the occupancy of a kernel");
  made.blocks = std::max(1, made.blocks) * processors;
  return made;
}

// Where kernels keep their numbers in local memory and next to nothing in shared memory, the multiprocessor's memory is
// better used as L1 cache. All kernels ask for it: those that want different divisions cannot run side by side.
void CudaDeviceProgram::prefer_cache() const {
  constexpr int little = 2048;  // bytes of shared memory in a block
  const CudaKernel* const kernels[] = {&step, &event, &slow_path, &record};
  for (const CudaKernel* one : kernels) {
    int bytes = 0;
    if (one->function)
      driver_.require(driver_.function_attribute(
                          &bytes, static_cast<int>(cuda::FunctionAttribute::shared_bytes), one->function),
                      "querying the shared memory of a kernel");
    if (bytes > little) return;
  }
  for (const CudaKernel* one : kernels)
    if (one->function)
      driver_.require(driver_.set_function_attribute(
                          one->function, static_cast<int>(cuda::FunctionAttribute::shared_share), 0),
                      "choosing the cache of a kernel");
}

// A number that the module of the stepping kernel states.
unsigned long long CudaDeviceProgram::stated_number(const char* name, cuda::Stream stream) const {
  const std::string doing = std::string("reading ") + name;
  cuda::Pointer place = 0;
  std::size_t bytes = 0;
  unsigned long long number = 0;
  driver_.require(driver_.module_global(&place, &bytes, modules_[0], name), doing);
  driver_.require(driver_.copy_out(&number, place, sizeof number, stream), doing);
  driver_.require(driver_.stream_synchronise(stream), doing);
  return number;
}

}  // namespace zwang
