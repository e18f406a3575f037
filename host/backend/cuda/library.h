// The CUDA driver and NVRTC, loaded at run time: one binary serves machines with and without a GPU. Only the
// functions in use are declared here, so building needs no CUDA toolkit.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace zwang::cuda {

using Result = int;  // 0 is success, for the driver and for NVRTC
using Device = int;
using Pointer = unsigned long long;  // on the device
using Context = struct ContextObject*;
using Module = struct ModuleObject*;
using Linker = struct LinkerObject*;
using Function = struct FunctionObject*;
using Stream = struct StreamObject*;
using Event = struct EventObject*;
using Program = struct ProgramObject*;

// Attributes with their numbers in the driver's API.
enum class DeviceAttribute : int { processors = 16, major = 75, minor = 76 };
enum class FunctionAttribute : int {
  most_threads = 0,
  shared_bytes = 1,
  local_bytes = 3,
  registers = 4,
  shared_share = 9  // of the memory that shared memory and L1 cache divide, in per cent, as a preference
};

// Functions of libcuda. get() throws a MachineError that names what is missing if it cannot be loaded.
struct Driver {
  static const Driver& get();

  Result (*initialise)(unsigned flags);
  Result (*driver_version)(int* version);
  Result (*error_name)(Result error, const char** name);
  Result (*error_text)(Result error, const char** text);
  Result (*device_count)(int* count);
  Result (*device_get)(Device* device, int ordinal);
  Result (*device_name)(char* name, int length, Device device);
  Result (*device_attribute)(int* value, int attribute, Device device);
  Result (*context_retain)(Context* context, Device device);
  Result (*context_release)(Device device);
  Result (*context_use)(Context context);
  Result (*module_load)(Module* module, const void* image);
  Result (*module_unload)(Module module);
  Result (*link_create)(unsigned options, int* names, void** values, Linker* linker);
  Result (*link_add)(Linker linker, int kind, void* bytes, std::size_t size, const char* name,
                     unsigned options, int* names, void** values);
  Result (*link_complete)(Linker linker, void** image, std::size_t* size);  // the linker owns the image
  Result (*link_destroy)(Linker linker);
  Result (*module_function)(Function* function, Module module, const char* name);
  Result (*module_global)(Pointer* pointer, std::size_t* bytes, Module module, const char* name);
  Result (*function_attribute)(int* value, int attribute, Function function);
  Result (*set_function_attribute)(Function function, int attribute, int value);
  Result (*occupancy)(int* blocks, Function function, int threads, std::size_t shared);
  Result (*memory_info)(std::size_t* free, std::size_t* total);
  Result (*allocate)(Pointer* pointer, std::size_t bytes);
  Result (*release)(Pointer pointer);
  Result (*host_allocate)(void** memory, std::size_t bytes, unsigned flags);
  Result (*host_release)(void* memory);
  Result (*copy_in)(Pointer to, const void* from, std::size_t bytes, Stream stream);
  Result (*copy_out)(void* to, Pointer from, std::size_t bytes, Stream stream);
  Result (*set_bytes)(Pointer to, unsigned char value, std::size_t bytes, Stream stream);
  Result (*launch)(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared, Stream stream, void** arguments,
                   void** extra);
  Result (*stream_create)(Stream* stream, unsigned flags);
  Result (*priority_stream_create)(Stream* stream, unsigned flags, int priority);
  Result (*stream_wait_event)(Stream stream, Event event, unsigned flags);
  Result (*stream_destroy)(Stream stream);
  Result (*stream_synchronise)(Stream stream);
  Result (*event_create)(Event* event, unsigned flags);
  Result (*event_destroy)(Event event);
  Result (*event_synchronise)(Event event);
  Result (*event_record)(Event event, Stream stream);
  Result (*event_elapsed)(float* milliseconds, Event begin, Event end);

  // Throws a MachineError with the driver's message unless the result is success. `doing` completes "the GPU
  // failed while ...".
  void require(Result result, const std::string& doing) const;
};

constexpr Result out_of_memory = 2;
constexpr int link_kind_object = 0;  // a binary, for link_add
constexpr unsigned event_without_time = 2;

// Functions of NVRTC; get() as for the driver.
struct Nvrtc {
  static const Nvrtc& get();

  Result (*version)(int* major, int* minor);
  const char* (*error_text)(Result error);
  Result (*create)(Program* program, const char* text, const char* name, int headers,
                   const char* const* header_texts, const char* const* header_names);
  Result (*destroy)(Program* program);
  Result (*compile)(Program program, int options, const char* const* values);
  Result (*log_size)(Program program, std::size_t* bytes);
  Result (*log)(Program program, char* text);
  Result (*cubin_size)(Program program, std::size_t* bytes);
  Result (*cubin)(Program program, char* bytes);
  Result (*ptx_size)(Program program, std::size_t* bytes);
  Result (*ptx)(Program program, char* text);
  Result (*architectures_count)(int* count);
  Result (*architectures)(int* numbers);  // 90 for 9.0; ascending
};

// Further paths of NVRTC's library, tried after the usual ones: a Python package may have brought one. To be
// called before the first use.
void search_nvrtc_in(const std::vector<std::string>& paths);

// The reason why no device can be used; empty if there is one.
std::string why_no_device();
int devices_here();  // 0 also if there is no driver

}  // namespace zwang::cuda
