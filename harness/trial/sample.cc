#include "harness/trial/sample.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "harness/trial/device_draw.h"
#include "kbench/random.h"

namespace kbench::trial {
namespace {

const Graph::ValueInfo& value_of(const Graph& graph, int id) {
  return graph.values()[static_cast<size_t>(id)];
}

/// The amplitude of uniform values with the RMS of a truth; 1 where there is none to speak of.
float fill_scale(double rms) {
  constexpr double kSmallest = 1e-30, kLargest = 1e30;
  return rms > kSmallest && rms < kLargest ? static_cast<float>(rms * std::sqrt(3.0)) : 1.0f;
}

uint32_t fill_limit(uint32_t largest) {
  constexpr uint32_t kMost = std::numeric_limits<uint32_t>::max() / 2;
  return std::max(2u, 2 * std::min(largest, kMost - 1) + 1);
}

constexpr uint32_t kFirstLimit = 1000;  ///< integers, before any truth is known

/// Xor with a secret stream; doing it again undoes it.
void mask(vulkan::Device& device, vulkan::Commands& commands, const vulkan::Region& region,
          uint64_t key) {
  const uint64_t words = words_of(region);
  const WorkSplit split = split_work(words);
  const struct {
    uint64_t base, words, key;
    uint32_t iterations, unused;
  } push{region.address(), words, key, split.iterations, 0};
  const vulkan::Pipeline& pipeline = device.pipelines().get_embedded(
      {"trial_mask.comp", {}, static_cast<uint32_t>(sizeof push), 0});
  commands.dispatch(pipeline, {}, std::as_bytes(std::span(&push, 1)), {split.groups, 1, 1});
}

}  // namespace

void draw_given(const Stage& stage, vulkan::Commands& commands, int value) {
  const Graph::ValueInfo& info = value_of(stage.graph, value);
  const DrawKey key{stage.secret.next(), stage.task.draw_word(), info.name};
  draw_tensor(stage.device, commands, info.distribution, key, info.type,
              stage.memory.given(value).tensor());
}

void fill_temporaries(const Stage& stage, vulkan::Commands& commands, bool of_setup, float scale) {
  for (size_t i = 0; i < stage.candidate.buffers.size(); ++i) {
    const BufferSlot& slot = stage.candidate.buffers[i];
    if (slot.kind != BufferSlot::Kind::temporary || slot.setup != of_setup) continue;
    stage.kernels.fill(commands, stage.memory.temporary(i).tensor(),
                       {slot.type.dtype, stage.secret.next(), scale, kFirstLimit});
  }
  if (stage.memory.has_scratch()) {
    stage.kernels.fill(commands, stage.memory.scratch().tensor(),
                       {DType::f32, stage.secret.next(), scale, kFirstLimit});
  }
}

CandidateProgram::Memory candidate_memory(const Stage& stage, int copy) {
  CandidateProgram::Memory memory;
  const uint64_t range = stage.device.snapshot().max_storage_buffer_range;
  const std::vector<int>& outputs = stage.graph.outputs();
  for (size_t i = 0; i < stage.candidate.buffers.size(); ++i) {
    const BufferSlot& slot = stage.candidate.buffers[i];
    const GuardedBuffer* buffer = nullptr;
    if (slot.kind == BufferSlot::Kind::temporary) {
      buffer = &stage.memory.temporary(i);
    } else if (slot.kind == BufferSlot::Kind::output) {
      size_t index = 0;
      while (index + 1 < outputs.size() && stage.graph.output_name(index) != slot.name) ++index;
      buffer = &stage.memory.output(index, copy);
    } else {
      buffer = &stage.memory.given(slot.value);
    }
    memory.bound.push_back(buffer->bound(range));
    memory.tensor.push_back(buffer->tensor());
  }
  if (stage.memory.has_scratch()) memory.scratch = stage.memory.scratch().tensor();
  return memory;
}

Sample::Sample(const Stage& stage, const Roles& roles, const Checks* last)
    : stage_(stage), roles_(roles), mask_key_(stage.secret.next()) {
  for (size_t i = 0; i < stage.graph.outputs().size(); ++i) {
    Fill fill;
    fill.dtype = value_of(stage.graph, stage.graph.outputs()[i]).type.dtype;
    fill.scale = last ? fill_scale(last->truth_rms(i)) : 1.0f;
    fill.limit = last ? fill_limit(last->truth_largest(i)) : kFirstLimit;
    fill.key = stage.secret.next();
    baseline_fills_.push_back(fill);
    fill.key = stage.secret.next();
    candidate_fills_.push_back(fill);
  }
  scale_ = candidate_fills_.empty() ? 1.0f : candidate_fills_.front().scale;
}

void Sample::record_preparation(vulkan::Commands& commands) const {
  for (const int id : stage_.graph.values_of(Graph::Kind::input)) {
    draw_given(stage_, commands, id);
  }
  for (size_t i = 0; i < baseline_fills_.size(); ++i) {
    const TrialMemory& memory = stage_.memory;
    stage_.kernels.fill(commands, memory.output(i, roles_.baseline_copy).tensor(),
                        baseline_fills_[i]);
    stage_.kernels.fill(commands, memory.output(i, 1 - roles_.baseline_copy).tensor(),
                        candidate_fills_[i]);
  }
  fill_temporaries(stage_, commands, false, scale_);
  commands.barrier();
}

void Sample::record_flush(vulkan::Commands& commands, uint32_t first) const {
  commands.timestamp(first);
  stage_.kernels.flush(commands, stage_.memory.flush(), stage_.secret.next());
  commands.barrier();
  commands.timestamp(first + 1);
}

void Sample::record_baseline(vulkan::Commands& commands, uint32_t first) const {
  std::vector<vulkan::Region> values(stage_.graph.values().size());
  for (size_t id = 0; id < values.size(); ++id) {
    if (value_of(stage_.graph, static_cast<int>(id)).kind != Graph::Kind::intermediate) {
      values[id] = stage_.memory.given(static_cast<int>(id)).tensor();
    }
  }
  for (size_t i = 0; i < stage_.graph.outputs().size(); ++i) {
    values[static_cast<size_t>(stage_.graph.outputs()[i])] =
        stage_.memory.output(i, roles_.baseline_copy).tensor();
  }
  record_flush(commands, first);
  stage_.baseline.record(commands, values,
                         stage_.memory.has_arena() ? stage_.memory.arena() : vulkan::Region{});
  commands.timestamp(first + 2);
  commands.barrier();
}

void Sample::record_candidate(vulkan::Commands& commands, uint32_t first) const {
  const CandidateProgram::Memory memory = candidate_memory(stage_, 1 - roles_.baseline_copy);
  record_flush(commands, first);
  stage_.program.record_dispatch(commands, memory);
  commands.timestamp(first + 2);
  commands.barrier();
}

void Sample::mask_outputs(vulkan::Commands& commands) const {
  const int copy = roles_.baseline_first ? roles_.baseline_copy : 1 - roles_.baseline_copy;
  for (size_t i = 0; i < baseline_fills_.size(); ++i) {
    mask(stage_.device, commands, stage_.memory.output(i, copy).tensor(), mask_key_ + i);
  }
}

void Sample::record_hiding(vulkan::Commands& commands) const {
  mask_outputs(commands);
  if (stage_.memory.has_arena()) {
    stage_.kernels.fill(commands, stage_.memory.arena(),
                        {DType::f32, stage_.secret.next(), scale_, kFirstLimit});
  }
  commands.barrier();
}

void Sample::record_revealing(vulkan::Commands& commands) const {
  mask_outputs(commands);
  commands.barrier();
}

void Sample::record_all(vulkan::Commands& commands, Checks& checks) const {
  constexpr uint32_t kSecond = 3;
  record_preparation(commands);
  checks.record_before(commands, true);
  commands.barrier();
  if (roles_.baseline_first) {
    record_baseline(commands, 0);
    record_hiding(commands);
    record_candidate(commands, kSecond);
  } else {
    record_candidate(commands, 0);
    record_hiding(commands);
    record_baseline(commands, kSecond);
  }
  record_revealing(commands);
  checks.record_after(commands, outputs());
}

PairedTimes Sample::times(const vulkan::Commands& commands) const {
  const double first = commands.elapsed_ns(1, 2), second = commands.elapsed_ns(4, 5);
  PairedTimes times;
  times.baseline_ns = roles_.baseline_first ? first : second;
  times.candidate_ns = roles_.baseline_first ? second : first;
  times.spent_ns = commands.elapsed_ns(0, 2) + commands.elapsed_ns(3, 5);
  return times;
}

std::vector<OutputCheck> Sample::outputs() const {
  std::vector<OutputCheck> checks;
  for (size_t i = 0; i < candidate_fills_.size(); ++i) {
    checks.push_back({stage_.memory.output(i, 1 - roles_.baseline_copy).tensor(),
                      stage_.memory.output(i, roles_.baseline_copy).tensor(), candidate_fills_[i]});
  }
  return checks;
}

}  // namespace kbench::trial
