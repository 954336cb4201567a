// The judge's memory in a runner: places outside of it, or of other sizes than the runner's own
// tensors, are refused.
#include "harness/measure/runner/imported_memory.h"

#include "kbench/task.h"
#include "tests/vulkan/device_fixture.h"

namespace kbench::runner {
namespace {

class ImportedMemoryTest : public vulkan::DeviceTest {
 protected:
  /// A message about two slabs, and descriptors for them.
  struct Message {
    Attach attach;
    std::vector<UniqueFd> descriptors;
  };
  Message message() {
    Message result;
    if (slabs_.empty()) {
      for (const uint64_t bytes : {uint64_t{4096}, uint64_t{1} << 20}) {
        slabs_.push_back(device().allocate_shared(bytes));
      }
    }
    for (vulkan::Buffer& slab : slabs_) {
      vulkan::SharedMemory shared = slab.share(vulkan::Access::read_write);
      result.attach.slabs.push_back({shared.bytes, shared.memory_type, false});
      result.descriptors.push_back(std::move(shared.descriptor));
    }
    return result;
  }
  Error refusal_of(Message sent) {
    return error_of(
        [&] { ImportedMemory(device()).add(sent.attach, std::move(sent.descriptors)); });
  }
  /// The error for a message with this place.
  Error refusal_of(const Place& place) {
    Message sent = message();
    sent.attach.wanted = {place};
    return refusal_of(std::move(sent));
  }

