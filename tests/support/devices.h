// Vulkan devices that tests may use, listed once a run of ctest.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace kbench::testing {

struct ListedDevice {
  std::string type;  ///< "cpu", "discrete" ...
  bool usable = false;
};

/// What `kbench devices --json` says: read from the file that KBENCH_TEST_DEVICES names, which a
/// fixture of ctest has written, or else asked once a process.
const std::vector<ListedDevice>& listed_devices();
bool has_device();           ///< one that can be used
bool has_software_device();  ///< lavapipe
bool only_software_devices();

}  // namespace kbench::testing

/// Skips a test on a machine without a device; there, KBENCH_REQUIRE_VULKAN=1 makes it fail.
#define KBENCH_NEED_DEVICE()                                                           \
  if (!::kbench::testing::has_device()) {                                              \
    if (std::getenv("KBENCH_REQUIRE_VULKAN") != nullptr) FAIL() << "no Vulkan device"; \
    GTEST_SKIP() << "no Vulkan device";                                                \
  }

/// The same, without lavapipe.
#define KBENCH_NEED_SOFTWARE_DEVICE()                                                    \
  if (!::kbench::testing::has_software_device()) {                                       \
    if (std::getenv("KBENCH_REQUIRE_VULKAN") != nullptr) FAIL() << "no software device"; \
    GTEST_SKIP() << "no software device";                                                \
  }
