#include "harness/measure/process/own_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/candidate/support.h"

namespace kbench::process {
namespace {

namespace fs = std::filesystem;

class OwnFolderTest : public ::testing::Test {
 protected:
  std::string cache() const { return scratch_.path("cache"); }
  std::string at(const std::string& name) const { return cache() + "/" + name; }
  testing_support::ScratchFolder scratch_;
};

TEST_F(OwnFolderTest, KeepsBytesFromOneRunToTheNext) {
  const std::string bytes("\0\n\xff bytes", 9);
  OwnFolder(cache()).keep("a", "subject", bytes);
  EXPECT_EQ(OwnFolder(cache()).kept("a", "subject"), bytes);
  OwnFolder(cache()).keep("a", "subject", "others");
  EXPECT_EQ(OwnFolder(cache()).kept("a", "subject"), "others");
}

TEST_F(OwnFolderTest, GivesNothingKeptForAnotherNameOrSubject) {
  const OwnFolder folder(cache());
  folder.keep("a", "subject", "bytes");
  EXPECT_EQ(folder.kept("a", "another"), "");
  fs::copy_file(at("a"), at("b"));
  EXPECT_EQ(folder.kept("b", "subject"), "");
  EXPECT_EQ(folder.kept("none", "subject"), "");
}

TEST_F(OwnFolderTest, GivesNothingThatHasBeenChanged) {
  const OwnFolder folder(cache());
  folder.keep("a", "subject", "bytes");
  std::ofstream(at("a"), std::ios::app) << "!";
  EXPECT_EQ(folder.kept("a", "subject"), "");
  std::ofstream(at("a")) << "short";
  EXPECT_EQ(folder.kept("a", "subject"), "");
}

TEST_F(OwnFolderTest, TrustsNoFileThatOthersMayWrite) {
  const OwnFolder folder(cache());
  folder.keep("a", "subject", "bytes");
  chmod(at("a").c_str(), 0666);
  EXPECT_EQ(folder.kept("a", "subject"), "");
}

TEST_F(OwnFolderTest, AKeyThatCannotBeUsedIsMadeAnew) {
  for (const char* damaged : {"", "short"}) {
    OwnFolder(cache()).keep("a", "subject", "bytes");
    std::ofstream(at("key"), std::ios::trunc) << damaged;
    const OwnFolder folder(cache());
    EXPECT_TRUE(folder.there());
    EXPECT_EQ(folder.kept("a", "subject"), "");  // Signed with the old one.
    folder.keep("a", "subject", "bytes");
    EXPECT_EQ(OwnFolder(cache()).kept("a", "subject"), "bytes");
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(cache()), {}), 2);
}

TEST_F(OwnFolderTest, WaitsForNoPipe) {
  OwnFolder(cache()).keep("a", "subject", "bytes");
  for (const char* name : {"key", "a", "b"}) {
    fs::remove(at(name));
    ASSERT_EQ(mkfifo(at(name).c_str(), 0600), 0);
  }
  const OwnFolder folder(cache());
  EXPECT_TRUE(folder.there());
  EXPECT_EQ(folder.read("b"), "");
  folder.append("b", "line\n");
  EXPECT_EQ(folder.kept("a", "subject"), "");
  folder.keep("a", "subject", "bytes");
  EXPECT_EQ(folder.kept("a", "subject"), "bytes");
}

TEST_F(OwnFolderTest, IsNoneWhereOthersMayWriteOrThereIsNoPath) {
  fs::create_directory(cache());
  chmod(cache().c_str(), 0777);
  for (const OwnFolder& folder : {OwnFolder(cache()), OwnFolder(""), OwnFolder()}) {
    EXPECT_FALSE(folder.there());
    folder.keep("a", "subject", "bytes");
    folder.append("b", "line\n");
    EXPECT_EQ(folder.kept("a", "subject"), "");
  }
  EXPECT_TRUE(fs::is_empty(cache()));
}

TEST_F(OwnFolderTest, RemovesFilesThatAreAWeekOld) {
  const OwnFolder folder(cache());
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(8 * 24);
  for (const char* name : {"p-old", "p-new", "p-own-old", "other"}) {
    folder.keep(name, "", "bytes");
    if (std::string(name) != "p-new") fs::last_write_time(at(name), long_ago);
  }
  folder.forget_stale("p-", "p-own-");
  EXPECT_FALSE(fs::exists(at("p-old")));
  for (const char* name : {"p-new", "p-own-old", "other", "key"}) EXPECT_TRUE(fs::exists(at(name)));
}

TEST_F(OwnFolderTest, RemovesFirstWhatWasUsedLongestAgo) {
  const OwnFolder folder(cache());
  const auto now = fs::file_time_type::clock::now();
  int hours = 5;
  for (const char* name : {"p-a", "p-b", "p-c", "other"}) {
    folder.keep(name, "subject", std::string(1000, 'x'));
    fs::last_write_time(at(name), now - std::chrono::hours(hours--));
  }
  EXPECT_NE(folder.kept("p-a", "subject"), "");
  folder.keep_at_most("p-", 2500);
  EXPECT_FALSE(fs::exists(at("p-b")));
  for (const char* name : {"p-a", "p-c", "other", "key"}) EXPECT_TRUE(fs::exists(at(name))) << name;
}

}  // namespace
}  // namespace kbench::process
