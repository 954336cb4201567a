// The places of tensors in shared memory: aligned, apart, and without overflow.
#include "harness/measure/trial/slab_layout.h"

#include <gtest/gtest.h>

#include "harness/measure/eager/eager.h"
#include "harness/measure/vulkan/plan.h"
#include "harness/measure/vulkan/snapshot.h"
#include "kbench/error.h"
#include "kbench/task.h"
#include "tests/error_of.h"

namespace kbench::trial {
namespace {

TEST(SlabLayout, AlignsTensorsAndPutsARedzoneAroundEach) {
  SlabLayout layout;
  EXPECT_TRUE(layout.empty());
  EXPECT_EQ(layout.bytes(), 0u);
  const std::vector<uint64_t> sizes = {1, 4, 6, 255, 256, 257, 100000, 0};
  for (size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(layout.add("t" + std::to_string(i), sizes[i]), i);
  }
  uint64_t end = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const SlabLayout::Item& item = layout.items()[i];
    EXPECT_EQ(item.name, "t" + std::to_string(i));
    EXPECT_EQ(item.offset % 256, 0u);
    EXPECT_GE(item.offset, end + kRedzoneBytes);
    EXPECT_EQ(item.bytes, std::max<uint64_t>(sizes[i], 4));
    EXPECT_GE(item.end(), item.offset + item.bytes);
    EXPECT_LT(item.end(), item.offset + item.bytes + 4);
    EXPECT_EQ(item.end() % 4, 0u);
    end = item.end();
  }
  EXPECT_GE(layout.bytes(), end + kRedzoneBytes);
  EXPECT_EQ(layout.bytes() % 256, 0u);
}

TEST(SlabLayout, RefusesSumsThatOverflow) {
  constexpr uint64_t kHuge = uint64_t{1} << 62;
  const auto expect_shape_error = [](SlabLayout& layout, uint64_t bytes) {
    const uint64_t before = layout.bytes();
    const Error e = error_of([&] { layout.add("huge", bytes); });
    EXPECT_EQ(e.code(), ErrorCode::kShape);
    EXPECT_NE(e.message().find("huge"), std::string::npos);
    EXPECT_EQ(layout.bytes(), before);
  };
  for (const uint64_t bytes : {kHuge + 1, ~uint64_t{0}, ~uint64_t{0} - kRedzoneBytes}) {
    SlabLayout layout;
    expect_shape_error(layout, bytes);
  }
  SlabLayout layout;
  layout.add("first", kHuge);
  EXPECT_GT(layout.bytes(), kHuge);
  expect_shape_error(layout, 4);
}

vulkan::DeviceSnapshot a_device() {
  vulkan::DeviceSnapshot snapshot;
  snapshot.api_version = VK_API_VERSION_1_3;
  snapshot.queues = {{0, true, 64}};
  snapshot.max_push_constants = 128;
  snapshot.max_storage_buffer_range = uint64_t{1} << 31;
  snapshot.max_buffer = uint64_t{1} << 40;
  snapshot.device_local_bytes = uint64_t{1} << 40;
  snapshot.max_invocations = 1024;
  snapshot.max_shared_memory = 48 << 10;
  for (int i = 0; i < 3; ++i) {
    snapshot.max_group_count[i] = 65535;
    snapshot.max_group_size[i] = 1024;
  }
  snapshot.max_storage_buffers_per_stage = 64;
  snapshot.storage_offset_alignment = 16;
  snapshot.timestamp_period_ns = 1;
  snapshot.subgroup_size = snapshot.min_subgroup_size = snapshot.max_subgroup_size = 32;
  snapshot.subgroup_operations = ~VkSubgroupFeatureFlags{0};
  snapshot.buffer_device_address = snapshot.shader_int64 = snapshot.scalar_block_layout = true;
  snapshot.synchronization2 = true;
  snapshot.vulkan_memory_model = true;
  snapshot.shares_descriptors = true;
  return snapshot;
}

TEST(TaskLayout, HasEveryTensorWhereItsRoleSays) {
  const auto graph = build_graph(find_task({2, 76}), Preset::smoke);
  const TaskLayout layout(*graph, 1000);
  size_t given = 0;
  for (const Graph::ValueInfo& value : graph->values()) {
    if (value.kind == Graph::Kind::intermediate) continue;
    ASSERT_LT(given, layout.given.items().size());
    EXPECT_EQ(layout.given.items()[given].name, value.name);
    EXPECT_EQ(layout.given.items()[given].bytes, static_cast<uint64_t>(value.type.bytes()));
    ++given;
  }
  EXPECT_EQ(layout.given.items().size(), given);
  ASSERT_EQ(layout.truth.items().size(), graph->outputs().size());
  ASSERT_EQ(layout.outputs.items().size(), graph->outputs().size());
  EXPECT_EQ(layout.truth.bytes(), layout.outputs.bytes());
  ASSERT_EQ(layout.arena.items().size(), 1u);
  EXPECT_EQ(layout.arena.items()[0].bytes, 1000u);
  EXPECT_EQ(layout.bytes(), layout.given.bytes() + layout.truth.bytes() + layout.arena.bytes() +
                                layout.outputs.bytes());
  EXPECT_TRUE(TaskLayout(*graph, 0).arena.empty());
}

TEST(RequiredBytes, CoverEveryBufferAndBothFlushes) {
  const vulkan::DeviceSnapshot snapshot = a_device();
  const uint64_t flushes = 2 * vulkan::plan_device(snapshot).flush_bytes;
  for (const TaskId& id : {TaskId{1, 19}, TaskId{2, 76}, TaskId{3, 4}}) {
    const auto graph = build_graph(find_task(id), Preset::smoke);
    uint64_t tensors = eager::EagerGraph::arena_bytes(*graph, eager::traits_of(snapshot));
    for (const Graph::ValueInfo& value : graph->values()) {
      if (value.kind != Graph::Kind::intermediate) {
        tensors += static_cast<uint64_t>(value.type.bytes());
      }
    }
    for (const int output : graph->outputs()) {
      tensors +=
          2 * static_cast<uint64_t>(graph->values()[static_cast<size_t>(output)].type.bytes());
    }
    EXPECT_GE(required_bytes(*graph, snapshot), tensors + flushes) << to_string(id);
    EXPECT_LT(required_bytes(*graph, snapshot), 2 * tensors + flushes + (8 << 20)) << to_string(id);
  }
}

TEST(Gigabytes, ArePowersOfTen) {
  EXPECT_EQ(gigabytes(1500000000), "1.5 GB");
  EXPECT_EQ(gigabytes(0), "0 GB");
  EXPECT_EQ(gigabytes(17179869184), "17.2 GB");
}

}  // namespace
}  // namespace kbench::trial
