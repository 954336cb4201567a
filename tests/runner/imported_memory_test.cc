// The judge's memory as a runner sees it: what lies outside of it is refused.
#include "harness/measure/runner/imported_memory.h"

#include "tests/vulkan/device_fixture.h"

namespace kbench::runner {
namespace {

class MemoryTest : public vulkan::DeviceTest {
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
  /// The code of the Error; the memory is a runner's that is told of this place.
  Error refusal_of(const Place& place) {
    Message sent = message();
    sent.attach.wanted = {place};
    return error_of(
        [&] { ImportedMemory(device()).add(sent.attach, std::move(sent.descriptors)); });
  }

  std::vector<vulkan::Buffer> slabs_;
};

TEST_F(MemoryTest, GivesRegionsInOrderAndTheSameBytes) {
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

TEST_F(MemoryTest, RefusesPlacesOutsideItsSlabs) {
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

TEST_F(MemoryTest, KeepsSlabsThatTheNextMessageCountsFirst) {
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

TEST_F(MemoryTest, RefusesMessagesWithoutTheirDescriptors) {
  Message fewer = message();
  fewer.descriptors.pop_back();
  EXPECT_EQ(error_of([&] {
              ImportedMemory(device()).add(fewer.attach, std::move(fewer.descriptors));
            }).code(),
            ErrorCode::kInvalidArgument);
  Message more = message();
  more.attach.slabs.pop_back();
  EXPECT_EQ(error_of([&] {
              ImportedMemory(device()).add(more.attach, std::move(more.descriptors));
            }).code(),
            ErrorCode::kInvalidArgument);
}

TEST_F(MemoryTest, RefusesASlabThatIsLargerThanItsDescriptor) {
  Message sent = message();
  sent.attach.slabs[0].bytes *= 1024;
  EXPECT_THROW(ImportedMemory(device()).add(sent.attach, std::move(sent.descriptors)), Error);
}

TEST_F(MemoryTest, TakesASecondMessagesSlabsBesideTheFirsts) {
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

}  // namespace
}  // namespace kbench::runner
