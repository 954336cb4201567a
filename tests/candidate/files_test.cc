#include <algorithm>

#include "tests/candidate/support.h"

namespace kbench {
namespace {

namespace fs = std::filesystem;
using testing_support::expect_error;
using testing_support::ScratchFolder;

std::string yaml(const std::string& file) {
  return "kbench: 1\ntask: 1/19\nkernels:\n  k: {file: " + file +
         "}\ndispatch:\n  - {kernel: k, bind: [x, output], groups: 1}\n";
}

class CandidateFilesTest : public ::testing::Test {
 protected:
  CandidateFilesTest() {
    folder_.write("set/c.yaml", yaml("sub/k.comp"));
    folder_.write("set/sub/k.comp", "#version 450\n  #  include \"a.glsl\"\nvoid main() {}\n");
    folder_.write("set/sub/a.glsl", "#include <b.glsl>\n#include \"absent.glsl\"\n");
    folder_.write("set/b.glsl", "int b;\n");
    folder_.write("outside.comp", "void main() {}\n");
  }
  Candidate load() { return load_candidate(folder_.path("set/c.yaml")); }
  void refuse(const std::string& file, const std::string& message) {
    folder_.write("set/bad.yaml", yaml(file));
    expect_error([&] { load_candidate(folder_.path("set/bad.yaml")); }, 4, 13, message);
  }

  ScratchFolder folder_;
};

TEST_F(CandidateFilesTest, FindsIncludesBesideTheFileAndThenInTheFolder) {
  const Candidate c = load();
  ASSERT_EQ(c.kernels.size(), 1u);
  EXPECT_EQ(c.kernels[0].file, folder_.path("set/sub/k.comp"));
  const auto a = find_include(c, "a.glsl", c.kernels[0].file);
  ASSERT_TRUE(a.has_value());
  EXPECT_EQ(a->first, folder_.path("set/sub/a.glsl"));
  const auto b = find_include(c, "b.glsl", a->first);
  ASSERT_TRUE(b.has_value());
  EXPECT_EQ(b->first, folder_.path("set/b.glsl"));
  EXPECT_EQ(b->second, "int b;\n");
  EXPECT_FALSE(find_include(c, "absent.glsl", a->first).has_value());
  EXPECT_FALSE(find_include(c, "../outside.comp", c.kernels[0].file).has_value());
}

TEST_F(CandidateFilesTest, HashChangesWithEveryFile) {
  const std::string first = load().hash;
  EXPECT_EQ(load().hash, first);
  for (const char* name : {"set/c.yaml", "set/sub/k.comp", "set/sub/a.glsl", "set/b.glsl"}) {
    std::ifstream in(folder_.path(name));
    const std::string old((std::istreambuf_iterator<char>(in)), {});
    folder_.write(name, old + "\n");
    EXPECT_NE(load().hash, first) << name;
    folder_.write(name, old);
    EXPECT_EQ(load().hash, first) << name;
  }
  folder_.write("set/unrelated.glsl", "int u;\n");
  EXPECT_EQ(load().hash, first);
}

TEST_F(CandidateFilesTest, HashDoesNotDependOnWhereTheFolderIs) {
  const std::string first = load().hash;
  fs::rename(folder_.path("set"), folder_.path("moved"));
  EXPECT_EQ(load_candidate(folder_.path("moved/c.yaml")).hash, first);
}

TEST_F(CandidateFilesTest, RefusesPathsThatLeaveTheFolder) {
  refuse("../outside.comp", "leaves the folder by '..'");
  refuse("sub/../../outside.comp", "leaves the folder by '..'");
  refuse(folder_.path("outside.comp"), "is absolute");
  refuse("/etc/passwd.comp", "is absolute");
  fs::create_symlink(folder_.path("outside.comp"), folder_.path("set/link.comp"));
  refuse("link.comp", "leaves the folder through a symbolic link");
  fs::create_directory_symlink(folder_.path(), folder_.path("set/up"));
  refuse("up/outside.comp", "leaves the folder through a symbolic link");
  fs::create_symlink("sub/k.comp", folder_.path("set/inside.comp"));
  folder_.write("set/good.yaml", yaml("inside.comp"));
  EXPECT_NO_THROW(load_candidate(folder_.path("set/good.yaml")));
}

TEST_F(CandidateFilesTest, RefusesIncludesThatLeaveTheFolder) {
  folder_.write("set/sub/k.comp", "#version 450\n  #include \"../../outside.comp\"\n");
  expect_error([&] { load(); }, 2, 12, "leaves the folder by '..'");
  folder_.write("set/sub/k.comp", "#include </etc/passwd>\n");
  expect_error([&] { load(); }, 1, 10, "is absolute");
  fs::create_symlink(folder_.path("outside.comp"), folder_.path("set/sub/link.glsl"));
  folder_.write("set/sub/k.comp", "#include \"link.glsl\"\n");
  expect_error([&] { load(); }, 1, 10, "symbolic link");
}

TEST_F(CandidateFilesTest, IncludesMayFormCircles) {
  folder_.write("set/b.glsl", "#include \"sub/a.glsl\"\n");
  EXPECT_EQ(load().includes.size(), 2u);
}

TEST_F(CandidateFilesTest, RefusesWhatCannotBeRead) {
  refuse("absent.comp", "there is no file");
  fs::create_directory(folder_.path("set/dir.comp"));
  refuse("dir.comp", "is not a regular file");
  folder_.write("set/long.comp", std::string((4 << 20) + 1, ' '));
  refuse("long.comp", "is too long: 4194305 bytes");
  folder_.write("set/k.spv", "not SPIR-V..");
  refuse("k.spv", "is not a little-endian SPIR-V module");
  folder_.write("set/k.spv", std::string("\x03\x02\x23\x07\x00\x05\x01", 7));
  refuse("k.spv", "is not a little-endian SPIR-V module");
}

TEST_F(CandidateFilesTest, ReadsSpirv) {
  folder_.write("set/k.spv", std::string("\x03\x02\x23\x07\x00\x05\x01\x00", 8));
  folder_.write("set/c.yaml", yaml("k.spv"));
  const Candidate c = load();
  EXPECT_EQ(c.kernels[0].language, Kernel::Language::spirv);
  EXPECT_EQ(c.kernels[0].spirv, (std::vector<uint32_t>{0x07230203, 0x00010500}));
  folder_.write("set/bad.yaml", yaml("k.spv, constants: {A: 1}"));
  expect_error([&] { load_candidate(folder_.path("set/bad.yaml")); }, 4, 20,
               "use 'specialization'");
}

TEST_F(CandidateFilesTest, LoadsAFolder) {
  fs::rename(folder_.path("set/c.yaml"), folder_.path("set/candidate.yaml"));
  EXPECT_EQ(load_candidate(folder_.path("set")).task, (TaskId{1, 19}));
  EXPECT_THROW(load_candidate(folder_.path("set/sub")), Error);
  EXPECT_THROW(load_candidate(folder_.path("nowhere.yaml")), Error);
}

TEST_F(CandidateFilesTest, ListsASet) {
  folder_.write("set/sub/z.yaml", yaml("k.comp"));
  folder_.write("set/a.yml", "");
  EXPECT_EQ(candidate_files(folder_.path("set")),
            (std::vector<std::string>{folder_.path("set/c.yaml"), folder_.path("set/sub/z.yaml")}));
  EXPECT_EQ(candidate_files(folder_.path("set/c.yaml")).size(), 1u);
  EXPECT_THROW(candidate_files(folder_.path("nothing")), Error);
}

}  // namespace
}  // namespace kbench
