#include "harness/trial/memory.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace kbench::trial {
namespace {

constexpr uint64_t kBufferAlignment = 256;

uint64_t align(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

bool is_given(Graph::Kind kind) { return kind != Graph::Kind::intermediate; }

}  // namespace

uint64_t guarded_bytes(uint64_t bytes) {
  return align(2 * kRedzoneBytes + std::max<uint64_t>(bytes, 4), kBufferAlignment);
}

std::string gigabytes(uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g GB", static_cast<double>(bytes) * 1e-9);
  return text;
}

GuardedBuffer::GuardedBuffer(vulkan::Device& device, std::string name, uint64_t bytes)
    : name_(std::move(name)),
      buffer_(device.allocate(guarded_bytes(bytes))),
      bytes_(std::max<uint64_t>(bytes, 4)) {}

vulkan::Region GuardedBuffer::bound(uint64_t max_range) const {
  return {&buffer_, kRedzoneBytes, std::min(align(bytes_, 4) + kRedzoneBytes, max_range)};
}

std::array<uint64_t, 2> GuardedBuffer::zones() const {
  const uint64_t base = buffer_.address();
  return {base, base + kRedzoneBytes + align(bytes_, 4)};
}

TrialMemory::TrialMemory(vulkan::Device& device, const Graph& graph, uint64_t arena_bytes) {
  given_.resize(graph.values().size());
  for (size_t id = 0; id < graph.values().size(); ++id) {
    const Graph::ValueInfo& value = graph.values()[id];
    if (!is_given(value.kind)) continue;
    given_[id] = GuardedBuffer(device, value.name, static_cast<uint64_t>(value.type.bytes()));
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const TensorType& type = graph.values()[static_cast<size_t>(graph.outputs()[i])].type;
    const auto bytes = static_cast<uint64_t>(type.bytes());
    outputs_.push_back({GuardedBuffer(device, graph.output_name(i), bytes),
                        GuardedBuffer(device, graph.output_name(i), bytes)});
  }
  if (arena_bytes > 0) arena_ = device.allocate(arena_bytes);
  flush_ = device.allocate(device.plan().flush_bytes);
}

void TrialMemory::add_candidate(vulkan::Device& device, const ResolvedCandidate& candidate,
                                uint64_t scratch_bytes) {
  temporaries_.resize(candidate.buffers.size());
  for (size_t i = 0; i < candidate.buffers.size(); ++i) {
    const BufferSlot& slot = candidate.buffers[i];
    if (slot.kind != BufferSlot::Kind::temporary) continue;
    temporaries_[i] = GuardedBuffer(device, slot.name, static_cast<uint64_t>(slot.type.bytes()));
  }
  if (scratch_bytes > 0) scratch_ = GuardedBuffer(device, "operator scratch", scratch_bytes);
}

std::vector<const GuardedBuffer*> TrialMemory::guarded() const {
  std::vector<const GuardedBuffer*> all;
  const auto add = [&](const GuardedBuffer& buffer) {
    if (buffer.tensor().size > 0) all.push_back(&buffer);
  };
  for (const GuardedBuffer& buffer : given_) add(buffer);
  for (const auto& copies : outputs_) {
    for (const GuardedBuffer& buffer : copies) add(buffer);
  }
  for (const GuardedBuffer& buffer : temporaries_) add(buffer);
  add(scratch_);
  return all;
}

uint64_t TrialMemory::task_bytes(const Graph& graph, uint64_t arena_bytes, uint64_t flush_bytes) {
  uint64_t total = arena_bytes + flush_bytes;
  for (const Graph::ValueInfo& value : graph.values()) {
    if (is_given(value.kind)) total += guarded_bytes(static_cast<uint64_t>(value.type.bytes()));
  }
  for (const int id : graph.outputs()) {
    const TensorType& type = graph.values()[static_cast<size_t>(id)].type;
    total += 2 * guarded_bytes(static_cast<uint64_t>(type.bytes()));
  }
  return total;
}

uint64_t TrialMemory::candidate_bytes(const ResolvedCandidate& candidate, uint64_t scratch_bytes) {
  uint64_t total = scratch_bytes > 0 ? guarded_bytes(scratch_bytes) : 0;
  for (const BufferSlot& slot : candidate.buffers) {
    if (slot.kind == BufferSlot::Kind::temporary) {
      total += guarded_bytes(static_cast<uint64_t>(slot.type.bytes()));
    }
  }
  return total;
}

}  // namespace kbench::trial
