// CUDA's driver as kbench uses it, against a library that behaves like it.
#include "harness/measure/cuda/driver.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <numeric>

#include "tests/cuda/fake_driver.h"
#include "tests/error_of.h"

namespace kbench::cuda {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string why_not(const std::array<uint8_t, 16>& uuid, const std::string& library) {
  try {
    const Driver driver(uuid, {library});
    return "";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUnsupported) << e.message();
    return e.message();
  }
}

class DriverTest : public ::testing::Test {
 protected:
  Driver& driver() {
    if (!driver_) driver_.emplace(fake_.uuid, std::vector<std::string>{FAKE_CUDA});
    return *driver_;
  }
  DriverKernel kernel(const std::string& name) {
    static constexpr std::byte kCubin[8] = {};
    return driver().load(kCubin, name);
  }
  LaunchStep step(const std::string& name) {
    return {kernel(name), {.grid = {4, 1, 1}, .block = {64, 1, 1}}, {}};
  }
  /// relu(x, y, n) on memory that is imported.
  LaunchStep relu(uint64_t x, uint64_t y, uint32_t n) {
    LaunchStep made = step("relu");
    made.parameters.resize(20);
    std::memcpy(made.parameters.data(), &x, 8);
    std::memcpy(made.parameters.data() + 8, &y, 8);
    std::memcpy(made.parameters.data() + 16, &n, 4);
    return made;
  }
  std::string refusal(const DriverLaunch& launch) { return driver().allow(kernel("k"), launch); }
  StepError error_of(DriverList& list) {
    try {
      list.run(1);
    } catch (const StepError& error) {
      return error;
    }
    ADD_FAILURE() << "it ran";
    return {DriverError(0, ""), -2};
  }

  testing_support::FakeCuda& fake_ = testing_support::new_fake_cuda();
  std::optional<Driver> driver_;
};

TEST_F(DriverTest, SaysWhyThereIsNone) {
  EXPECT_THAT(why_not(fake_.uuid, "/nowhere/libcuda.so.1"), HasSubstr("/nowhere/libcuda.so.1"));
  EXPECT_THAT(why_not(fake_.uuid, FAKE_NVRTC), HasSubstr("it lacks cuInit"));
  EXPECT_THAT(why_not({9, 9}, FAKE_CUDA), HasSubstr("none of its 2 has the UUID 09090000-"));
  fake_.fail_call = "cuInit";
  fake_.fail_with = 100;
  EXPECT_THAT(why_not(fake_.uuid, FAKE_CUDA), HasSubstr("cuInit gave an error (100)"));
  fake_.fail_call = "cuDevicePrimaryCtxRetain";
  EXPECT_THAT(why_not(fake_.uuid, FAKE_CUDA), HasSubstr("cuDevicePrimaryCtxRetain"));
}

TEST_F(DriverTest, ImportsMemoryAndTakesItsDescriptor) {
  testing_support::SharedFloats memory(256);
  UniqueFd descriptor = memory.descriptor();
  const int number = descriptor.get();
  EXPECT_NE(driver().import(std::move(descriptor), memory.bytes()), 0u);
  EXPECT_THAT(fake_.closed, ElementsAre(number));
  EXPECT_EQ(fcntl(number, F_GETFD), -1);  // and nobody else closes what has its number
  fake_.fail_call = "cuImportExternalMemory";
  fake_.fail_with = 1;
  EXPECT_THROW(driver().import(memory.descriptor(), memory.bytes()), DriverError);
}

TEST_F(DriverTest, GivesBackWhatItImported) {
  testing_support::SharedFloats memory(256);
  driver().import(memory.descriptor(), memory.bytes());
  fake_.fail_call = "cuDestroyExternalMemory";
  fake_.fail_with = 1;
  EXPECT_THROW(driver().release_imports(), DriverError);
  fake_.fail_call.clear();
  driver().release_imports();  // There is none any more.
}

TEST_F(DriverTest, CopiesFromAndToMemoryOfAnotherProcess) {
  std::vector<float> theirs = {1, 2, 3, 4}, ours(4);
  const auto address = reinterpret_cast<uint64_t>(theirs.data());
  const size_t bytes = theirs.size() * sizeof(float);
  PeerHandle handle{};
  std::memcpy(handle.data(), &address, sizeof address);
  std::memcpy(handle.data() + sizeof address, &bytes, sizeof bytes);
  const auto [opened, size] = driver().open_peer(handle);
  EXPECT_EQ(size, bytes);
  copy_all(driver(), {{opened + 4, reinterpret_cast<uint64_t>(ours.data()), 8}, {}}, 1);
  EXPECT_THAT(ours, ElementsAre(2, 3, 0, 0));
  driver().close_peer(opened);
  EXPECT_TRUE(fake_.peers.empty());
  EXPECT_THROW(driver().open_peer(PeerHandle{}), DriverError);
}

