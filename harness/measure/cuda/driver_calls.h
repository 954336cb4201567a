// CUDA's driver API as far as kbench calls it: cuda.h's declarations, by hand, since that header is
// not there where kbench is built. tests/cuda holds them against one where there is one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/measure/cuda/library.h"

namespace kbench::cuda::driver {

using Result = int;
using Device = int;
using Pointer = unsigned long long;  // NOLINT(google-runtime-int): CUdeviceptr
using Context = struct OpaqueContext*;
using Module = struct OpaqueModule*;
using Function = struct OpaqueFunction*;
using Stream = struct OpaqueStream*;
using Event = struct OpaqueEvent*;
using Graph = struct OpaqueGraph*;
using GraphExec = struct OpaqueGraphExec*;
using ExternalMemory = struct OpaqueExternalMemory*;

// CUresult
inline constexpr Result kSuccess = 0, kInvalidValue = 1, kMemory = 2, kNotReady = 600;
inline constexpr Result kIllegalAddress = 700, kOutOfResources = 701, kLaunchTimeout = 702,
                        kAssert = 710, kHardwareStack = 714, kIllegalInstruction = 715,
                        kMisalignedAddress = 716, kInvalidAddressSpace = 717, kInvalidPc = 718,
                        kLaunchFailed = 719, kCooperativeTooLarge = 720, kInvalidClusterSize = 912;

// CUdevice_attribute
inline constexpr int kMultiprocessors = 16, kMajor = 75, kMinor = 76, kCooperativeLaunch = 95,
                     kSharedOptIn = 97, kClusterLaunch = 120;
// CUfunction_attribute
inline constexpr int kSharedBytes = 1, kMostDynamicShared = 8, kNonPortableCluster = 14;
// CUlimit
inline constexpr int kPrintfFifo = 1, kMallocHeap = 2, kPersistingL2 = 6;
// CUlaunchAttributeID
inline constexpr int kCooperative = 2, kClusterDimension = 4;
// CUexternalMemoryHandleType, and flags
inline constexpr int kOpaqueFd = 1;
inline constexpr unsigned kDedicated = 1, kNonBlockingStream = 1;
inline constexpr int kCaptureThreadLocal = 1;

struct ExternalMemoryHandleDesc {
  int type = kOpaqueFd;
  union {
    int fd;
    struct {
      void* handle;
      const void* name;
    } win32;
    const void* buffer_object;
  } handle = {};
  unsigned long long size = 0;  // NOLINT(google-runtime-int)
  unsigned flags = 0;
  unsigned reserved[16] = {};
};

struct ExternalMemoryBufferDesc {
  unsigned long long offset = 0, size = 0;  // NOLINT(google-runtime-int)
  unsigned flags = 0;
  unsigned reserved[16] = {};
};

struct LaunchAttribute {
  int id = 0;
  char pad[8 - sizeof(int)] = {};
  union {
    char bytes[64];
    int cooperative;
    struct {
      unsigned x, y, z;
    } cluster;
  } value = {};
};

struct LaunchConfig {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  Stream stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};

// CU_LAUNCH_PARAM_BUFFER_POINTER, _SIZE, _END
inline void* const kParameterPointer = reinterpret_cast<void*>(uintptr_t{1});
inline void* const kParameterSize = reinterpret_cast<void*>(uintptr_t{2});
inline constexpr void* kParameterEnd = nullptr;

/// The functions, by the names that the library exports.
struct Calls {
  Result (*init)(unsigned) = nullptr;
  Result (*error_name)(Result, const char**) = nullptr;
  Result (*error_string)(Result, const char**) = nullptr;
  Result (*device_count)(int*) = nullptr;
  Result (*device_get)(Device*, int) = nullptr;
  Result (*device_uuid)(char*, Device) = nullptr;
  Result (*device_attribute)(int*, int, Device) = nullptr;
  Result (*context_retain)(Context*, Device) = nullptr;
  Result (*context_set)(Context) = nullptr;
  Result (*context_limit)(int, size_t) = nullptr;
  Result (*import_memory)(ExternalMemory*, const ExternalMemoryHandleDesc*) = nullptr;
  Result (*map_buffer)(Pointer*, ExternalMemory, const ExternalMemoryBufferDesc*) = nullptr;
  Result (*destroy_memory)(ExternalMemory) = nullptr;
  Result (*allocate)(Pointer*, size_t) = nullptr;
  Result (*free)(Pointer) = nullptr;
  Result (*module_load)(Module*, const void*) = nullptr;
  Result (*module_unload)(Module) = nullptr;
  Result (*module_function)(Function*, Module, const char*) = nullptr;
  Result (*function_attribute)(int*, int, Function) = nullptr;
  Result (*set_function_attribute)(Function, int, int) = nullptr;
  Result (*occupancy)(int*, Function, int, size_t) = nullptr;
  Result (*cluster_occupancy)(int*, Function, const LaunchConfig*) = nullptr;
  Result (*launch)(const LaunchConfig*, Function, void**, void**) = nullptr;
  Result (*copy)(Pointer, Pointer, size_t, Stream) = nullptr;
  Result (*set_words)(Pointer, unsigned, size_t, Stream) = nullptr;
  Result (*stream_create)(Stream*, unsigned) = nullptr;
  Result (*event_create)(Event*, unsigned) = nullptr;
  Result (*event_record)(Event, Stream) = nullptr;
  Result (*event_query)(Event) = nullptr;
  Result (*event_elapsed)(float*, Event, Event) = nullptr;
  Result (*event_destroy)(Event) = nullptr;
  Result (*capture_begin)(Stream, int) = nullptr;
  Result (*capture_end)(Stream, Graph*) = nullptr;
  Result (*graph_instantiate)(GraphExec*, Graph, unsigned long long) = nullptr;  // NOLINT
  Result (*graph_upload)(GraphExec, Stream) = nullptr;
  Result (*graph_launch)(GraphExec, Stream) = nullptr;
  Result (*graph_destroy)(Graph) = nullptr;
  Result (*graph_exec_destroy)(GraphExec) = nullptr;

  /// The name of the first function that the library lacks; null when all are there.
  const char* fill(const Library& from);
};

}  // namespace kbench::cuda::driver
