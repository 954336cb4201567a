// A candidate's steps, recorded one after another.
#include "harness/measure/runner/candidate_program.h"

namespace kbench::runner {
namespace {

/// The pushed bytes with the addresses of the buffers added.
std::vector<std::byte> with_addresses(std::vector<std::byte> push,
                                      const std::vector<std::pair<size_t, int>>& addresses,
                                      const CandidateProgram::Buffers& memory) {
  add_addresses(push, addresses, [&](size_t buffer) { return memory.tensor[buffer].address(); });
  return push;
}

}  // namespace

void CandidateProgram::record(vulkan::Commands& commands, const Pass& pass, const Buffers& memory,
                              const AfterStep& after_step) const {
  bool first = true;
  for (const PreparedStep& made : pass.setup ? setup_ : dispatch_) {
    if (!first) commands.barrier();
    first = false;
    const ResolvedStep& step = *made.step;
    if (made.call) {
      const size_t inputs = step.call.inputs.size();
      std::vector<vulkan::Region> in, out;
      for (size_t i = 0; i < step.bind.size(); ++i) {
        (i < inputs ? in : out).push_back(memory.tensor[static_cast<size_t>(step.bind[i])]);
      }
      made.call->record(commands, in, out, memory.scratch);
    } else {
      record_shader(commands, made, memory, pass.exact);
    }
    if (after_step) after_step();
  }
}

void CandidateProgram::record_shader(vulkan::Commands& commands, const PreparedStep& made,
                                     const Buffers& memory, bool exact) const {
  const ResolvedStep& step = *made.step;
  const ShaderLaunch& shader = *made.shader;
  const auto& resources = kernels_[static_cast<size_t>(step.kernel)].interface.resources;
  std::vector<vulkan::Region> regions;
  for (size_t i = 0; i < shader.slots.size(); ++i) {
    const ShaderLaunch::Slot& slot = shader.slots[i];
    if (slot.bind < 0) {
      regions.push_back({&uniform_buffer_, slot.uniform_offset, slot.bytes});
      continue;
    }
    const auto buffer = static_cast<size_t>(step.bind[static_cast<size_t>(slot.bind)]);
    regions.push_back(bound_region(memory.tensor[buffer], resources[i], slot, shader.bindings[i],
                                   device_.snapshot(), exact));
  }
  commands.dispatch(*made.pipeline, regions, with_addresses(shader.push, shader.addresses, memory),
                    step.groups);
}

}  // namespace kbench::runner
