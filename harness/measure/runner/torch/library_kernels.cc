#include "harness/measure/runner/torch/library_kernels.h"

#include <algorithm>
#include <array>

namespace kbench::runner {
namespace {

using namespace std::literals;

/// Parts of names.
constexpr std::array kAnywhere = {
    // PyTorch
    "at::native"sv, "at_cuda_detail"sv, "at::cuda"sv, "pytorch_flash"sv, "fmha_"sv,
    // cuBLAS, cuBLASLt and what they are made of
    "cublas"sv, "cutlass"sv, "_xmma_"sv, "nvjet_"sv, "gemv2"sv, "gemvNSP"sv, "splitKreduce"sv,
    // cuDNN, cuFFT, CUB and Thrust
    "cudnn"sv, "fft_"sv, "cub::"sv, "thrust::"sv, "implicit_convolve"sv, "winograd"sv};
constexpr std::array kInFront = {"aten::"sv, "Memcpy"sv, "Memset"sv, "ampere_"sv, "volta_"sv,
                                 "turing_"sv, "hopper_"sv, "sm80_"sv, "sm90_"sv, "sm100_"sv,
                                 // torch.compile
                                 "triton_poi_"sv, "triton_red_"sv, "triton_per_"sv,
                                 "triton_tem_"sv};

}  // namespace

bool is_library_kernel(std::string_view name) {
  return std::ranges::any_of(kInFront, [&](auto part) { return name.starts_with(part); }) ||
         std::ranges::any_of(kAnywhere, [&](auto part) { return name.find(part) != name.npos; });
}

std::string short_kernel_name(std::string_view name) {
  constexpr std::string_view kVoid = "void ", kAnonymous = "(anonymous namespace)::";
  if (name.starts_with(kVoid)) name.remove_prefix(kVoid.size());
  std::string text(name);
  for (size_t at; (at = text.find(kAnonymous)) != text.npos;) text.erase(at, kAnonymous.size());
  return text.substr(0, text.find_first_of("<("));
}

}  // namespace kbench::runner
