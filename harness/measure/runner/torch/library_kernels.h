// Which of the kernels that a PyTorch process ran come with PyTorch and its libraries.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kbench::runner {

/// The most kernels that a module's profile tells apart, the slowest ones.
inline constexpr size_t kMostProfiledKernels = 64;

/// By the names that PyTorch's profiler shows: of ATen, cuBLAS, cuDNN, CUTLASS, CUB, cuFFT,
/// attention kernels, copies, and what torch.compile makes; on a CPU of ATen's operators. A kernel
/// that the module compiles can take such a name.
bool is_library_kernel(std::string_view name);

/// The name without return type, template arguments and parameters:
/// "at::native::vectorized_elementwise_kernel".
std::string short_kernel_name(std::string_view name);

}  // namespace kbench::runner
