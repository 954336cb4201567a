#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "harness/measure/judge/baseline_process.h"
#include "tests/candidate/support.h"

namespace kbench::judge {
namespace {

class VerifiedNotesTest : public ::testing::Test {
 protected:
  std::string cache() const { return folder_.path("cache"); }
  std::string notes_file() const {
    for (const auto& each : std::filesystem::directory_iterator(cache())) {
      if (each.path().filename().string().starts_with("verified-")) return each.path().string();
    }
    return "";
  }
  testing_support::ScratchFolder folder_;
};

TEST_F(VerifiedNotesTest, AreKeptFromOneJudgeToTheNext) {
  VerifiedNotes first(process::OwnFolder(cache()), "build device driver");
  EXPECT_FALSE(first.has({1, 19}));
  first.add({1, 19});
  EXPECT_TRUE(first.has({1, 19}));
  const VerifiedNotes second(process::OwnFolder(cache()), "build device driver");
  EXPECT_TRUE(second.has({1, 19}));
  EXPECT_FALSE(second.has({1, 20}));
}

TEST_F(VerifiedNotesTest, OfAnotherBuildOrDeviceAreNotSeen) {
  VerifiedNotes(process::OwnFolder(cache()), "build a").add({1, 19});
  const std::string of_a = notes_file();
  EXPECT_FALSE(VerifiedNotes(process::OwnFolder(cache()), "build b").has({1, 19}));
  // Nor where they are put in its place.
  VerifiedNotes(process::OwnFolder(cache()), "build b").add({1, 20});
  for (const auto& each : std::filesystem::directory_iterator(cache())) {
    if (each.path().string() != of_a && each.path().filename() != "key") {
      std::filesystem::copy_file(of_a, each.path(),
                                 std::filesystem::copy_options::overwrite_existing);
    }
  }
  EXPECT_FALSE(VerifiedNotes(process::OwnFolder(cache()), "build b").has({1, 19}));
}

TEST_F(VerifiedNotesTest, WithoutASignatureAreIgnored) {
  VerifiedNotes(process::OwnFolder(cache()), "build").add({1, 19});
  std::ifstream in(notes_file());
  std::string line{std::istreambuf_iterator<char>(in), {}};
  std::ofstream(notes_file(), std::ios::app)
      << "level1/20 " << line.substr(line.find(' ') + 1) << "level1/21\nlevel9/1 00\n\x01\n";
  const VerifiedNotes notes(process::OwnFolder(cache()), "build");
  EXPECT_TRUE(notes.has({1, 19}));
  EXPECT_FALSE(notes.has({1, 20}));
  EXPECT_FALSE(notes.has({1, 21}));
}

TEST_F(VerifiedNotesTest, AreNotKeptWhereOthersMayWrite) {
  std::filesystem::create_directory(cache());
  chmod(cache().c_str(), 0777);
  VerifiedNotes(process::OwnFolder(cache()), "build").add({1, 19});
  EXPECT_FALSE(VerifiedNotes(process::OwnFolder(cache()), "build").has({1, 19}));
  EXPECT_TRUE(std::filesystem::is_empty(cache()));
}

TEST_F(VerifiedNotesTest, WithoutAFolderThereAreNone) {
  VerifiedNotes notes;
  notes.add({1, 19});
  EXPECT_FALSE(notes.has({1, 19}));
  VerifiedNotes nowhere(process::OwnFolder(""), "build");
  nowhere.add({1, 19});
  EXPECT_FALSE(nowhere.has({1, 19}));
}

TEST(BuildIdentity, IsAHashOfTheProgram) { EXPECT_EQ(build_identity().size(), 64u); }

}  // namespace
}  // namespace kbench::judge
