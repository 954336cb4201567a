// The declarations written by hand, against NVIDIA's own header where the machine has one.
#include <cuda.h>

#include <cstddef>

#include "harness/measure/cuda/driver_calls.h"

namespace kbench::cuda::driver {
namespace {

static_assert(sizeof(Pointer) == sizeof(CUdeviceptr) && sizeof(Device) == sizeof(CUdevice));
static_assert(sizeof(ExternalMemoryHandleDesc) == sizeof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC));
static_assert(offsetof(ExternalMemoryHandleDesc, handle) ==
              offsetof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, handle));
static_assert(offsetof(ExternalMemoryHandleDesc, size) ==
              offsetof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, size));
static_assert(offsetof(ExternalMemoryHandleDesc, flags) ==
              offsetof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, flags));
static_assert(sizeof(ExternalMemoryBufferDesc) == sizeof(CUDA_EXTERNAL_MEMORY_BUFFER_DESC));
static_assert(offsetof(ExternalMemoryBufferDesc, size) ==
              offsetof(CUDA_EXTERNAL_MEMORY_BUFFER_DESC, size));
static_assert(offsetof(ExternalMemoryBufferDesc, flags) ==
              offsetof(CUDA_EXTERNAL_MEMORY_BUFFER_DESC, flags));

static_assert(sizeof(Copy2d) == sizeof(CUDA_MEMCPY2D));
static_assert(offsetof(Copy2d, from) == offsetof(CUDA_MEMCPY2D, srcDevice));
static_assert(offsetof(Copy2d, from_pitch) == offsetof(CUDA_MEMCPY2D, srcPitch));
static_assert(offsetof(Copy2d, to_kind) == offsetof(CUDA_MEMCPY2D, dstMemoryType));
static_assert(offsetof(Copy2d, to) == offsetof(CUDA_MEMCPY2D, dstDevice));
static_assert(offsetof(Copy2d, to_pitch) == offsetof(CUDA_MEMCPY2D, dstPitch));
static_assert(offsetof(Copy2d, width) == offsetof(CUDA_MEMCPY2D, WidthInBytes));
static_assert(kDeviceMemory == CU_MEMORYTYPE_DEVICE);

static_assert(kSuccess == CUDA_SUCCESS && kInvalidValue == CUDA_ERROR_INVALID_VALUE);
static_assert(kMemory == CUDA_ERROR_OUT_OF_MEMORY && kNotReady == CUDA_ERROR_NOT_READY);
static_assert(kIllegalAddress == CUDA_ERROR_ILLEGAL_ADDRESS);
static_assert(kOutOfResources == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
static_assert(kLaunchTimeout == CUDA_ERROR_LAUNCH_TIMEOUT && kAssert == CUDA_ERROR_ASSERT);
static_assert(kHardwareStack == CUDA_ERROR_HARDWARE_STACK_ERROR);
static_assert(kIllegalInstruction == CUDA_ERROR_ILLEGAL_INSTRUCTION);
static_assert(kMisalignedAddress == CUDA_ERROR_MISALIGNED_ADDRESS);
static_assert(kInvalidAddressSpace == CUDA_ERROR_INVALID_ADDRESS_SPACE);
static_assert(kInvalidPc == CUDA_ERROR_INVALID_PC && kLaunchFailed == CUDA_ERROR_LAUNCH_FAILED);
static_assert(kInvalidClusterSize == CUDA_ERROR_INVALID_CLUSTER_SIZE);
static_assert(kMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(kMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(kSharedOptIn == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
static_assert(kSharedBytes == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
static_assert(kMostDynamicShared == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(kPrintfFifo == CU_LIMIT_PRINTF_FIFO_SIZE && kMallocHeap == CU_LIMIT_MALLOC_HEAP_SIZE);
static_assert(kPersistingL2 == CU_LIMIT_PERSISTING_L2_CACHE_SIZE);
static_assert(kOpaqueFd == CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD);
static_assert(kDedicated == CUDA_EXTERNAL_MEMORY_DEDICATED);
static_assert(kNonBlockingStream == CU_STREAM_NON_BLOCKING);
static_assert(kPeerAccess == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
static_assert(kCaptureThreadLocal == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);

/// As many parameters, each of the size that the header's has, and a result of its size.
template <class A, class B>
constexpr bool kAlike = false;
template <class R, class... A, class S, class... B>
constexpr bool kAlike<R (*)(A...), S (*)(B...)> = [] {
  if constexpr (sizeof...(A) == sizeof...(B)) {
    return sizeof(R) == sizeof(S) && ((sizeof(A) == sizeof(B)) && ...);
  }
  return false;
}();

static_assert(kAlike<decltype(Calls::import_memory), decltype(&cuImportExternalMemory)>);
static_assert(kAlike<decltype(Calls::map_buffer), decltype(&cuExternalMemoryGetMappedBuffer)>);
static_assert(kAlike<decltype(Calls::peer_open), decltype(&cuIpcOpenMemHandle)>);
static_assert(kAlike<decltype(Calls::peer_close), decltype(&cuIpcCloseMemHandle)>);
static_assert(kAlike<decltype(Calls::address_range), decltype(&cuMemGetAddressRange)>);
static_assert(kAlike<decltype(Calls::context_limit), decltype(&cuCtxSetLimit)>);
static_assert(kAlike<decltype(Calls::allocate), decltype(&cuMemAlloc)>);
static_assert(kAlike<decltype(Calls::function_attribute), decltype(&cuFuncGetAttribute)>);
static_assert(kAlike<decltype(Calls::set_function_attribute), decltype(&cuFuncSetAttribute)>);
static_assert(kAlike<decltype(Calls::launch), decltype(&cuLaunchKernel)>);
static_assert(kAlike<decltype(Calls::upload), decltype(&cuMemcpyHtoD)>);
static_assert(kAlike<decltype(Calls::synchronize), decltype(&cuCtxSynchronize)>);
static_assert(kAlike<decltype(Calls::context_reset), decltype(&cuDevicePrimaryCtxReset)>);
static_assert(kAlike<decltype(Calls::copy), decltype(&cuMemcpyDtoDAsync)>);
static_assert(kAlike<decltype(Calls::copy_rows), decltype(&cuMemcpy2DAsync)>);
static_assert(kAlike<decltype(Calls::set_words), decltype(&cuMemsetD32Async)>);
static_assert(kAlike<decltype(Calls::stream_create), decltype(&cuStreamCreate)>);
static_assert(kAlike<decltype(Calls::event_create), decltype(&cuEventCreate)>);
static_assert(kAlike<decltype(Calls::event_elapsed), decltype(&cuEventElapsedTime)>);
static_assert(kAlike<decltype(Calls::capture_begin), decltype(&cuStreamBeginCapture)>);
static_assert(kAlike<decltype(Calls::graph_instantiate), decltype(&cuGraphInstantiate)>);
static_assert(kAlike<decltype(Calls::graph_launch), decltype(&cuGraphLaunch)>);
static_assert(kAlike<decltype(Calls::module_function), decltype(&cuModuleGetFunction)>);
static_assert(kAlike<decltype(Calls::context_retain), decltype(&cuDevicePrimaryCtxRetain)>);

}  // namespace
}  // namespace kbench::cuda::driver
