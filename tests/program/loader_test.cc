// A machine without the Vulkan loader: what needs no device goes on, what needs one says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/program/run_program.h"

namespace kbench::testing {
namespace {

using ::testing::HasSubstr;

class WithoutTheLoader : public ::testing::Test {
 protected:
  void SetUp() override { setenv("KBENCH_VULKAN_LOADER", "/nowhere/libvulkan.so.1", 1); }
  void TearDown() override { unsetenv("KBENCH_VULKAN_LOADER"); }
};

TEST_F(WithoutTheLoader, TasksAreListedAndResultsScored) {
  const ScratchFolder folder;
  write_file(folder / "none.jsonl", "");
  EXPECT_EQ(run_program({"list"}).code, 0);
  EXPECT_EQ(run_program({"show", "level1/19"}).code, 0);
  const Said scored = run_program({"report", "none.jsonl"}, folder.path());
  EXPECT_EQ(scored.code, 0) << scored.err;
  EXPECT_THAT(scored.out, HasSubstr("no results\n"));
  EXPECT_EQ(scored.err.find("libvulkan"), std::string::npos) << scored.err;
}

TEST_F(WithoutTheLoader, AVerbThatNeedsADeviceSaysWhatIsMissing) {
  const ScratchFolder folder;
  write_file(folder / "relu.yaml", run_program({"show", "level1/19", "--candidate"}).out);
  for (const Said& said : {run_program({"devices"}), run_program({"run", folder / "relu.yaml"})}) {
    EXPECT_EQ(said.code, 2);
    EXPECT_THAT(said.err, HasSubstr("the Vulkan loader cannot be opened"));
    EXPECT_THAT(said.err, HasSubstr("/nowhere/libvulkan.so.1"));
    EXPECT_EQ(count_lines(said.err), 1u) << said.err;
  }
}

}  // namespace
}  // namespace kbench::testing
