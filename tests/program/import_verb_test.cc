// kbench import: which files it takes, and what it says of those that it does not.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/import/support.h"
#include "tests/program/run_program.h"

namespace kbench::testing {
namespace {

using ::testing::HasSubstr;

TEST(ImportVerb, OneUnreadableFileDoesNotEndTheImport) {
  const ScratchFolder folder;
  write_file(folder / "1_19.py", relu_file());
  const Said said = run_program(
      {"import", "nowhere.py", "1_19.py", "--task", "relu", "--out", "all"}, folder.path());
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, HasSubstr("nowhere.py: unreadable: "));
  EXPECT_THAT(said.out, HasSubstr("1 of 2 imported; not imported: unreadable 1\n"));
  EXPECT_TRUE(std::filesystem::exists(folder / "all" / "level1_19_1_19.yaml"));
}

TEST(ImportVerb, TheFolderOfAFileNamesItsLevel) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder / "level1");
  write_file(folder / "level1" / "19_ReLU.py", relu_file());
  const Said said = run_program({"import", "19_ReLU.py"}, folder / "level1");
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("task: level1/19\n"));
}

TEST(ImportVerb, JsonHasALineAFile) {
  const ScratchFolder folder;
  write_file(folder / "relu.py", relu_file());
  write_file(folder / "empty.py", "");
  const Said said =
      run_program({"import", "relu.py", "empty.py", "--task", "1/19", "--json"}, folder.path());
  EXPECT_EQ(said.code, 1);
  const size_t end = said.out.find('\n');
  const auto relu = nlohmann::json::parse(said.out.substr(0, end));
  const auto empty = nlohmann::json::parse(said.out.substr(end + 1));
  EXPECT_EQ(relu["imported"], true);
  EXPECT_EQ(relu["task"], "level1/19");
  EXPECT_THAT(relu["yaml"].get<std::string>(), HasSubstr("relu_kernel"));
  EXPECT_EQ(empty["imported"], false);
  EXPECT_EQ(empty["obstacles"][0]["kind"], "no_model");
}

}  // namespace
}  // namespace kbench::testing
