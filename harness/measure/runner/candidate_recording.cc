// A candidate's steps, recorded one after another.
#include <algorithm>

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

std::array<uint32_t, 2> CandidateProgram::fill_words(const ResolvedStep& step) const {
  const BufferSlot& slot = candidate_.buffers[static_cast<size_t>(step.bind[0])];
  uint64_t words = step.fill;
  for (size_t size = size_of(slot.type.dtype); size < sizeof words; size *= 2) {
    words |= words << (8 * size);
  }
  return {static_cast<uint32_t>(words), static_cast<uint32_t>(words >> 32)};
}

void CandidateProgram::record_copy_or_fill(vulkan::Commands& commands, const ResolvedStep& step,
                                           const Buffers& memory) const {
  const vulkan::Region& to = memory.tensor[static_cast<size_t>(step.bind.back())];
  const uint64_t start = to.offset + step.ranges.back().offset;
  const uint64_t bytes = step.ranges.back().bytes;
  if (step.kind == Step::Kind::copy) {
    const vulkan::Region& from = memory.tensor[static_cast<size_t>(step.bind[0])];
    commands.copy(*from.buffer, from.offset + step.ranges[0].offset, *to.buffer, start, bytes);
    return;
  }
  const auto [low, high] = fill_words(step);
  if (low == high) {
    commands.fill(*to.buffer, start, (bytes + 3) / 4 * 4, low);
    return;
  }
  // The device fills with one word only: two are written, then each copy doubles them.
  commands.fill(*to.buffer, start, 4, low);
  commands.fill(*to.buffer, start + 4, 4, high);
  for (uint64_t done = 8; done < bytes; done *= 2) {
    commands.barrier();
    commands.copy(*to.buffer, start, *to.buffer, start + done, std::min(done, bytes - done));
  }
}

void CandidateProgram::record(vulkan::Commands& commands, const Pass& pass, const Buffers& memory,
                              const AfterStep& after_step) const {
  write_addresses(memory);
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
    } else if (step.kernel < 0) {
      record_copy_or_fill(commands, step, memory);
    } else if (const CompiledKernel& kernel = kernels_[static_cast<size_t>(step.kernel)];
               kernel.cuda()) {
      const ResolvedStep& launched = made.launched[kernel.chosen];
      commands.launch(*kernel.variants[kernel.chosen].function,
                      {launched.groups, launched.block, launched.shared_bytes},
                      with_addresses(launched.push, launched.addresses, memory));
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
