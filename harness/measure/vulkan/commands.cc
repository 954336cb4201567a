#include "harness/measure/vulkan/commands.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "harness/measure/vulkan/descriptor_sets.h"
#include "harness/measure/vulkan/device_state.h"
#include "harness/measure/vulkan/functions.h"
#include "kbench/error.h"
#include "libkbench/base/trace.h"

namespace kbench::vulkan {
namespace {

constexpr VkPipelineStageFlags kStages =
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags kAccess = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                                  VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;

void require(bool holds, const std::string& message) {
  if (!holds) throw Error(ErrorCode::kInvalidArgument, message);
}

}  // namespace

struct Commands::State {
  Device& device;
  DeviceRecord& record;
  const PFN_vkCmdWriteTimestamp2 write_timestamp2;
  VkCommandPool pool = VK_NULL_HANDLE;
  VkCommandBuffer buffer = VK_NULL_HANDLE;
  VkFence fence = VK_NULL_HANDLE;
  VkQueryPool queries = VK_NULL_HANDLE;
  uint32_t query_count = 0;
  std::vector<uint64_t> ticks;  // of the last run
  std::vector<bool> written;    // which timestamps are recorded
  bool recording = false, recorded = false, has_run = false;
  std::unique_ptr<DescriptorSets> sets;  // of what is recorded

