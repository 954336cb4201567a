// Steps of CUDA, PTX and Triton kernels against a task's sizes: grid, block and parameters.
#include <bit>
#include <cstring>
#include <limits>

#include "kbench/candidate_limits.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/resolver.h"

namespace kbench {
namespace {

constexpr int64_t kMostWarps = 32;
constexpr int64_t kMostStages = 16;

}  // namespace

void CandidateResolver::resolve_triton(const SymbolTable& scope, ResolvedKernel& resolved) {
  const Kernel& kernel = *resolved.kernel;
  resolved.num_warps = 4;
  resolved.num_stages = 3;
  if (kernel.num_warps) {
    const int64_t warps = scope.integer(*kernel.num_warps, 1, kMostWarps, "num_warps");
    if (!std::has_single_bit(static_cast<uint64_t>(warps))) {
      fail_parse(kernel.num_warps->at,
                 "num_warps must be a power of two, but is " + std::to_string(warps));
    }
    resolved.num_warps = static_cast<uint32_t>(warps);
  }
  if (kernel.num_stages) {
    resolved.num_stages =
        static_cast<uint32_t>(scope.integer(*kernel.num_stages, 1, kMostStages, "num_stages"));
  }
}

void CandidateResolver::resolve_cuda(const Step& step, const SymbolTable& scope, Phase phase,
                                     ResolvedStep& resolved) {
  for (const Sourced& name : step.bind) {
    pack_argument({PushItem::Kind::address, name}, scope, phase, resolved);
  }
  for (const PushItem& item : step.push) pack_argument(item, scope, phase, resolved);
  for (size_t i = 0; i < step.groups.size(); ++i) {
    resolved.groups[i] =
        static_cast<uint32_t>(scope.integer(step.groups[i], 1, kMaxU32, "a number of blocks"));
  }
  for (size_t i = 0; i < step.block.size(); ++i) {
    resolved.block[i] =
        static_cast<uint32_t>(scope.integer(step.block[i], 1, kMaxU32, "a number of threads"));
  }
  if (resolved.kernel >= 0) {
    const uint32_t warps = result_.kernels[static_cast<size_t>(resolved.kernel)].num_warps;
    if (warps > 0) resolved.block = {32 * warps, 1, 1};
  }
  if (step.shared) {
    resolved.shared_bytes = static_cast<uint32_t>(
        scope.integer(*step.shared, 0, kMaxU32, "a number of bytes of shared memory"));
  }
}

/// Appends a parameter at a multiple of its own size, as compilers lay parameters out.
void CandidateResolver::pack_argument(const PushItem& item, const SymbolTable& scope, Phase phase,
                                      ResolvedStep& resolved) {
  ResolvedArgument argument;
  argument.kind = item.kind;
  NumberBits number{0, 8};
  if (item.kind == PushItem::Kind::address) {
    argument.buffer = buffer(item.value, phase);
    touch(argument.buffer, phase);
  } else {
    number = number_bits(item, scope);
  }
  argument.size = number.size;
  argument.offset = (resolved.push.size() + argument.size - 1) / argument.size * argument.size;
  if (argument.offset + argument.size > limits::kParameterBytes) {
    fail_parse(item.value.at, "the parameters take more than " +
                                  std::to_string(limits::kParameterBytes) + " bytes");
  }
  resolved.push.resize(argument.offset + argument.size);
  std::memcpy(resolved.push.data() + argument.offset, &number.bits, argument.size);
  if (argument.buffer >= 0) resolved.addresses.emplace_back(argument.offset, argument.buffer);
  resolved.arguments.push_back(argument);
}

}  // namespace kbench
