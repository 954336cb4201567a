// Checks a step against the CUDA kernel that it launches.
#include <algorithm>
#include <cstring>

#include "harness/measure/cuda/ptx_rules.h"
#include "harness/measure/runner/cuda_kernels.h"

namespace kbench::runner {
namespace {

constexpr uint64_t kRegistersPerBlock = 65536;

std::string sizes(const std::vector<size_t>& bytes) {
  std::string text = std::to_string(bytes.size()) + " parameters";
  if (bytes.size() == 1) text.pop_back();
  for (size_t i = 0; i < bytes.size(); ++i) {
    text += (i == 0 ? " of " : ", ") + std::to_string(bytes[i]);
  }
  return text + (bytes.empty() ? "" : " bytes");
}

std::optional<Refused> check_parameters(const CudaKernel& kernel, const ResolvedStep& step) {
  std::vector<size_t> takes, given;
  for (const cuda::PtxParameter& parameter : kernel.function.parameters) {
    takes.push_back(parameter.size);
  }
  for (const ResolvedArgument& argument : step.arguments) given.push_back(argument.size);
  bool fits = takes == given;
  size_t offset = 0;
  for (size_t i = 0; fits && i < takes.size(); ++i) {
    const size_t alignment = std::max<size_t>(kernel.function.parameters[i].alignment, 1);
    offset = (offset + alignment - 1) / alignment * alignment;
    fits = offset == step.arguments[i].offset;
    offset += takes[i];
  }
  if (fits) return std::nullopt;
  return invalid("takes " + sizes(takes) + ", but this step gives " + sizes(given));
}

std::optional<Refused> check_block(const CudaKernel& kernel, const ResolvedStep& step) {
  uint64_t threads = 1;
  for (size_t axis = 0; axis < 3; ++axis) {
    threads *= step.block[axis];
    if (step.block[axis] > cuda::kMostBlock[axis]) {
      return unsupported("has a block of " + std::to_string(step.block[axis]) + " threads in " +
                         "xyz"[axis] + ", the limit is " + std::to_string(cuda::kMostBlock[axis]));
    }
    if (step.groups[axis] > cuda::kMostGrid[axis]) {
      return unsupported("has a grid of " + std::to_string(step.groups[axis]) + " blocks in " +
                         "xyz"[axis] + ", the limit is " + std::to_string(cuda::kMostGrid[axis]));
    }
  }
  if (threads > cuda::kMostThreads) {
    return unsupported("has a block of " + std::to_string(threads) + " threads, the limit is " +
                       std::to_string(cuda::kMostThreads));
  }
  const cuda::PtxFunction& function = kernel.function;
  if (!function.required_block.empty()) {
    for (size_t axis = 0; axis < 3; ++axis) {
      const uint32_t wanted =
          axis < function.required_block.size() ? function.required_block[axis] : 1;
      if (wanted == step.block[axis]) continue;
      return invalid("requires a block of " + std::to_string(wanted) + " threads in " +
                     "xyz"[axis] + ", but this step gives " + std::to_string(step.block[axis]));
    }
  } else if (function.max_threads > 0 && threads > function.max_threads) {
    return invalid("is compiled for at most " + std::to_string(function.max_threads) +
                   " threads a block (__launch_bounds__), but this step gives " +
                   std::to_string(threads));
  }
  // A warp's registers are allocated in units of 256.
  const uint64_t warps = (threads + 31) / 32;
  const uint64_t registers = warps * ((uint64_t{kernel.registers} * 32 + 255) / 256 * 256);
  if (registers > kRegistersPerBlock) {
    return unsupported("takes " + std::to_string(kernel.registers) + " registers a thread and " +
                       std::to_string(threads) + " threads a block: more than the " +
                       std::to_string(kRegistersPerBlock) +
                       " that a block can have; __launch_bounds__ limits them");
  }
  return std::nullopt;
}

std::optional<Refused> check_cluster(const CudaKernel& kernel, const ResolvedStep& step) {
  const std::vector<uint32_t>& cluster = kernel.function.required_cluster;
  for (size_t axis = 0; axis < std::min<size_t>(cluster.size(), 3); ++axis) {
    if (cluster[axis] > 0 && step.groups[axis] % cluster[axis] == 0) continue;
    return invalid("is compiled for clusters of " + std::to_string(cluster[axis]) + " blocks in " +
                   "xyz"[axis] + ", of which a grid of " + std::to_string(step.groups[axis]) +
                   " has no whole number");
  }
  return std::nullopt;
}

std::string shared_text(const CudaKernel& kernel, const ResolvedStep& step) {
  return "takes " + std::to_string(kernel.static_shared + step.shared_bytes) +
         " bytes of shared memory (" + std::to_string(kernel.static_shared) + " of its own, " +
         std::to_string(step.shared_bytes) + " by the launch)";
}

}  // namespace

std::optional<Refused> check_cuda_launch(const CudaKernel& kernel, const ResolvedStep& step) {
  if (auto refusal = check_parameters(kernel, step)) return refusal;
  if (auto refusal = check_block(kernel, step)) return refusal;
  if (kernel.static_shared + step.shared_bytes > kernel.most_shared) {
    return unsupported(shared_text(kernel, step) + "; a block of this device gets " +
                       std::to_string(kernel.most_shared));
  }
  // Static shared memory cannot be opted in.
  if (kernel.static_shared > cuda::kMostStaticSharedBytes) {
    return unsupported("has " + std::to_string(kernel.static_shared) +
                       " bytes of shared memory of its own, the limit is " +
                       std::to_string(cuda::kMostStaticSharedBytes) +
                       ": more is given by the launch ('shared' and an extern __shared__ array)");
  }
  return check_cluster(kernel, step);
}

uint64_t shared_bytes_of(const cuda::ComputeCapability& capability) {
  const int number = capability.major * 10 + capability.minor;
  const uint64_t kib = number < 70    ? 47
                       : number == 75 ? 64
                       : number < 80  ? 96
                       : number == 80 ? 163
                       : number == 87 ? 163
                       : number < 90  ? 99
                       : number < 120 ? cuda::kMostSharedBytes >> 10
                       : number < 130 ? 99
                                      : cuda::kMostSharedBytes >> 10;
  return kib << 10;
}

ResolvedStep as_launched(const CudaKernel& kernel, const ResolvedStep& step) {
  if (!kernel.triton) return step;
  ResolvedStep launched = step;
  launched.push.clear();
  launched.addresses.clear();
  launched.arguments.clear();
  const auto add = [&launched](ResolvedArgument argument, const std::byte* bytes) {
    argument.offset = (launched.push.size() + argument.size - 1) / argument.size * argument.size;
    launched.push.resize(argument.offset + argument.size);
    if (bytes) std::memcpy(launched.push.data() + argument.offset, bytes, argument.size);
    if (argument.buffer >= 0) launched.addresses.emplace_back(argument.offset, argument.buffer);
    launched.arguments.push_back(argument);
  };
  for (size_t i = 0; i < step.arguments.size(); ++i) {
    if (i < kernel.kept.size() && !kernel.kept[i]) continue;
    add(step.arguments[i], step.push.data() + step.arguments[i].offset);
  }
  for (int i = 0; i < 2; ++i) add({.kind = PushItem::Kind::u64, .size = 8}, nullptr);
  launched.block = {kernel.threads, 1, 1};
  launched.shared_bytes = kernel.shared_bytes;
  return launched;
}

}  // namespace kbench::runner
