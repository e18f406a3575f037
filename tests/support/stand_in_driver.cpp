// A replacement of libcuda.so.1, for tests of runs with a missing, small, old or lost device. If
// STAND_IN_REAL has the path of a real driver, calls are forwarded to it; otherwise memory is host memory and
// kernels do nothing. Environment variables select the failure:
//   STAND_IN_START=803       result of cuInit
//   STAND_IN_DEVICES=2       number of devices; each is the first one, in a context of its own
//   STAND_IN_CAPABILITY=50   compute capability of all devices
//   STAND_IN_ROOM=1000000    largest allocation in bytes
//   STAND_IN_LOST_AFTER=100  number of launches after which every call fails
#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace {

constexpr int out_of_memory = 2, no_device = 100, lost = 719;  // as the driver numbers them

long long told(const char* name, long long otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

std::atomic<long long> launches = 0;
bool is_lost() { return launches > told("STAND_IN_LOST_AFTER", 1LL << 60); }

template <class F>
F* real(const char* name) {
  static void* const library =
      std::getenv("STAND_IN_REAL") ? dlopen(std::getenv("STAND_IN_REAL"), RTLD_NOW) : nullptr;
  return library ? reinterpret_cast<F*>(dlsym(library, name)) : nullptr;
}

}  // namespace

