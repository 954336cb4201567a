// Kernels as extensions have them, for both ways of compiling (tests/python/test_torch_headers.py).
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <torch/extension.h>

namespace {

constexpr int kThreads = 256;
int blocks(int64_t n) { return static_cast<int>((n + kThreads - 1) / kThreads); }

template <typename scalar_t>
__global__ void relu_kernel(const scalar_t* __restrict__ x, scalar_t* __restrict__ y, int64_t n) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > scalar_t(0) ? x[i] : scalar_t(0);
}

template <typename scalar_t>
__global__ void mixed_kernel(const scalar_t* x, scalar_t* y, int64_t n, float by) {
  for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float value = static_cast<float>(x[i]) * by;
    y[i] = static_cast<scalar_t>(value) + x[i] * x[i] - static_cast<scalar_t>(0.25f);
  }
}

__global__ void transpose_kernel(torch::PackedTensorAccessor32<float, 2, torch::RestrictPtrTraits> x,
                                 torch::PackedTensorAccessor32<float, 2, torch::RestrictPtrTraits> y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < x.size(0) * x.size(1)) y[i % x.size(1)][i / x.size(1)] = x[i / x.size(1)][i % x.size(1)];
}

__global__ void native_half_kernel(const __half* x, __half* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __float2half(__half2float(x[i]) * 2.0f);
}

}  // namespace

torch::Tensor relu(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda(), "x must be a CUDA tensor");
  const at::cuda::OptionalCUDAGuard guard(device_of(x));
  auto y = torch::empty_like(x);
  const auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "relu", ([&] {
                               relu_kernel<scalar_t><<<blocks(x.numel()), kThreads, 0, stream>>>(
                                   x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.numel());
                             }));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}

torch::Tensor mixed(torch::Tensor x, double by) {
  auto y = torch::empty(x.sizes(), x.options());
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kHalf, at::kBFloat16, x.scalar_type(), "mixed", [&] {
        mixed_kernel<scalar_t><<<blocks(x.numel()), kThreads>>>(
            x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.numel(), static_cast<float>(by));
      });
  AT_CUDA_CHECK(cudaGetLastError());
  return y;
}

torch::Tensor transposed(torch::Tensor x) {
  auto y = torch::empty({x.size(1), x.size(0)}, x.options());
  transpose_kernel<<<blocks(x.numel()), kThreads, 0, c10::cuda::getCurrentCUDAStream().stream()>>>(
      x.packed_accessor32<float, 2, torch::RestrictPtrTraits>(),
      y.packed_accessor32<float, 2, torch::RestrictPtrTraits>());
  return y;
}

torch::Tensor doubled(torch::Tensor x) {
  const c10::cuda::CUDAGuard guard(x.device());
  auto y = torch::zeros_like(x);
  native_half_kernel<<<blocks(x.numel()), kThreads>>>(
      reinterpret_cast<const __half*>(x.data_ptr<at::Half>()),
      reinterpret_cast<__half*>(y.data_ptr<at::Half>()), static_cast<int>(x.numel()));
  return y;
}

/// A launch that the device refuses.
void refused(torch::Tensor x) {
  relu_kernel<float><<<1, 4096>>>(x.data_ptr<float>(), x.data_ptr<float>(), x.numel());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

int64_t multiprocessors() { return at::cuda::getCurrentDeviceProperties()->multiProcessorCount; }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("relu", &relu);
  m.def("mixed", &mixed);
  m.def("transposed", &transposed);
  m.def("doubled", &doubled);
  m.def("refused", &refused);
  m.def("multiprocessors", &multiprocessors);
}