TEST_F(DriverTest, CopiesAtEqualDistancesAreOne) {
  constexpr uint64_t kFrom = 1 << 20, kTo = 2 << 20;
  std::vector<CopyStep> copies;
  for (const uint64_t row : {0, 1, 2, 4}) {
    add_row(copies, {kFrom + row * 512, kTo + row * 1024, 300});
  }
  add_row(copies, {kFrom + 5 * 512, kTo + 5 * 1024, 400});
  ASSERT_EQ(copies.size(), 3u);  // Another distance; other sizes.
  EXPECT_EQ(copies[0].rows, 3u);
  EXPECT_EQ(copies[0].from_pitch, 512u);
  EXPECT_EQ(copies[0].to_pitch, 1024u);
  // Behind each other, too near, at what is no multiple of 256 bytes.
  for (const int64_t distance : {-512, 256, 700}) {
    std::vector<CopyStep> apart = {{kFrom, kTo, 300}};
    add_row(apart, {kFrom + static_cast<uint64_t>(distance), kTo + 512, 300});
    EXPECT_EQ(apart.size(), 2u) << distance;
  }
}

TEST_F(DriverTest, CopiesRows) {
  std::vector<uint8_t> theirs(1024), ours(2048);
  std::iota(theirs.begin(), theirs.end(), 0);
  const auto at = [](std::vector<uint8_t>& bytes, size_t i) {
    return reinterpret_cast<uint64_t>(&bytes[i]);
  };
  std::vector<CopyStep> copies;
  for (const size_t row : {0, 1, 2}) {
    add_row(copies, {at(theirs, 1 + row * 256), at(ours, row * 512), 4});
  }
  ASSERT_EQ(copies.size(), 1u);
  copy_all(driver(), copies, 1);
  for (size_t i = 0; i < ours.size(); ++i) {
    const bool copied = i % 512 < 4 && i < 3 * 512;
    EXPECT_EQ(ours[i], copied ? 1 + i % 512 : 0) << i;
  }
}

TEST_F(DriverTest, WaitsUntilOthersLeaveTheDeviceIdle) {
  driver();
  fake_.slow_leads = 3;
  EXPECT_GE(wait_idle(driver(), 60).value_or(0), 6e6);
  EXPECT_EQ(fake_.slow_leads, 0);
  fake_.slow_leads = 1 << 20;
  EXPECT_FALSE(wait_idle(driver(), 0.02));
}

TEST_F(DriverTest, RunsStepsInOrderOnSharedMemory) {
  testing_support::SharedFloats memory(256);
  const uint64_t at = driver().import(memory.descriptor(), memory.bytes());
  for (size_t i = 0; i < 64; ++i) memory[i] = i % 2 == 0 ? -1.0f : static_cast<float>(i);
  DriverList list(driver(), {relu(at, at + 256, 64), relu(at + 256, at + 512, 64)});
  for (int run = 0; run < 3; ++run) {
    for (size_t i = 64; i < 256; ++i) memory[i] = 7;
    // A microsecond each.
    EXPECT_NEAR(list.run(1), 2000, 1) << run;
    for (size_t i = 0; i < 64; ++i) {
      EXPECT_EQ(memory[64 + i], i % 2 == 0 ? 0.0f : static_cast<float>(i));
      EXPECT_EQ(memory[128 + i], memory[64 + i]);
      EXPECT_EQ(memory[192 + i], 7.0f);
    }
  }
  EXPECT_TRUE(list.recorded());
}

TEST_F(DriverTest, TimesWhatWasEnqueuedBehindSomethingElse) {
  DriverList list(driver(), {step("a"), step("b")});
  list.run(1);
  fake_.calls.clear();
  fake_.leads = 0;
  list.run(1);
  ASSERT_GE(fake_.calls.size(), 4u);
  const std::vector<std::string> last(fake_.calls.end() - 3, fake_.calls.end());
  EXPECT_THAT(last, ElementsAre("cuEventRecord", "cuGraphLaunch", "cuEventRecord"));
  EXPECT_EQ(fake_.leads, fake_.calls.size() - 3);
  const size_t leads = fake_.leads;
  // The hand-over for nothing is the same but for the steps.
  fake_.calls.clear();
  fake_.leads = 0;
  EXPECT_EQ(list.run_empty(1), 0);
  EXPECT_EQ(fake_.leads, leads);
  EXPECT_EQ(fake_.calls.size(), leads + 2);
}