// Calls the real driver, or `here` without one; every call fails on a lost device.
#define ZWANG_STAND_IN(name, parameters, arguments, here)                               \
  extern "C" int name parameters {                                                      \
    if (is_lost()) return lost;                                                         \
    if (const auto passed_on = real<decltype(name)>(#name)) return passed_on arguments; \
    here;                                                                               \
    return 0;                                                                           \
  }

using Handle = void*;
using Bytes = std::size_t;
using Place = unsigned long long;

extern "C" int cuInit(unsigned flags) {
  if (const long long code = told("STAND_IN_START", 0)) return static_cast<int>(code);
  const auto passed_on = real<decltype(cuInit)>("cuInit");
  return passed_on ? passed_on(flags) : 0;
}
extern "C" int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(told("STAND_IN_DEVICES", 1));
  return 0;
}
extern "C" int cuDeviceGet(int* device, int ordinal) {
  if (ordinal >= told("STAND_IN_DEVICES", 1)) return no_device;
  *device = ordinal;
  return 0;
}
extern "C" int cuDeviceGetAttribute(int* value, int attribute, int /*device*/) {
  constexpr int major = 75, minor = 76;
  const long long capability = told("STAND_IN_CAPABILITY", 0);
  const auto passed_on = real<decltype(cuDeviceGetAttribute)>("cuDeviceGetAttribute");
  *value = attribute == major ? 9 : attribute == minor ? 0 : 4;
  if (passed_on && passed_on(value, attribute, 0) != 0) return no_device;
  if (capability && attribute == major) *value = static_cast<int>(capability / 10);
  if (capability && attribute == minor) *value = static_cast<int>(capability % 10);
  return 0;
}
extern "C" int cuMemAlloc_v2(Place* place, Bytes bytes) {
  if (is_lost()) return lost;
  if (static_cast<long long>(bytes) > told("STAND_IN_ROOM", 1LL << 60)) return out_of_memory;
  if (const auto passed_on = real<decltype(cuMemAlloc_v2)>("cuMemAlloc_v2")) return passed_on(place, bytes);
  *place = reinterpret_cast<Place>(std::calloc(bytes, 1));
  return 0;
}
extern "C" int cuLaunchKernel(Handle function, unsigned x, unsigned y, unsigned z, unsigned a, unsigned b,
                              unsigned c, unsigned shared, Handle stream, void** arguments, void** extra) {
  ++launches;
  if (is_lost()) return lost;
  const auto passed_on = real<decltype(cuLaunchKernel)>("cuLaunchKernel");
  return passed_on ? passed_on(function, x, y, z, a, b, c, shared, stream, arguments, extra) : 0;
}
extern "C" int cuGetErrorName(int error, const char** name) {
  if (const auto passed_on = real<decltype(cuGetErrorName)>("cuGetErrorName")) return passed_on(error, name);
  *name = error == lost ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR";
  return 0;
}
extern "C" int cuGetErrorString(int error, const char** text) {
  if (const auto passed_on = real<decltype(cuGetErrorString)>("cuGetErrorString"))
    return passed_on(error, text);
  *text = "feigned";
  return 0;
}

namespace {
unsigned long long eight_bytes = 0;
Handle something = &eight_bytes;
}  // namespace

ZWANG_STAND_IN(cuDriverGetVersion, (int* version), (version), *version = 13000)
ZWANG_STAND_IN(cuDeviceGetName, (char* name, int length, int device), (name, length, 0), (void)device;
               std::strncpy(name, "a stand-in", static_cast<Bytes>(length)))
extern "C" int cuCtxCreate_v2(Handle* context, unsigned flags, int device);
// The primary context for the first device, a new one for each of the others: their addresses are not
// interchangeable.
extern "C" int cuDevicePrimaryCtxRetain(Handle* context, int device) {
  static std::mutex guard;
  static std::map<int, Handle> made;
  const std::scoped_lock lock(guard);
  if (!made.count(device)) {
    Handle fresh = something;
    const auto retain = real<decltype(cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain");
    const auto create = real<decltype(cuCtxCreate_v2)>("cuCtxCreate_v2");
    const int code = !retain ? 0 : device == 0 ? retain(&fresh, 0) : create(&fresh, 0, 0);
    if (code != 0) return code;
    made[device] = fresh;
  }
  *context = made[device];
  return 0;
}
extern "C" int cuDevicePrimaryCtxRelease_v2(int /*device*/) { return 0; }
ZWANG_STAND_IN(cuCtxSetCurrent, (Handle context), (context), (void)context)
ZWANG_STAND_IN(cuModuleLoadData, (Handle * module, const void* image), (module, image), (void)image;
               *module = something)
ZWANG_STAND_IN(cuModuleUnload, (Handle module), (module), (void)module)
ZWANG_STAND_IN(cuLinkCreate_v2, (unsigned options, int* names, void** values, Handle* linker),
               (options, names, values, linker), (void)options;
               (void)names; (void)values; *linker = something)
ZWANG_STAND_IN(cuLinkAddData_v2,
               (Handle linker, int kind, void* data, Bytes size, const char* name, unsigned options,
                int* names, void** values),
               (linker, kind, data, size, name, options, names, values), (void)linker;
               (void)kind; (void)data; (void)size; (void)name; (void)options; (void)names; (void)values)
ZWANG_STAND_IN(cuLinkComplete, (Handle linker, void** image, Bytes* size), (linker, image, size),
               (void)linker;
               *image = something; *size = 0)
ZWANG_STAND_IN(cuLinkDestroy, (Handle linker), (linker), (void)linker)
ZWANG_STAND_IN(cuModuleGetFunction, (Handle * function, Handle module, const char* name),
               (function, module, name), (void)module;
               (void)name; *function = something)
ZWANG_STAND_IN(cuModuleGetGlobal_v2, (Place * place, Bytes* bytes, Handle module, const char* name),
               (place, bytes, module, name), (void)module;
               (void)name; *bytes = 8; *place = reinterpret_cast<Place>(&eight_bytes))
ZWANG_STAND_IN(cuFuncGetAttribute, (int* value, int attribute, Handle function), (value, attribute, function),
               (void)attribute;
               (void)function; *value = 128)
ZWANG_STAND_IN(cuFuncSetAttribute, (Handle function, int attribute, int value), (function, attribute, value),
               (void)function;
               (void)attribute; (void)value)
ZWANG_STAND_IN(cuOccupancyMaxActiveBlocksPerMultiprocessor,
               (int* blocks, Handle function, int threads, Bytes shared), (blocks, function, threads, shared),
               (void)function;
               (void)threads; (void)shared; *blocks = 2)
ZWANG_STAND_IN(cuMemGetInfo_v2, (Bytes * free, Bytes* total), (free, total), *free = *total = Bytes{1} << 30)
ZWANG_STAND_IN(cuMemFree_v2, (Place place), (place), std::free(reinterpret_cast<void*>(place)))
ZWANG_STAND_IN(cuMemHostAlloc, (void** memory, Bytes bytes, unsigned flags), (memory, bytes, flags),
               (void)flags;
               *memory = std::calloc(bytes, 1))
ZWANG_STAND_IN(cuMemFreeHost, (void* memory), (memory), std::free(memory))
ZWANG_STAND_IN(cuMemcpyHtoDAsync_v2, (Place to, const void* from, Bytes bytes, Handle stream),
               (to, from, bytes, stream), (void)stream;
               std::memcpy(reinterpret_cast<void*>(to), from, bytes))
ZWANG_STAND_IN(cuMemcpyDtoHAsync_v2, (void* to, Place from, Bytes bytes, Handle stream),
               (to, from, bytes, stream), (void)stream;
               std::memcpy(to, reinterpret_cast<void*>(from), bytes))
ZWANG_STAND_IN(cuMemsetD8Async, (Place to, unsigned char value, Bytes bytes, Handle stream),
               (to, value, bytes, stream), (void)stream;
               std::memset(reinterpret_cast<void*>(to), value, bytes))
ZWANG_STAND_IN(cuStreamCreate, (Handle * stream, unsigned flags), (stream, flags), (void)flags;
               *stream = something)
ZWANG_STAND_IN(cuStreamCreateWithPriority, (Handle * stream, unsigned flags, int priority),
               (stream, flags, priority), (void)flags;
               (void)priority; *stream = something)
ZWANG_STAND_IN(cuStreamDestroy_v2, (Handle stream), (stream), (void)stream)
ZWANG_STAND_IN(cuStreamWaitEvent, (Handle stream, Handle event, unsigned flags), (stream, event, flags),
               (void)stream;
               (void)event; (void)flags)
ZWANG_STAND_IN(cuStreamSynchronize, (Handle stream), (stream), (void)stream)
ZWANG_STAND_IN(cuEventCreate, (Handle * event, unsigned flags), (event, flags), (void)flags;
               *event = something)
ZWANG_STAND_IN(cuEventDestroy_v2, (Handle event), (event), (void)event)
ZWANG_STAND_IN(cuEventSynchronize, (Handle event), (event), (void)event)
ZWANG_STAND_IN(cuEventRecord, (Handle event, Handle stream), (event, stream), (void)event; (void)stream)
ZWANG_STAND_IN(cuEventElapsedTime, (float* milliseconds, Handle begin, Handle end),
               (milliseconds, begin, end), (void)begin;
               (void)end; *milliseconds = 1)
