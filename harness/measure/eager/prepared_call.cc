// One call with its pipelines.

#include "harness/measure/eager/eager.h"
#include "kbench/error.h"

namespace kbench::eager {
namespace {

uint32_t push_bytes(const Launch& launch) {
  return static_cast<uint32_t>(launch.addresses.size() * sizeof(uint64_t) +
                               launch.words.size() * sizeof(uint32_t));
}

}  // namespace

vulkan::EmbeddedKey pipeline_key(const Launch& launch) {
  return {launch.shader, launch.macros, push_bytes(launch), launch.subgroup_size};
}

PreparedCall::PreparedCall(vulkan::Device& device, const OperatorCall& call, DType real)
    : PreparedCall(device, plan_call(call, traits_of(device.snapshot()), real)) {}

PreparedCall::PreparedCall(vulkan::Device& device, CallPlan plan) : plan_(std::move(plan)) {
  for (const Launch& launch : plan_.launches) {
    pipelines_.push_back(&device.pipelines().get_embedded(pipeline_key(launch)));
  }
}

int64_t PreparedCall::scratch_bytes() const { return plan_.scratch_total(); }

void PreparedCall::record(vulkan::Commands& commands, const std::vector<vulkan::Region>& inputs,
                          const std::vector<vulkan::Region>& outputs,
                          vulkan::Region scratch) const {
  if (static_cast<int64_t>(scratch.size) < scratch_bytes()) {
    throw Error(ErrorCode::kInternal, "scratch of " + std::to_string(scratch.size) +
                                          " bytes where " + std::to_string(scratch_bytes()) +
                                          " are needed");
  }
  const auto start = [&](const LaunchOperand& operand) -> uint64_t {
    switch (operand.kind) {
      case LaunchOperand::Kind::input:
        return inputs.at(operand.index).address();
      case LaunchOperand::Kind::output:
        return outputs.at(operand.index).address();
      case LaunchOperand::Kind::scratch:
        break;
    }
    return scratch.address() + plan_.scratch_offset(operand.index);
  };
  for (size_t i = 0; i < plan_.launches.size(); ++i) {
    const Launch& launch = plan_.launches[i];
    if (i > 0 && !launch.beside_last) commands.barrier();
    std::vector<std::byte> push(push_bytes(launch));
    std::byte* to = push.data();
    for (const LaunchOperand& operand : launch.addresses) {
      const uint64_t value = start(operand) + operand.offset * operand.unit;
      std::memcpy(to, &value, sizeof(value));
      to += sizeof(value);
    }
    if (!launch.words.empty()) {
      std::memcpy(to, launch.words.data(), launch.words.size() * sizeof(uint32_t));
    }
    commands.dispatch(*pipelines_[i], {}, push, launch.groups);
  }
}

}  // namespace kbench::eager
