// Two processes on one device: the test is the owner of the memory, this program started again the
// importer.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "harness/measure/vulkan/buffer.h"
#include "harness/measure/vulkan/functions.h"
#include "tests/vulkan/child.h"
#include "tests/vulkan/device_fixture.h"

namespace kbench::vulkan {
namespace {

using ::testing::HasSubstr;

constexpr size_t kValues = 1000;

class SharedMemoryTest : public DeviceTest {
 protected:
  /// to[i] = 2 from[i] + 1 by address, both as long as `buffer`: the bytes behind the values too.
  void run_by_address(const Buffer& from, const Buffer& to) {
    const Spirv spirv = compile(
        "layout(local_size_x = 64) in;\n"
        "layout(buffer_reference, std430) buffer Floats { float at[]; };\n"
        "layout(push_constant) uniform Push { Floats from, to; uint n; };\n"
        "void main() {\n"
        "  uint i = gl_GlobalInvocationID.x;\n"
        "  if (i < n) to.at[i] = 2.0 * from.at[i] + 1.0;\n"
        "}\n");
    const auto n = static_cast<uint32_t>(to.size() / sizeof(float));
    const std::vector<std::byte> push = push_block(from.address(), to.address(), n);
    Commands commands(device());
    commands.begin();
    commands.dispatch(device().pipelines().get({.spirv = spirv, .push_bytes = 20}), {}, push,
                      {(n + 63) / 64, 1, 1});
    commands.submit_and_wait(60);
  }

  [[noreturn]] void end_importer() {
    for (const std::string& each : device().take_validation_messages()) ADD_FAILURE() << each;
    end_child();
  }

