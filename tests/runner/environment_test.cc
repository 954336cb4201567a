#include <gmock/gmock.h>

#include <cstdlib>

#include "harness/measure/runner/lock_in.h"

namespace kbench::runner {
namespace {

using ::testing::Contains;
using ::testing::Not;
using ::testing::StartsWith;

TEST(SanitizedEnvironment, PassesDriversVariablesAndNoOthers) {
  setenv("VK_DRIVER_FILES_TEST", "a:b", 1);
  setenv("LP_NUM_THREADS_TEST", "3", 1);
  setenv("API_TOKEN", "secret", 1);
  setenv("HOME", "/home/somebody", 1);
  setenv("LD_PRELOAD_TEST", "no.so", 1);
  const std::vector<std::string> variables = sanitized_environment();
  EXPECT_THAT(variables, Contains("VK_DRIVER_FILES_TEST=a:b"));
  EXPECT_THAT(variables, Contains("LP_NUM_THREADS_TEST=3"));
  for (const char* name : {"API_TOKEN", "HOME", "LD_PRELOAD", "PATH"}) {
    EXPECT_THAT(variables, Not(Contains(StartsWith(name)))) << name;
  }
}

TEST(SanitizedEnvironment, TurnsDiskCachesOffWhateverTheUserSays) {
  setenv("MESA_SHADER_CACHE_DISABLE", "0", 1);
  setenv("__GL_SHADER_DISK_CACHE", "1", 1);
  const std::vector<std::string> variables = sanitized_environment();
  EXPECT_THAT(variables, Contains("MESA_SHADER_CACHE_DISABLE=1"));
  EXPECT_THAT(variables, Not(Contains("MESA_SHADER_CACHE_DISABLE=0")));
  EXPECT_THAT(variables, Contains("__GL_SHADER_DISK_CACHE=0"));
  EXPECT_THAT(variables, Not(Contains("__GL_SHADER_DISK_CACHE=1")));
}

TEST(SanitizedEnvironment, SaysWhereTheUsersCacheIs) {
  setenv("KBENCH_CACHE", "/somewhere/cache", 1);
  EXPECT_THAT(sanitized_environment(), Contains("KBENCH_CACHE=/somewhere/cache"));
  unsetenv("KBENCH_CACHE");
  setenv("XDG_CACHE_HOME", "/home/somebody/.cache", 1);
  EXPECT_THAT(sanitized_environment(), Contains("KBENCH_CACHE=/home/somebody/.cache/kbench"));
}

}  // namespace
}  // namespace kbench::runner
