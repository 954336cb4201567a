#include "harness/measure/cuda/toolkit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/candidate/support.h"

namespace kbench::cuda {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing_support::ScratchFolder;

TEST(Toolkit, IsTheFirstPlaceThatHasTheCompiler) {
  const ScratchFolder folder;
  folder.write("old/lib64/libcudart.so", "");
  folder.write("new/lib64/libnvrtc.so.12", "");
  folder.write("new/lib64/libnvrtc.so.13", "");
  folder.write("new/lib64/libnvrtc-builtins.so.13.0", "");
  std::filesystem::create_symlink("libnvrtc-builtins.so.13.0",
                                  folder.path("new/lib64/libnvrtc-builtins.so"));
  folder.write("new/lib64/libnvJitLink.so.13", "");
  folder.write("new/include/cuda_fp16.h", "");
  folder.write("new/include/cccl/cuda/atomic", "");
  const Toolkit toolkit =
      find_toolkit({.nvrtc = "", .roots = {folder.path("old"), folder.path("new")}, .site = {}});
  EXPECT_EQ(toolkit.nvrtc, folder.path("new/lib64/libnvrtc.so.13"));
  EXPECT_EQ(toolkit.nvjitlink, folder.path("new/lib64/libnvJitLink.so.13"));
  EXPECT_THAT(toolkit.include,
              ElementsAre(folder.path("new/include"), folder.path("new/include/cccl")));
  EXPECT_THAT(toolkit.folders(), Contains(folder.path("new/lib64")));
}

TEST(Toolkit, ComesAsPythonPackagesToo) {
  const ScratchFolder folder;
  folder.write("one/nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "");
  folder.write("one/nvidia/nvjitlink/lib/libnvJitLink.so.12", "");
  folder.write("one/nvidia/cuda_runtime/include/cuda_fp16.h", "");
  const Toolkit twelve = find_toolkit({.nvrtc = "", .roots = {}, .site = {folder.path("one")}});
  EXPECT_EQ(twelve.nvrtc, folder.path("one/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"));
  EXPECT_EQ(twelve.nvjitlink, folder.path("one/nvidia/nvjitlink/lib/libnvJitLink.so.12"));
  EXPECT_THAT(twelve.include, ElementsAre(folder.path("one/nvidia/cuda_runtime/include")));

  folder.write("two/nvidia/cu13/lib/libnvrtc.so.13", "");
  const Toolkit thirteen =
      find_toolkit({.nvrtc = "", .roots = {}, .site = {folder.path("two"), folder.path("one")}});
  EXPECT_EQ(thirteen.nvrtc, folder.path("two/nvidia/cu13/lib/libnvrtc.so.13"));
}

TEST(Toolkit, ThatIsNamedIsTriedAlone) {
  const ScratchFolder folder;
  folder.write("new/lib64/libnvrtc.so.13", "");
  const ToolkitPlaces places{
      .nvrtc = "/nowhere/libnvrtc.so", .roots = {folder.path("new")}, .site = {}};
  EXPECT_EQ(find_toolkit(places).nvrtc, "/nowhere/libnvrtc.so");
  EXPECT_THAT(searched(places), HasSubstr("/nowhere/libnvrtc.so"));
}

TEST(Toolkit, MayBeNowhere) {
  const Toolkit toolkit = find_toolkit({});
  EXPECT_THAT(toolkit.nvrtc, IsEmpty());
  EXPECT_THAT(searched({}), HasSubstr("CUDA_HOME"));
}

}  // namespace
}  // namespace kbench::cuda
