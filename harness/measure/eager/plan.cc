// Planning one call.
#include <algorithm>

#include "harness/measure/eager/eager.h"
#include "harness/measure/eager/gemm.h"
#include "harness/measure/eager/graph_layout.h"
#include "harness/measure/eager/planning.h"
#include "kbench/error.h"

namespace kbench::eager {

Launch& Launch::add(int64_t value) {
  // Indices run past a count by less than a workgroup's share, and must not wrap there.
  constexpr int64_t kMost = int64_t{UINT32_MAX} - UINT16_MAX;
  if (value < INT32_MIN || value > kMost) {
    throw Error(ErrorCode::kUnsupported, shader + ": " + std::to_string(value) +
                                             " does not fit the 32 bits kernels count in; the "
                                             "tensor has too many elements");
  }
  words.push_back(static_cast<uint32_t>(value));
  return *this;
}

Launch& Launch::add_real(double value) {
  const auto single = static_cast<float>(value);
  uint32_t word;
  std::memcpy(&word, &single, sizeof(word));
  words.push_back(word);
  return *this;
}

int64_t CallPlan::scratch_offset(size_t i) const {
  int64_t offset = 0;
  for (size_t j = 0; j < i; ++j) offset += Arena::aligned(scratch_bytes[j]);
  return offset;
}

DeviceTraits traits_of(const vulkan::DeviceSnapshot& snapshot) {
  DeviceTraits traits;
  traits.subgroup_size = snapshot.subgroup_size;
  traits.max_shared_memory = snapshot.max_shared_memory;
  traits.max_invocations = snapshot.max_invocations;
  for (int i = 0; i < 3; ++i) traits.max_group_count[i] = snapshot.max_group_count[i];
  traits.software = snapshot.software();
  traits.storage_16bit = snapshot.storage_16bit;
  traits.float16_conversions = snapshot.float16_conversions;
  // Kernels on matrices count on full subgroups of 32, and name float16.
  const bool matrices = snapshot.vulkan_memory_model && snapshot.subgroup_size_control &&
                        snapshot.full_subgroups && snapshot.min_subgroup_size <= 32 &&
                        snapshot.max_subgroup_size >= 32 && snapshot.storage_16bit &&
                        snapshot.shader_float16;
  traits.float16_matrices = matrices && snapshot.float16_matrices;
  traits.bfloat16_matrices = matrices && snapshot.bfloat16_matrices;
  return traits;
}

std::string arithmetic_text(DType real, const DeviceTraits& traits) {
  if (real == DType::f32) return "float32 arithmetic";
  const std::string type(long_name_of(real));
  if (on_matrices(real, traits)) return type + " products on tensor cores, sums in float32";
  return "float32 arithmetic on " + type;
}

namespace {

/// What plans may count on; every limit of a kernel lies far below.
void require_plannable(const OperatorCall& call) {
  const auto refuse = [&call](const std::string& what) {
    throw Error(ErrorCode::kUnsupported,
                "operator " + call.op->name + ": eager kernels take " + what);
  };
  for (const auto* types : {&call.inputs, &call.outputs}) {
    for (const TensorType& type : *types) {
      int64_t elements = 1;
      for (const int64_t extent : type.shape) {
        elements = saturated_product({elements, std::max<int64_t>(extent, 1)});
      }
      if (elements > kMostElements) refuse("up to 2^40 elements, got " + to_string(type));
    }
  }
  for (const char* name : {"kernel", "stride", "padding", "dilation"}) {
    if (!call.attributes.find(name)) continue;
    for (const int64_t value : call.attributes.list(name)) {
      if (value <= INT32_MAX) continue;
      refuse(name + (" up to 2^31 - 1, got " + std::to_string(value)));
    }
  }
}

}  // namespace

CallPlan plan_call(const OperatorCall& call, const DeviceTraits& traits, DType real) {
  const PlanFunction plan = find_plan(call.op->name);
  if (!plan) {
    throw Error(ErrorCode::kUnsupported, "operator " + call.op->name + " has no eager kernel");
  }
  require_plannable(call);
  bool empty = true;
  for (const TensorType& type : call.outputs) empty = empty && type.elements() == 0;
  if (empty) return {};
  const OperatorCall stored = stored_call(call, real);
  return with_storage(plan(stored, traits), stored, traits);
}

bool has_eager_kernel(const Operator& op) { return find_plan(op.name) != nullptr; }

}  // namespace kbench::eager
