// The part of ATen/cuda and c10/cuda that extensions use.
#pragma once

#include <cuda_runtime_api.h>
#ifdef KBENCH_CUBLAS
#include <cublas_v2.h>
#endif

#include "kbench_torch.h"

struct cublasContext;

namespace c10 {
inline namespace kbench {
struct Stream {
  KbStream said;
  Device device() const {
    return Device(static_cast<DeviceType>(said.device_type), static_cast<DeviceIndex>(said.index));
  }
  DeviceIndex device_index() const { return static_cast<DeviceIndex>(said.index); }
  int64_t id() const { return said.id; }
  bool operator==(const Stream& other) const { return said.stream == other.said.stream; }
  bool operator!=(const Stream& other) const { return !(*this == other); }
};
namespace cuda {
struct CUDAStream : Stream {
  cudaStream_t stream() const { return static_cast<cudaStream_t>(said.stream); }
  operator cudaStream_t() const { return stream(); }
  Stream unwrap() const { return *this; }
  void synchronize() const {
    kb_cuda_check(cudaStreamSynchronize(stream()), __FILE__, __func__, __LINE__);
  }
};
inline CUDAStream getCurrentCUDAStream(int64_t index = -1) {
  return {{kb_stream('c', index, false)}};
}
inline CUDAStream getDefaultCUDAStream(int64_t index = -1) {
  return {{kb_stream('d', index, false)}};
}
inline CUDAStream getStreamFromPool(bool high = false, int64_t index = -1) {
  return {{kb_stream('p', index, high)}};
}
inline void setCurrentCUDAStream(CUDAStream stream) { kb_set_stream(stream.said); }
inline DeviceIndex current_device() { return static_cast<DeviceIndex>(kb_device(-1)); }
inline void set_device(DeviceIndex index) { kb_device(index); }

class CUDAGuard : public DeviceGuard {
 public:
  explicit CUDAGuard(int64_t index) { set_index(static_cast<DeviceIndex>(index)); }
  explicit CUDAGuard(Device device) {
    TORCH_CHECK(device.is_cuda(), "Expected a CUDA device, but got ", device);
    set_index(device.index());
  }
  void set_index(DeviceIndex index) { set_device(Device(kCUDA, index)); }
};
class OptionalCUDAGuard : public DeviceGuard {
 public:
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(optional<Device> device) {
    if (device) set_device(*device);
  }
  void set_index(DeviceIndex index) { set_device(Device(kCUDA, index)); }
};
class CUDAStreamGuard : public CUDAGuard {
 public:
  explicit CUDAStreamGuard(Stream stream)
      : CUDAGuard(stream.said.index), before_stream_(kb_stream('c', stream.said.index, false)) {
    kb_set_stream(stream.said);
  }
  ~CUDAStreamGuard() { kb_set_stream(before_stream_); }

 private:
  KbStream before_stream_;
};
}  // namespace cuda
}  // namespace kbench
}  // namespace c10

namespace at::cuda {
using namespace c10::cuda;
inline cudaDeviceProp* getDeviceProperties(int64_t index) {
  return static_cast<cudaDeviceProp*>(const_cast<void*>(kb_device_properties(index)));
}
inline cudaDeviceProp* getCurrentDeviceProperties() { return getDeviceProperties(-1); }
inline int warp_size() { return getCurrentDeviceProperties()->warpSize; }
inline cublasContext* getCurrentCUDABlasHandle() {
  return static_cast<cublasContext*>(kb_cuda_handle('b'));
}
}  // namespace at::cuda

#define C10_CUDA_CHECK(EXPR) \
  kb_cuda_check(EXPR, __FILE__, __func__, static_cast<unsigned>(__LINE__))
#define AT_CUDA_CHECK(EXPR) C10_CUDA_CHECK(EXPR)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define TORCH_CUDABLAS_CHECK(EXPR) kb_cublas_check(EXPR, #EXPR)
