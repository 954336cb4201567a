// CUDA's driver API as far as kbench calls it: cuda.h's declarations, by hand, since that header is
// not there where kbench is built. tests/cuda holds them against one where there is one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/measure/cuda/toolkit.h"

namespace kbench::cuda::driver {

using Result = int;
using Device = int;
using Pointer = unsigned long long;  // NOLINT(google-runtime-int): CUdeviceptr
using Flags = unsigned long long;    // NOLINT(google-runtime-int)
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
                        kLaunchFailed = 719, kInvalidClusterSize = 912;

// CUdevice_attribute
inline constexpr int kMajor = 75, kMinor = 76, kSharedOptIn = 97;
// CUfunction_attribute
inline constexpr int kSharedBytes = 1, kMostDynamicShared = 8;
// CUlimit
inline constexpr int kPrintfFifo = 1, kMallocHeap = 2, kPersistingL2 = 6;
// CUmemorytype
inline constexpr int kDeviceMemory = 2;
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

// CU_LAUNCH_PARAM_BUFFER_POINTER, _SIZE, _END
inline void* const kParameterPointer = reinterpret_cast<void*>(uintptr_t{1});
inline void* const kParameterSize = reinterpret_cast<void*>(uintptr_t{2});
inline constexpr void* kParameterEnd = nullptr;

/// CUipcMemHandle
struct PeerHandle {
  unsigned char bytes[64] = {};
};
/// CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, the only flag that there is.
inline constexpr unsigned kPeerAccess = 1;

/// CUDA_MEMCPY2D: rows of bytes, at equal distances.
struct Copy2d {
  size_t from_x = 0, from_y = 0;
  int from_kind = kDeviceMemory;
  const void* from_host = nullptr;
  Pointer from = 0;
  void* from_array = nullptr;
  size_t from_pitch = 0;
  size_t to_x = 0, to_y = 0;
  int to_kind = kDeviceMemory;
  void* to_host = nullptr;
  Pointer to = 0;
  void* to_array = nullptr;
  size_t to_pitch = 0;
  size_t width = 0, height = 0;
};

// clang-format off
/// The functions: a member's name, the name that the library exports, parameters.
#define KBENCH_CUDA_CALLS(CALL) \
  CALL(init, "cuInit", unsigned) \
  CALL(error_name, "cuGetErrorName", Result, const char**) \
  CALL(error_string, "cuGetErrorString", Result, const char**) \
  CALL(device_count, "cuDeviceGetCount", int*) \
  CALL(device_get, "cuDeviceGet", Device*, int) \
  CALL(device_uuid, "cuDeviceGetUuid_v2", char*, Device) \
  CALL(device_attribute, "cuDeviceGetAttribute", int*, int, Device) \
  CALL(context_retain, "cuDevicePrimaryCtxRetain", Context*, Device) \
  CALL(context_set, "cuCtxSetCurrent", Context) \
  CALL(context_limit, "cuCtxSetLimit", int, size_t) \
  CALL(import_memory, "cuImportExternalMemory", ExternalMemory*, const ExternalMemoryHandleDesc*) \
  CALL(map_buffer, "cuExternalMemoryGetMappedBuffer", Pointer*, ExternalMemory, \
       const ExternalMemoryBufferDesc*) \
  CALL(destroy_memory, "cuDestroyExternalMemory", ExternalMemory) \
  CALL(peer_open, "cuIpcOpenMemHandle_v2", Pointer*, PeerHandle, unsigned) \
  CALL(peer_close, "cuIpcCloseMemHandle", Pointer) \
  CALL(address_range, "cuMemGetAddressRange_v2", Pointer*, size_t*, Pointer) \
  CALL(allocate, "cuMemAlloc_v2", Pointer*, size_t) \
  CALL(free, "cuMemFree_v2", Pointer) \
  CALL(module_load, "cuModuleLoadData", Module*, const void*) \
  CALL(module_function, "cuModuleGetFunction", Function*, Module, const char*) \
  CALL(function_attribute, "cuFuncGetAttribute", int*, int, Function) \
  CALL(set_function_attribute, "cuFuncSetAttribute", Function, int, int) \
  CALL(launch, "cuLaunchKernel", Function, unsigned, unsigned, unsigned, unsigned, unsigned, \
       unsigned, unsigned, Stream, void**, void**) \
  CALL(upload, "cuMemcpyHtoD_v2", Pointer, const void*, size_t) \
  CALL(synchronize, "cuCtxSynchronize") \
  CALL(context_reset, "cuDevicePrimaryCtxReset_v2", Device) \
  CALL(copy, "cuMemcpyDtoDAsync_v2", Pointer, Pointer, size_t, Stream) \
  CALL(copy_rows, "cuMemcpy2DAsync_v2", const Copy2d*, Stream) \
  CALL(set_words, "cuMemsetD32Async", Pointer, unsigned, size_t, Stream) \
  CALL(stream_create, "cuStreamCreate", Stream*, unsigned) \
  CALL(event_create, "cuEventCreate", Event*, unsigned) \
  CALL(event_record, "cuEventRecord", Event, Stream) \
  CALL(event_query, "cuEventQuery", Event) \
  CALL(event_elapsed, "cuEventElapsedTime", float*, Event, Event) \
  CALL(event_destroy, "cuEventDestroy_v2", Event) \
  CALL(capture_begin, "cuStreamBeginCapture_v2", Stream, int) \
  CALL(capture_end, "cuStreamEndCapture", Stream, Graph*) \
  CALL(graph_instantiate, "cuGraphInstantiateWithFlags", GraphExec*, Graph, Flags) \
  CALL(graph_upload, "cuGraphUpload", GraphExec, Stream) \
  CALL(graph_launch, "cuGraphLaunch", GraphExec, Stream) \
  CALL(graph_destroy, "cuGraphDestroy", Graph) \
  CALL(graph_exec_destroy, "cuGraphExecDestroy", GraphExec)
// clang-format on

struct Calls {
#define KBENCH_MEMBER(name, symbol, ...) Result (*name)(__VA_ARGS__) = nullptr;
  KBENCH_CUDA_CALLS(KBENCH_MEMBER)
#undef KBENCH_MEMBER

  /// The name of the first function that the library lacks; null when all are there.
  const char* fill(const Library& from) {
    const char* missing = nullptr;
    const auto get = [&](const char* name, auto& call) {
      if (!from.get(name, call) && missing == nullptr) missing = name;
    };
#define KBENCH_GET(name, symbol, ...) get(symbol, name);
    KBENCH_CUDA_CALLS(KBENCH_GET)
#undef KBENCH_GET
    return missing;
  }
};

}  // namespace kbench::cuda::driver
