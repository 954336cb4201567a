// The part of ATen/cuda and c10/cuda that extensions use.
#pragma once

#include <cuda_runtime_api.h>
#ifdef KBENCH_CUBLAS
#include <cublas_v2.h>
#endif

#include "kbench_torch.h"

struct cublasContext;

#define C10_CUDA_CHECK(EXPR) \
  kb_cuda_check(EXPR, __FILE__, __func__, static_cast<unsigned>(__LINE__))
#define AT_CUDA_CHECK(EXPR) C10_CUDA_CHECK(EXPR)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define TORCH_CUDABLAS_CHECK(EXPR) kb_cublas_check(EXPR, #EXPR)

namespace c10::kbench::cuda {
struct CUDAStream {
  void* handle;
  cudaStream_t stream() const { return static_cast<cudaStream_t>(handle); }
  operator cudaStream_t() const { return stream(); }
  void synchronize() const { C10_CUDA_CHECK(cudaStreamSynchronize(stream())); }
};
inline CUDAStream getCurrentCUDAStream(int64_t index = -1) { return {kb_stream('c', index)}; }
inline CUDAStream getDefaultCUDAStream(int64_t index = -1) { return {kb_stream('d', index)}; }
inline CUDAStream getStreamFromPool(bool high = false, int64_t index = -1) {
  return {kb_stream(high ? 'h' : 'l', index)};
}
inline DeviceIndex current_device() { return static_cast<DeviceIndex>(kb_device(-1)); }
inline void set_device(DeviceIndex index) { kb_device(index); }

class CUDAGuard : public DeviceGuard {
 public:
  explicit CUDAGuard(int64_t index) { set_index(static_cast<DeviceIndex>(index)); }
  explicit CUDAGuard(Device device) {
    TORCH_CHECK(device.is_cuda(), "Expected a CUDA device, but got ", device);
    set_device(device);
  }
};
using OptionalCUDAGuard = OptionalDeviceGuard;
}  // namespace c10::kbench::cuda

namespace at::cuda {
using namespace c10::cuda;
inline cudaDeviceProp* getDeviceProperties(int64_t index) {
  return static_cast<cudaDeviceProp*>(const_cast<void*>(kb_device_properties(index)));
}
inline cudaDeviceProp* getCurrentDeviceProperties() { return getDeviceProperties(-1); }
inline int warp_size() { return getCurrentDeviceProperties()->warpSize; }
inline cublasContext* getCurrentCUDABlasHandle() {
  return static_cast<cublasContext*>(kb_cublas_handle());
}
}  // namespace at::cuda