TEST_F(DriverTest, LaunchesEachTimeWhatCannotBeRecorded) {
  for (const char* call :
       {"cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphInstantiateWithFlags"}) {
    fake_.fail_call = call;
    fake_.fail_with = 900;
    DriverList list(driver(), {step("a"), step("b")});
    fake_.launches.clear();
    for (int run = 0; run < 3; ++run) EXPECT_NEAR(list.run(1), 2000, 1) << call;
    EXPECT_FALSE(list.recorded()) << call;
    EXPECT_THAT(fake_.launches, SizeIs(6)) << call;
  }
}

TEST_F(DriverTest, PassesOnHowAKernelIsLaunched) {
  LaunchStep made = step("k");
  made.launch = {.grid = {8, 2, 1}, .block = {32, 4, 2}, .shared_bytes = 98304};
  DriverList list(driver(), {made});
  list.run(1);
  list.run(1);
  const testing_support::FakeLaunch expected{"k", {8, 2, 1}, {32, 4, 2}, 98304};
  ASSERT_THAT(fake_.launches, SizeIs(2));
  EXPECT_THAT(fake_.launches, Each(expected));
}

TEST_F(DriverTest, NamesTheStepThatFailsInTheFirstRun) {
  DriverList list(driver(), {step("a"), step("fault"), step("c")});
  const StepError said = error_of(list);
  EXPECT_EQ(said.step, 1);
  EXPECT_TRUE(said.error.faulted());
  EXPECT_FALSE(said.error.crashed());
  EXPECT_THAT(said.error.message(), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal"));
  EXPECT_TRUE(driver().hung());
  // Nothing more can be done.
  EXPECT_EQ(code_of([&] { list.run(1); }), ErrorCode::kDeviceLost);
}

TEST_F(DriverTest, TellsFaultsFromCrashesFromWhatIsTooMuch) {
  const DriverError fault(716, ""), crash(719, ""), assertion(710, ""), much(701, ""), odd(999, "");
  EXPECT_TRUE(fault.faulted() && !fault.crashed() && !fault.too_much());
  EXPECT_TRUE(crash.crashed() && assertion.crashed() && !crash.faulted());
  EXPECT_TRUE(much.too_much() && DriverError(912, "").too_much());
  EXPECT_FALSE(odd.faulted() || odd.crashed() || odd.too_much());
  EXPECT_EQ(DriverError(2, "").code(), ErrorCode::kOutOfMemory);
  EXPECT_EQ(DriverError(702, "").code(), ErrorCode::kTimeout);
  EXPECT_EQ(odd.code(), ErrorCode::kInternal);
}

TEST_F(DriverTest, KnowsTheStepOfALaterRunWhereThereIsOne) {
  DriverList one(driver(), {step("a")}), two(driver(), {step("a"), step("b")});
  one.run(1);
  two.run(1);
  fake_.fail_call = "cuEventQuery";
  fake_.fail_with = 719;
  const StepError said = error_of(two);
  EXPECT_EQ(said.step, -1);
  EXPECT_TRUE(said.error.crashed());
  testing_support::new_fake_cuda();
}

TEST_F(DriverTest, LaunchThatIsRefusedIsTheSteps) {
  DriverList list(driver(), {step("a"), step("b")});
  fake_.fail_call = "cuLaunchKernel";
  fake_.fail_with = 701;
  const StepError said = error_of(list);
  EXPECT_EQ(said.step, 0);
  EXPECT_TRUE(said.error.too_much());
  EXPECT_FALSE(driver().hung());
}

TEST_F(DriverTest, GivesUpOnWhatHangs) {
  DriverList list(driver(), {step("hang")});
  EXPECT_EQ(code_of([&] { list.run(0.05); }), ErrorCode::kTimeout);
  EXPECT_TRUE(driver().hung());
}

TEST_F(DriverTest, TimesEachStep) {
  DriverList list(driver(), {step("a"), step("b"), step("c")});
  const auto all = list.profile(10, 1);
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_NEAR(all[0], 1000, 1);
  EXPECT_NEAR(all[2], 1000, 1);
  const auto some = list.profile(2, 1);
  ASSERT_THAT(some, SizeIs(2));
  EXPECT_NEAR(some[0], 1000, 1);
  EXPECT_NEAR(some[1], 2000, 1);  // the rest
}

TEST_F(DriverTest, LetsAKernelHaveWhatTheDeviceHas) {
  EXPECT_EQ(refusal({.shared_bytes = 96 << 10}), "");
  EXPECT_EQ(fake_.dynamic_shared, 96 << 10);
}

TEST_F(DriverTest, SaysWhatTheDeviceDoesNotHave) {
  // A kernel of this library has 1 KiB of its own.
  EXPECT_THAT(refusal({.shared_bytes = 227 << 10}),
              HasSubstr("takes 233472 bytes of shared memory, the device has 232448"));
}

TEST_F(DriverTest, RefusesAnEntryThatIsNotThere) { EXPECT_THROW(kernel("missing"), DriverError); }

}  // namespace
}  // namespace kbench::cuda
