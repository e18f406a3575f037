#include "host/backend/cuda/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "host/platform/machine_error.h"
#include "src/base/error.h"

namespace zwang::cuda {

namespace {

// A shared library that stays loaded until the process ends.
class Library {
 public:
  Library(std::vector<std::string> names, std::string what, std::string hint)
      : what_(std::move(what)), hint_(std::move(hint)) {
    for (const std::string& name : names) {
      handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle_) return;
      // The message begins with the name of the library; the first reason is enough.
      if (const char* reason = dlerror(); reason && reason_.empty()) reason_ = reason;
    }
    throw MachineError({.message = what_ + " could not be loaded",
                        .found = reason_,
                        .expected = list_text(names, "or"),
                        .hint = hint_});
  }

  template <class F>
  void find(F*& function, const char* name) const {
    function = reinterpret_cast<F*>(dlsym(handle_, name));
    if (function) return;
    throw MachineError({.message = what_ + " has no function " + name,
                        .found = "an older version",
                        .expected = "one of CUDA 12 or later",
                        .hint = hint_});
  }

 private:
  void* handle_ = nullptr;
  std::string what_, hint_, reason_;
};

Driver load_driver() {
  std::vector<std::string> names{"libcuda.so.1", "libcuda.so"};
  if (const char* other = std::getenv("ZWANG_CUDA_DRIVER"); other && *other) names = {other};
  const Library library(names, "the NVIDIA driver", "`--backend cpu` runs the same kernels without a GPU");
  Driver made{};
  library.find(made.initialise, "cuInit");
  library.find(made.driver_version, "cuDriverGetVersion");
  library.find(made.error_name, "cuGetErrorName");
  library.find(made.error_text, "cuGetErrorString");
  library.find(made.device_count, "cuDeviceGetCount");
  library.find(made.device_get, "cuDeviceGet");
  library.find(made.device_name, "cuDeviceGetName");
  library.find(made.device_attribute, "cuDeviceGetAttribute");
  library.find(made.context_retain, "cuDevicePrimaryCtxRetain");
  library.find(made.context_release, "cuDevicePrimaryCtxRelease_v2");
  library.find(made.context_use, "cuCtxSetCurrent");
  library.find(made.module_load, "cuModuleLoadData");
  library.find(made.module_unload, "cuModuleUnload");
  library.find(made.link_create, "cuLinkCreate_v2");
  library.find(made.link_add, "cuLinkAddData_v2");
  library.find(made.link_complete, "cuLinkComplete");
  library.find(made.link_destroy, "cuLinkDestroy");
  library.find(made.module_function, "cuModuleGetFunction");
  library.find(made.module_global, "cuModuleGetGlobal_v2");
  library.find(made.function_attribute, "cuFuncGetAttribute");
  library.find(made.set_function_attribute, "cuFuncSetAttribute");
  library.find(made.occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  library.find(made.memory_info, "cuMemGetInfo_v2");
  library.find(made.allocate, "cuMemAlloc_v2");
  library.find(made.release, "cuMemFree_v2");
  library.find(made.host_allocate, "cuMemHostAlloc");
  library.find(made.host_release, "cuMemFreeHost");
  library.find(made.copy_in, "cuMemcpyHtoDAsync_v2");
  library.find(made.copy_out, "cuMemcpyDtoHAsync_v2");
  library.find(made.set_bytes, "cuMemsetD8Async");
  library.find(made.launch, "cuLaunchKernel");
  library.find(made.stream_create, "cuStreamCreate");
  library.find(made.stream_destroy, "cuStreamDestroy_v2");
  library.find(made.priority_stream_create, "cuStreamCreateWithPriority");
  library.find(made.stream_wait_event, "cuStreamWaitEvent");
  library.find(made.stream_synchronise, "cuStreamSynchronize");
  library.find(made.event_create, "cuEventCreate");
  library.find(made.event_destroy, "cuEventDestroy_v2");
  library.find(made.event_synchronise, "cuEventSynchronize");
  library.find(made.event_record, "cuEventRecord");
  library.find(made.event_elapsed, "cuEventElapsedTime");
  made.require(made.initialise(0), "initialising the driver");
  return made;
}

std::vector<std::string>& further_nvrtc_places() {
  static std::vector<std::string> places;
  return places;
}

Nvrtc load_nvrtc() {
  std::vector<std::string> names{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                 "/usr/local/cuda/lib64/libnvrtc.so"};
  names.insert(names.end(), further_nvrtc_places().begin(), further_nvrtc_places().end());
  const Library library(names, "NVRTC, the compiler for NVIDIA GPUs,",
                        "install the CUDA toolkit's nvrtc library, or put its folder on LD_LIBRARY_PATH");
  Nvrtc made{};
  library.find(made.version, "nvrtcVersion");
  library.find(made.error_text, "nvrtcGetErrorString");
  library.find(made.create, "nvrtcCreateProgram");
  library.find(made.destroy, "nvrtcDestroyProgram");
  library.find(made.compile, "nvrtcCompileProgram");
  library.find(made.log_size, "nvrtcGetProgramLogSize");
  library.find(made.log, "nvrtcGetProgramLog");
  library.find(made.cubin_size, "nvrtcGetCUBINSize");
  library.find(made.cubin, "nvrtcGetCUBIN");
  library.find(made.ptx_size, "nvrtcGetPTXSize");
  library.find(made.ptx, "nvrtcGetPTX");
  library.find(made.architectures_count, "nvrtcGetNumSupportedArchs");
  library.find(made.architectures, "nvrtcGetSupportedArchs");
  return made;
}

}  // namespace

void search_nvrtc_in(const std::vector<std::string>& paths) { further_nvrtc_places() = paths; }

const Driver& Driver::get() {
  static const Driver driver = load_driver();
  return driver;
}

const Nvrtc& Nvrtc::get() {
  static const Nvrtc nvrtc = load_nvrtc();
  return nvrtc;
}

void Driver::require(Result result, const std::string& doing) const {
  if (result == 0) return;
  const char *name = nullptr, *text = nullptr;
  if (error_name(result, &name) != 0 || !name) name = "an unknown error";
  if (error_text(result, &text) != 0 || !text) text = "";
  std::string hint = "`--backend cpu` runs the same kernels without a GPU";
  if (result == 100) hint = "is a GPU visible to this process (CUDA_VISIBLE_DEVICES, containers)? " + hint;
  if (result == 34 || result == 803 || result == 35) hint = "update the NVIDIA driver; " + hint;
  throw MachineError({.message = "the GPU failed while " + doing,
                      .found = fmt::format("{} ({}): {}", name, result, text),
                      .expected = "success",
                      .hint = hint});
}

int devices_here() {
  try {
    int count = 0;
    const Driver& driver = Driver::get();
    driver.require(driver.device_count(&count), "counting devices");
    return count;
  } catch (const MachineError&) {
    return 0;
  }
}

std::string why_no_device() {
  try {
    const Driver& driver = Driver::get();
    int count = 0;
    driver.require(driver.device_count(&count), "counting devices");
    if (count == 0) return "the NVIDIA driver finds no GPU";
    Nvrtc::get();
    return "";
  } catch (const MachineError& error) {
    return error.problem().message + ": " + error.problem().found;
  }
}

}  // namespace zwang::cuda