  State(Device& device_in, DeviceRecord& record_in, PFN_vkCmdWriteTimestamp2 write)
      : device(device_in),
        record(record_in),
        write_timestamp2(write),
        sets(std::make_unique<DescriptorSets>(device_in)) {}
  ~State();
  void create(uint32_t timestamps);
  void finish_recording();
  void wait(double timeout_seconds);
  void read_timestamps();
};

Commands::State::~State() {
  if (record.hung) {
    static_cast<void>(sets.release());  // the device may still be using them
    return;
  }
  const VkDevice handle = device.handle();
  if (queries != VK_NULL_HANDLE) vkDestroyQueryPool(handle, queries, nullptr);
  if (fence != VK_NULL_HANDLE) vkDestroyFence(handle, fence, nullptr);
  if (pool != VK_NULL_HANDLE) vkDestroyCommandPool(handle, pool, nullptr);
}

void Commands::State::create(uint32_t timestamps) {
  const VkDevice handle = device.handle();
  VkCommandPoolCreateInfo pool_info{};
  pool_info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool_info.queueFamilyIndex = device.plan().queue_family;
  KBENCH_VK(vkCreateCommandPool(handle, &pool_info, nullptr, &pool));
  VkCommandBufferAllocateInfo buffer_info{};
  buffer_info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  buffer_info.commandPool = pool;
  buffer_info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  buffer_info.commandBufferCount = 1;
  KBENCH_VK(vkAllocateCommandBuffers(handle, &buffer_info, &buffer));
  VkFenceCreateInfo fence_info{};
  fence_info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
  KBENCH_VK(vkCreateFence(handle, &fence_info, nullptr, &fence));
  if (timestamps == 0) return;
  VkQueryPoolCreateInfo query_info{};
  query_info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
  query_info.queryType = VK_QUERY_TYPE_TIMESTAMP;
  query_info.queryCount = timestamps;
  KBENCH_VK(vkCreateQueryPool(handle, &query_info, nullptr, &queries));
  query_count = timestamps;
}

Commands::Commands(Device& device, uint32_t timestamps)
    : state_(std::make_unique<State>(device, *device.state_->record,
                                     device.state_->write_timestamp2)) {
  state_->create(timestamps);
}

Commands::~Commands() = default;

void Commands::begin() {
  State& s = *state_;
  require(!s.record.hung, "the device hangs: nothing more can be recorded");
  s.recorded = s.has_run = false;
  const VkDevice handle = s.device.handle();
  KBENCH_VK(vkResetCommandPool(handle, s.pool, 0));
  s.sets->reset();
  VkCommandBufferBeginInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  KBENCH_VK(vkBeginCommandBuffer(s.buffer, &info));
  s.recording = true;
  s.written.assign(s.query_count, false);
  // The fence of the last run orders the two; the barrier makes what it wrote visible.
  barrier();
  if (s.query_count > 0) vkCmdResetQueryPool(s.buffer, s.queries, 0, s.query_count);
}

void Commands::dispatch(const Pipeline& pipeline, std::span<const Region> regions,
                        std::span<const std::byte> push, std::array<uint32_t, 3> groups) {
  State& s = *state_;
  require(s.recording, "dispatch outside of recording");
  const DeviceSnapshot& limits = s.device.snapshot();
  for (int axis = 0; axis < 3; ++axis) {
    if (groups[axis] > limits.max_group_count[axis]) {
      throw Error(ErrorCode::kUnsupported, std::to_string(groups[axis]) + " groups in " +
                                               "xyz"[axis] + " are over the device's limit of " +
                                               std::to_string(limits.max_group_count[axis]));
    }
  }
  require(regions.size() == pipeline.bindings.size(),
          "the kernel takes " + std::to_string(pipeline.bindings.size()) + " bindings, not " +
              std::to_string(regions.size()));
  require(push.size() <= pipeline.push_bytes && push.size() % 4 == 0,
          "the kernel takes " + std::to_string(pipeline.push_bytes) + " push-constant bytes, not " +
              std::to_string(push.size()));
  vkCmdBindPipeline(s.buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.pipeline);
  if (!regions.empty()) s.sets->bind(s.buffer, pipeline, regions);
  if (!push.empty()) {
    vkCmdPushConstants(s.buffer, pipeline.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                       static_cast<uint32_t>(push.size()), push.data());
  }
  vkCmdDispatch(s.buffer, groups[0], groups[1], groups[2]);
}

void Commands::barrier() {
  require(state_->recording, "barrier outside of recording");
  VkMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = kAccess;
  barrier.dstAccessMask = kAccess;
  vkCmdPipelineBarrier(state_->buffer, kStages, kStages, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

void Commands::fill(const Buffer& buffer, uint64_t offset, uint64_t size, uint32_t word) {
  require(state_->recording, "fill outside of recording");
  require(offset % 4 == 0 && size % 4 == 0, "fill of " + std::to_string(size) + " bytes at " +
                                                std::to_string(offset) +
                                                ": both must be multiples of 4");
  require_inside(buffer, offset, size, "fill");
  if (size > 0) vkCmdFillBuffer(state_->buffer, buffer.handle(), offset, size, word);
}

void Commands::copy(const Buffer& from, uint64_t from_offset, const Buffer& to, uint64_t to_offset,
                    uint64_t size) {
  require(state_->recording, "copy outside of recording");
  require_inside(from, from_offset, size, "copy");
  require_inside(to, to_offset, size, "copy");
  const VkBufferCopy region{from_offset, to_offset, size};
  if (size > 0) vkCmdCopyBuffer(state_->buffer, from.handle(), to.handle(), 1, &region);
}

void Commands::timestamp(uint32_t index) {
  State& s = *state_;
  require(s.recording, "timestamp outside of recording");
  require(index < s.query_count && !s.written[index], "timestamp " + std::to_string(index) +
                                                          " of " + std::to_string(s.query_count) +
                                                          ": there is no such, or it is taken");
  if (s.write_timestamp2) {
    s.write_timestamp2(s.buffer, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, s.queries, index);
  } else {
    vkCmdWriteTimestamp(s.buffer, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, s.queries, index);
  }
  s.written[index] = true;
}

void Commands::State::finish_recording() {
  // What the device wrote becomes visible to the host's mapped reads.
  VkMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
  vkCmdPipelineBarrier(buffer, kStages, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, nullptr, 0,
                       nullptr);
  KBENCH_VK(vkEndCommandBuffer(buffer));
  recording = false;
  recorded = true;
}

void Commands::submit_and_wait(double timeout_seconds) {
  State& s = *state_;
  require(!s.record.hung, "the device hangs: nothing more can be submitted");
  if (s.recording) s.finish_recording();
  require(s.recorded, "nothing is recorded to submit");
  KBENCH_VK(vkResetFences(s.device.handle(), 1, &s.fence));
  VkSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.commandBufferCount = 1;
  info.pCommandBuffers = &s.buffer;
  const auto start = trace::Clock::now();
  KBENCH_VK(vkQueueSubmit(s.device.queue(), 1, &info, s.fence));
  s.wait(timeout_seconds);
  trace::add("work", start, trace::Clock::now(), {1, "the device, for the judge"});
  s.read_timestamps();
  s.has_run = true;
}

/// Polls for short runs: the driver's interrupt comes late while it opens a device or maps memory
/// for another process. Not on a software device, which needs the processor to compute.
void Commands::State::wait(double timeout_seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kLooking(50);
  // Bounded by a day, which also keeps the conversion to nanoseconds in range.
  const double seconds = std::clamp(timeout_seconds, 0.0, 86400.0);
  VkResult waited = VK_NOT_READY;
  const auto end = Clock::now() + kLooking;
  while (waited == VK_NOT_READY && !device.snapshot().software() && Clock::now() < end) {
    waited = vkGetFenceStatus(device.handle(), fence);
  }
  if (waited == VK_NOT_READY) {
    waited =
        vkWaitForFences(device.handle(), 1, &fence, VK_TRUE, static_cast<uint64_t>(seconds * 1e9));
  }
  if (waited == VK_TIMEOUT) {
    record.hung = true;
    throw Error(ErrorCode::kTimeout,
                "the device was not done after " + std::to_string(seconds) + " s");
  }
  check(waited, "vkWaitForFences", __FILE__, __LINE__);
}

void Commands::State::read_timestamps() {
  ticks.assign(query_count, 0);
  for (uint32_t i = 0; i < query_count; ++i) {
    if (!written[i]) continue;  // never becomes available
    KBENCH_VK(vkGetQueryPoolResults(device.handle(), queries, i, 1, sizeof(uint64_t), &ticks[i],
                                    sizeof(uint64_t),
                                    VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT));
  }
}

double Commands::elapsed_ns(uint32_t from, uint32_t to) const {
  const State& s = *state_;
  require(s.has_run, "elapsed_ns before a run");
  require(
      std::max(from, to) < s.query_count && s.written[from] && s.written[to],
      "timestamps " + std::to_string(from) + " and " + std::to_string(to) + " were not both taken");
  const DevicePlan& plan = s.device.plan();
  const uint64_t difference = (s.ticks[to] - s.ticks[from]) & plan.timestamp_mask;
  return static_cast<double>(difference) * plan.timestamp_period_ns;
}

}  // namespace kbench::vulkan