  std::vector<vulkan::Buffer> slabs_;
};

TEST_F(ImportedMemoryTest, GivesRegionsInOrderAndTheSameBytes) {
  Message sent = message();
  const uint64_t size = slabs_[0].size();
  sent.attach.given = {{0, 0, size}, {}, {1, 256, 16}};
  sent.attach.outputs = {{1, 512, 4}};
  ImportedMemory memory(device());
  memory.add(sent.attach, std::move(sent.descriptors));
  ASSERT_EQ(memory.given().size(), 3u);
  EXPECT_EQ(memory.given()[0].size, size);
  EXPECT_EQ(memory.given()[1].buffer, nullptr);
  EXPECT_EQ(memory.given()[2].offset, 256u);
  ASSERT_EQ(memory.outputs().size(), 1u);
  EXPECT_TRUE(memory.wanted().empty());
  const std::vector<uint32_t> words = {1, 2, 3, 4};
  device().upload(slabs_[1], 256, std::as_bytes(std::span(words)));
  std::vector<uint32_t> seen(4);
  device().download(*memory.given()[2].buffer, 256, std::as_writable_bytes(std::span(seen)));
  EXPECT_EQ(seen, words);
}

TEST_F(ImportedMemoryTest, RefusesPlacesOutsideItsSlabs) {
  message();
  const uint64_t size = slabs_[0].size(), last = ~uint64_t{0};
  for (const Place& place : {Place{2, 0, 4}, Place{-1, 0, 4}, Place{0, size, 1},
                             Place{0, 0, size + 1}, Place{0, size - 4, 8}, Place{0, 4, size},
                             Place{0, last, 1}, Place{0, 1, last}, Place{0, last, last}}) {
    const Error error = refusal_of(place);
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument)
        << place.slab << " " << place.offset << " " << place.bytes;
  }
}

TEST_F(ImportedMemoryTest, KeepsSlabsThatTheNextMessageCountsFirst) {
  ImportedMemory memory(device());
  Message first = message();
  first.attach.given = {{0, 0, 16}};
  memory.add(first.attach, std::move(first.descriptors));
  memory.keep({1});
  EXPECT_TRUE(memory.given().empty());
  Message second = message();
  second.attach.slabs.pop_back();
  second.descriptors.pop_back();
  second.attach.given = {{0, 256, 16}, {1, 0, slabs_[0].size()}};
  memory.add(second.attach, std::move(second.descriptors));
  const std::vector<uint32_t> words = {5, 6, 7, 8};
  device().upload(slabs_[1], 256, std::as_bytes(std::span(words)));
  std::vector<uint32_t> seen(4);
  device().download(*memory.given()[0].buffer, 256, std::as_writable_bytes(std::span(seen)));
  EXPECT_EQ(seen, words);
  EXPECT_EQ(memory.given()[1].buffer->size(), slabs_[0].size());

  for (const std::vector<int>& kept : {std::vector{2}, std::vector{-1}, std::vector{0, 0}}) {
    ImportedMemory another(device());
    Message sent = message();
    another.add(sent.attach, std::move(sent.descriptors));
    EXPECT_EQ(error_of([&] { another.keep(kept); }).code(), ErrorCode::kInvalidArgument);
  }
}

TEST_F(ImportedMemoryTest, RefusesMessagesWithoutTheirDescriptors) {
  Message fewer = message();
  fewer.descriptors.pop_back();
  EXPECT_EQ(refusal_of(std::move(fewer)).code(), ErrorCode::kInvalidArgument);
  Message more = message();
  more.attach.slabs.pop_back();
  EXPECT_EQ(refusal_of(std::move(more)).code(), ErrorCode::kInvalidArgument);
}

TEST_F(ImportedMemoryTest, RefusesASlabLargerThanItsDescriptor) {
  Message sent = message();
  sent.attach.slabs[0].bytes *= 1024;
  EXPECT_THROW(ImportedMemory(device()).add(sent.attach, std::move(sent.descriptors)), Error);
}

TEST_F(ImportedMemoryTest, TakesASecondMessagesSlabsBesideTheFirsts) {
  ImportedMemory memory(device());
  Message first = message();
  first.attach.given = {{1, 256, 16}};
  memory.add(first.attach, std::move(first.descriptors));
  const vulkan::Region given = memory.given().at(0);
  Message second = message();
  second.attach.wanted = {{1, 0, 16}, {2, 0, 64}};
  memory.add(second.attach, std::move(second.descriptors));
  EXPECT_EQ(memory.given().size(), 1u);
  EXPECT_EQ(memory.given()[0].buffer, given.buffer);
  ASSERT_EQ(memory.wanted().size(), 2u);
  EXPECT_EQ(memory.wanted()[0].buffer, given.buffer);
  EXPECT_NE(memory.wanted()[1].buffer, given.buffer);
}

TEST_F(ImportedMemoryTest, RefusesPlacesOfAnotherSizeThanItsTensors) {
  const auto graph = build_graph(find_task({1, 19}), Preset::smoke);  // ReLU of x
  const auto bytes = static_cast<uint64_t>(graph->values().at(0).type.bytes());
  const std::vector<Wanted> wanted = {{.name = "flags", .dtype = DType::u8, .bytes = 3}};
  const auto check = [&](const Attach& places) {
    Message sent = message();
    sent.attach.given = places.given;
    sent.attach.outputs = places.outputs;
    sent.attach.wanted = places.wanted;
    ImportedMemory memory(device());
    memory.add(sent.attach, std::move(sent.descriptors));
    memory.check_types(*graph, wanted);
  };
  Attach right;
  right.given.resize(graph->values().size());
  right.given[0] = {1, 0, bytes};
  right.outputs = {{1, bytes, bytes}};
  right.wanted = {{0, 0, 4}};  // A place has a word at least.
  EXPECT_NO_THROW(check(right));
  EXPECT_NO_THROW(check({})) << "all memory is released";

  Attach input = right, output = right, temporary = right, missing = right, none = right;
  input.given[0].bytes /= 2;
  output.outputs[0].bytes += 4;
  temporary.wanted[0].bytes = 8;
  missing.given[0] = {};
  none.outputs.clear();
  for (const Attach* wrong : {&input, &output, &temporary, &missing, &none}) {
    EXPECT_EQ(error_of([&] { check(*wrong); }).code(), ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(error_of([&] { check(input); }).message(),
            "the judge's memory has " + std::to_string(bytes / 2) +
                " bytes for x, the runner's tensor " + std::to_string(bytes));
}

}  // namespace
}  // namespace kbench::runner
