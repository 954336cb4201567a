// What is kept of the extensions of a ModelNew, and for whom.
#include "harness/measure/runner/torch/kept_extensions.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/measure/runner/python_helper.h"
#include "kbench/error.h"
#include "libkbench/base/files.h"
#include "tests/candidate/support.h"

namespace kbench::runner {
namespace {

namespace fs = std::filesystem;
using testing_support::ScratchFolder;

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class KeptExtensionsTest : public ::testing::Test {
 protected:
  KeptExtensions of(const std::string& subject) const { return {cache_.path("kbench"), subject}; }
  void keep(const std::string& subject) const {
    of(subject).keep(UniqueFd(open(from_.path().c_str(), O_RDONLY | O_DIRECTORY)).get(), "made");
  }
  bool put(const std::string& subject, const std::string& to) const {
    const UniqueFd folder(open(to.c_str(), O_RDONLY | O_DIRECTORY));
    return of(subject).put_into(folder.get()) == "made";
  }
  ScratchFolder cache_, from_, to_;
};

TEST_F(KeptExtensionsTest, AreTheLibrariesAndTheirNotes) {
  from_.write("a/a.so", std::string("\x7f"
                                    "ELF\0x",
                                    6));
  from_.write("a/a.made_by", "call");
  from_.write("a/main.o", "large");
  from_.write("c/c.failed", "call\nan error");
  from_.write("b/b.so", "b");
  EXPECT_FALSE(put("source", to_.path()));
  keep("source");
  EXPECT_TRUE(put("source", to_.path()));
  EXPECT_EQ(text_of(to_.path("a/a.so")), std::string("\x7f"
                                                     "ELF\0x",
                                                     6));
  EXPECT_EQ(text_of(to_.path("a/a.made_by")), "call");
  EXPECT_EQ(text_of(to_.path("b/b.so")), "b");
  EXPECT_EQ(text_of(to_.path("c/c.failed")), "call\nan error");
  EXPECT_FALSE(fs::exists(to_.path("a/main.o")));
}

TEST_F(KeptExtensionsTest, AreFoundByTheirOwnSourceOnly) {
  from_.write("a/a.so", "a");
  keep("source");
  EXPECT_FALSE(put("another", to_.path()));
  // Nor under another's name.
  for (const auto& each : fs::directory_iterator(cache_.path("kbench"))) {
    if (each.path().filename() == "key") continue;
    keep("another");
    for (const auto& other : fs::directory_iterator(cache_.path("kbench"))) {
      if (other.path() == each.path() || other.path().filename() == "key") continue;
      fs::copy_file(each.path(), other.path(), fs::copy_options::overwrite_existing);
      EXPECT_FALSE(put("another", to_.path()));
      return;
    }
  }
  FAIL() << "nothing was kept";
}

TEST_F(KeptExtensionsTest, FollowNoLinkOutOfTheFolder) {
  const ScratchFolder outside;
  outside.write("secret.so", "secret");
  from_.write("a/a.so", "a");
  fs::create_symlink(outside.path("secret.so"), from_.path("a/secret.so"));
  keep("one");
  EXPECT_FALSE(put("one", to_.path()));
  fs::remove(from_.path("a/secret.so"));
  fs::create_directory_symlink(outside.path(), from_.path("b"));
  keep("one");
  EXPECT_TRUE(put("one", to_.path()));
  EXPECT_FALSE(fs::exists(to_.path("b")));
}

/// The folder that they are put into may have been changed by a candidate.
TEST_F(KeptExtensionsTest, ArePutBehindNoLink) {
  const ScratchFolder outside;
  from_.write("a/a.so", "a");
  keep("one");
  fs::create_directory_symlink(outside.path(), to_.path("a"));
  EXPECT_FALSE(put("one", to_.path()));
  fs::remove(to_.path("a"));
  fs::create_directory(to_.path("a"));
  fs::create_symlink(outside.path("new"), to_.path("a/a.so"));
  EXPECT_FALSE(put("one", to_.path()));
  EXPECT_TRUE(fs::is_empty(outside.path()));
}

TEST_F(KeptExtensionsTest, AreNoFileWithAnotherName) {
  from_.write("a/a.so", "a");
  fs::create_hard_link(from_.path("a/a.so"), from_.path("a/b.o"));
  keep("one");
  EXPECT_FALSE(put("one", to_.path()));
}

TEST_F(KeptExtensionsTest, AreNotKeptWhereTheyAreTooLarge) {
  from_.write("a/a.so", "a");
  fs::resize_file(from_.path("a/a.so"), (uintmax_t{64} << 20) + 1);
  keep("one");
  EXPECT_FALSE(put("one", to_.path()));
}

TEST_F(KeptExtensionsTest, WithoutAFolderNothingIsKept) {
  from_.write("a/a.so", "a");
  const KeptExtensions none("", "one");
  const UniqueFd folder(open(from_.path().c_str(), O_RDONLY | O_DIRECTORY));
  none.keep(folder.get(), "made");
  EXPECT_EQ(none.put_into(folder.get()), "");
  of("one").keep(-1, "made");
  keep("other");
  EXPECT_EQ(of("other").put_into(-1), "");
}

/// The folder that a job of the helper leaves its library in, whose content no two runs agree on.
constexpr const char* kMakes = R"(
import os, time
folder = os.environ["TORCH_EXTENSIONS_DIR"] + "/made"
os.makedirs(folder)
with open(folder + "/made.so", "w") as file:
    file.write(str(time.time_ns()))
os.write(3, b'{"error": ""}')
)";
constexpr const char* kReads = R"(
import os
with open(os.environ["TORCH_EXTENSIONS_DIR"] + "/made/made.so") as file:
    os.write(3, file.read().encode())
)";

TEST_F(KeptExtensionsTest, AJobIsNotRunAgainInTheNextProcess) {
  setenv("KBENCH_CACHE", cache_.path("kbench").c_str(), 1);
  const auto made = [](const std::string& input) {
    PythonHelper helper;
    const PythonJob makes{.script = kMakes, .input = input, .for_torch = true};
    EXPECT_EQ(helper.run(makes), R"({"error": ""})");
    return helper.run({.script = kReads, .input = "", .for_torch = true});
  };
  try {
    const std::string first = made("a");
    EXPECT_EQ(made("a"), first);
    EXPECT_NE(made("b"), first);
  } catch (const Error& error) {
    unsetenv("KBENCH_CACHE");
    if (error.code() == ErrorCode::kUnsupported) GTEST_SKIP() << error.message();
    throw;
  }
  unsetenv("KBENCH_CACHE");
}

}  // namespace
}  // namespace kbench::runner
