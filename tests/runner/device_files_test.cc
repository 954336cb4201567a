#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/measure/runner/lock_in.h"
#include "tests/candidate/support.h"

namespace kbench::runner {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;

constexpr const char* kFirst = "6c1e8f30-0b4e-7a55-9d0c-2f6f3a1b9e01";
constexpr const char* kSecond = "b7d1c0aa-55f2-4c1d-8e33-90ab1cd2ef02";

class DeviceFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "null"}) {
      folder_.write("dev/" + std::string(name), "");
    }
    describe("0000:18:00.0", kFirst, "1");
    describe("0000:2a:00.0", kSecond, "0");
  }
  void describe(const std::string& bus, const std::string& uuid, const std::string& minor) {
    folder_.write("gpus/" + bus + "/information",
                  "Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-" + uuid +
                      "\nBus Type: \t PCIe\nDevice Minor: \t " + minor + "\n");
  }
  std::vector<std::string> files(const std::string& uuid) {
    return device_files(uuid, folder_.path("dev"), folder_.path("gpus"));
  }
  std::string dev(const std::string& name) { return folder_.path("dev/" + name); }

  testing_support::ScratchFolder folder_;
};

TEST_F(DeviceFilesTest, OfSeveralNvidiaGpusOneIsInReach) {
  EXPECT_THAT(files(kFirst), IsSupersetOf({dev("nvidia1"), dev("nvidiactl"), dev("nvidia-uvm")}));
  EXPECT_THAT(files(kFirst), Not(Contains(dev("nvidia0"))));
  EXPECT_THAT(files(kSecond), Contains(dev("nvidia0")));
  EXPECT_THAT(files(kSecond), Not(Contains(dev("nvidia1"))));
  EXPECT_THAT(files(kSecond), Not(Contains(dev("null"))));
}

TEST_F(DeviceFilesTest, IncludesAllGpusIfTheOwnIsUnknown) {
  for (const char* unknown : {"", "0", "00000000-0000-0000-0000-000000000000"}) {
    EXPECT_THAT(files(unknown), IsSupersetOf({dev("nvidia0"), dev("nvidia1")})) << unknown;
  }
  std::filesystem::remove(dev("nvidia1"));  // A container's /dev may number them otherwise.
  EXPECT_THAT(files(kFirst), Contains(dev("nvidia0")));
}

}  // namespace
}  // namespace kbench::runner
