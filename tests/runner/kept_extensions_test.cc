// What is kept of the extensions of a ModelNew, and for whom.
#include "harness/measure/runner/torch/kept_extensions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/measure/runner/python_helper.h"
#include "kbench/error.h"
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
  ScratchFolder cache_, from_, to_;
};

TEST_F(KeptExtensionsTest, AreTheLibrariesAndTheirNotes) {
  from_.write("a/a.so", std::string("\x7f"
                                    "ELF\0x",
                                    6));
  from_.write("a/a.made_by", "call");
  from_.write("a/main.o", "large");
  from_.write("b/b.so", "b");
  EXPECT_FALSE(of("source").put_into(to_.path()));
  of("source").keep(from_.path());
  EXPECT_TRUE(of("source").put_into(to_.path()));
  EXPECT_EQ(text_of(to_.path("a/a.so")), std::string("\x7f"
                                                     "ELF\0x",
                                                     6));
  EXPECT_EQ(text_of(to_.path("a/a.made_by")), "call");
  EXPECT_EQ(text_of(to_.path("b/b.so")), "b");
  EXPECT_FALSE(fs::exists(to_.path("a/main.o")));
}

TEST_F(KeptExtensionsTest, AreFoundByTheirOwnSourceOnly) {
  from_.write("a/a.so", "a");
  of("source").keep(from_.path());
  EXPECT_FALSE(of("another").put_into(to_.path()));
  // Nor under another's name.
  for (const auto& each : fs::directory_iterator(cache_.path("kbench"))) {
    if (each.path().filename() == "key") continue;
    of("another").keep(from_.path());
    for (const auto& other : fs::directory_iterator(cache_.path("kbench"))) {
      if (other.path() == each.path() || other.path().filename() == "key") continue;
      fs::copy_file(each.path(), other.path(), fs::copy_options::overwrite_existing);
      EXPECT_FALSE(of("another").put_into(to_.path()));
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
  of("one").keep(from_.path());
  EXPECT_FALSE(of("one").put_into(to_.path()));
  fs::remove(from_.path("a/secret.so"));
  fs::create_directory_symlink(outside.path(), from_.path("b"));
  of("one").keep(from_.path());
  EXPECT_TRUE(of("one").put_into(to_.path()));
  EXPECT_FALSE(fs::exists(to_.path("b")));
}

TEST_F(KeptExtensionsTest, AreNotKeptWhereTheyAreTooLarge) {
  from_.write("a/a.so", "a");
  fs::resize_file(from_.path("a/a.so"), (uintmax_t{64} << 20) + 1);
  of("one").keep(from_.path());
  EXPECT_FALSE(of("one").put_into(to_.path()));
}

TEST_F(KeptExtensionsTest, WithoutAFolderNothingIsKept) {
  from_.write("a/a.so", "a");
  const KeptExtensions none("", "one");
  none.keep(from_.path());
  EXPECT_FALSE(none.put_into(to_.path()));
  of("one").keep(from_.path("missing"));
  EXPECT_FALSE(of("one").put_into(to_.path()));
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