  Buffer shared_floats(float value) {
    Buffer buffer = device().allocate_shared(kValues * sizeof(float));
    const std::vector<float> values(buffer.size() / sizeof(float), value);
    device().upload(buffer, 0, std::as_bytes(std::span(values)));
    return buffer;
  }
  bool by_descriptor() { return device().plan().sharing == Sharing::descriptor; }
};

TEST_F(SharedMemoryTest, AnotherProcessReadsAndWritesEveryByte) {
  if (in_child()) {
    const uint64_t before = device().allocated_bytes();
    std::vector<SharedMemory> memories = take_over();
    const Buffer from = device().import_shared(std::move(memories.at(0)), Access::read_only);
    const Buffer to = device().import_shared(std::move(memories.at(1)), Access::read_write);
    EXPECT_EQ(device().allocated_bytes(), before) << "what is imported is its owner's";
    run_by_address(from, to);
    end_importer();
  }
  const Buffer from = shared_floats(3), to = shared_floats(0);
  std::vector<SharedMemory> memories;
  memories.push_back(from.share(Access::read_only));
  memories.push_back(to.share(Access::read_write));
  ASSERT_EQ(run_child(own_environment(), memories).status, kChildPassed);
  EXPECT_EQ(download<float>(to), std::vector<float>(to.size() / sizeof(float), 7));
  EXPECT_EQ(download<float>(from), std::vector<float>(from.size() / sizeof(float), 3));
}

TEST_F(SharedMemoryTest, WritingReadOnlyMemoryKillsTheImporter) {
  if (by_descriptor()) GTEST_SKIP() << "memory of a GPU has no read-only mapping";
  if (in_child()) {
    const SharedMemory shared = std::move(take_over().at(0));
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would turn it into an exit
    const int fd = dup(shared.descriptor.get());
    EXPECT_EQ(mmap(nullptr, shared.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
    const Buffer own = upload(std::vector<float>(kValues, 1));
    const Buffer input = device().import_shared({.descriptor = UniqueFd(fd), .bytes = shared.bytes},
                                                Access::read_only);
    if (HasFailure()) end_importer();
    run_by_address(own, input);
    end_importer();
  }
  const Buffer input = shared_floats(5);
  std::vector<SharedMemory> memories;
  memories.push_back(input.share(Access::read_only));
  EXPECT_EQ(run_child(own_environment(), memories).signal, SIGSEGV);
  EXPECT_EQ(download<float>(input), std::vector<float>(input.size() / sizeof(float), 5));
}

TEST_F(SharedMemoryTest, CoversItsAllocationAndCountsOnce) {
  const uint64_t before = device().allocated_bytes();
  const uint64_t granule = by_descriptor() ? uint64_t{2} << 20 : 4096;
  {
    const Buffer buffer = device().allocate_shared(1);
    EXPECT_EQ(buffer.size(), granule);
    EXPECT_EQ(device().allocated_bytes(), before + granule);
    VkMemoryRequirements needs{};
    vkGetBufferMemoryRequirements(device().handle(), buffer.handle(), &needs);
    EXPECT_EQ(needs.size, buffer.size());
    const SharedMemory shared = buffer.share(Access::read_write);
    EXPECT_EQ(shared.bytes, granule);
    EXPECT_EQ(device().allocate_shared(granule).size(), granule);
    EXPECT_EQ(device().allocate_shared(granule + 1).size(), 2 * granule);
    const Buffer again =
        device().import_shared(buffer.share(Access::read_write), Access::read_write);
    EXPECT_NE(again.address(), 0u);
    EXPECT_EQ(device().allocated_bytes(), before + granule);
  }
  EXPECT_EQ(device().allocated_bytes(), before);
}

TEST_F(SharedMemoryTest, ADescriptionOutlivesTheBuffer) {
  SharedMemory shared;
  {
    const Buffer buffer = shared_floats(9);
    shared = buffer.share(Access::read_write);
  }
  const Buffer again = device().import_shared(std::move(shared), Access::read_write);
  EXPECT_EQ(download<float>(again), std::vector<float>(again.size() / sizeof(float), 9));
}

TEST_F(SharedMemoryTest, ASoftwareDevicesFileHasAFinalSize) {
  if (by_descriptor()) GTEST_SKIP() << "no file on a GPU";
  const Buffer buffer = device().allocate_shared(1);
  const SharedMemory shared = buffer.share(Access::read_write);
  EXPECT_EQ(ftruncate(shared.descriptor.get(), 0), -1);
  EXPECT_EQ(ftruncate(shared.descriptor.get(), 1 << 20), -1);
}

TEST_F(SharedMemoryTest, ASoftwareDevicesMemoryLiesAtRandom) {
  if (by_descriptor()) GTEST_SKIP() << "the driver of a GPU chooses addresses";
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer leaves little of the address space to choose from";
#endif
  constexpr uint64_t kNear = uint64_t{1} << 32;
  const Buffer shared = device().allocate_shared(4096);
  const Buffer other = device().allocate_shared(4096);
  const Buffer imported =
      device().import_shared(shared.share(Access::read_write), Access::read_write);
  const auto library = reinterpret_cast<uint64_t>(&mmap);
  for (const uint64_t neighbour : {other.address(), imported.address(), library}) {
    const uint64_t distance =
        std::max(shared.address(), neighbour) - std::min(shared.address(), neighbour);
    EXPECT_GT(distance, kNear);  // By chance once in some ten thousand runs.
  }
}

TEST_F(SharedMemoryTest, RefusesWhatCannotBeSharedOrImported) {
  EXPECT_EQ(error_of([&] { device().allocate_shared(0); }).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of([&] { device().allocate_shared(UINT64_MAX); }).code(),
            ErrorCode::kOutOfMemory);
  const Buffer own = device().allocate(4096);
  EXPECT_EQ(error_of([&] { own.share(Access::read_only); }).code(), ErrorCode::kInvalidArgument);

  const Buffer buffer = device().allocate_shared(1);
  const auto error_with = [&](auto&& change) {
    SharedMemory shared = buffer.share(Access::read_write);
    change(shared);
    return error_of([&] { device().import_shared(std::move(shared), Access::read_write); });
  };
  EXPECT_THAT(error_with([](SharedMemory& shared) { shared.bytes -= 1; }).what(),
              HasSubstr("whole allocation"));
  EXPECT_EQ(error_with([](SharedMemory& shared) { shared.bytes = 0; }).code(),
            ErrorCode::kInvalidArgument);
  if (by_descriptor()) {
    EXPECT_THAT(error_with([](SharedMemory& shared) { shared.memory_type = 77; }).what(),
                HasSubstr("memory type"));
    return;
  }
  EXPECT_THAT(error_with([](SharedMemory& shared) { shared.bytes *= 2; }).what(),
              HasSubstr("whole allocation"));
  EXPECT_THAT(error_with([](SharedMemory& shared) { shared.descriptor.reset(); }).what(),
              HasSubstr("no descriptor"));
  const Error error = error_of(
      [&] { device().import_shared(buffer.share(Access::read_only), Access::read_write); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << "no more than what was shared";
}

}  // namespace
}  // namespace kbench::vulkan
