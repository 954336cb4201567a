#include "libkbench/base/files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "kbench/candidate_limits.h"
#include "kbench/candidate_source.h"
#include "tests/candidate/support.h"
#include "tests/error_of.h"

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

TEST_F(CandidateFilesTest, FindsIncludesBesideTheFileThenBelow) {
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
  refuse("sub/.", "the name must end in");
}

TEST_F(CandidateFilesTest, FollowsNoSymbolicLinkNotEvenInside) {
  fs::create_symlink(folder_.path("outside.comp"), folder_.path("set/link.comp"));
  refuse("link.comp", "file 'link.comp' is a symbolic link");
  fs::create_directory_symlink(folder_.path(), folder_.path("set/up"));
  refuse("up/outside.comp", "is a symbolic link or lies behind one");
  fs::create_symlink("sub/k.comp", folder_.path("set/inside.comp"));
  refuse("inside.comp", "is a symbolic link");
}

TEST_F(CandidateFilesTest, ShowsNothingOfTheTargetOfALink) {
  folder_.write("secret", "root:x:0:0\n");
  fs::create_symlink(folder_.path("secret"), folder_.path("set/linked.yaml"));
  ASSERT_EQ(candidate_files(folder_.path("set")).size(), 2u);
  const Error error = error_of([&] { load_candidate(folder_.path("set/linked.yaml")); });
  EXPECT_THAT(error.what(), ::testing::HasSubstr("set/linked.yaml: file 'linked.yaml' is a symb"));
  EXPECT_THAT(error.what(), ::testing::Not(::testing::HasSubstr("root")));
}

TEST_F(CandidateFilesTest, RefusesIncludesThatLeaveTheFolder) {
  folder_.write("set/sub/k.comp", "#version 450\n  #include \"../../outside.comp\"\n");
  expect_error([&] { load(); }, 2, 12, "leaves the folder by '..'");
  folder_.write("set/sub/k.comp", "#include </etc/passwd>\n");
  expect_error([&] { load(); }, 1, 10, "is absolute");
  folder_.write("set/sub/k.comp", "#include \"a\x1b[2Jb\"\n");
  expect_error([&] { load(); }, 1, 10,
               "'a\\x1b[2Jb' holds a character that paths cannot have here");
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
  folder_.write("set/task.yaml", "# A task of one's own.\nkbench_task: 1\nname: my/task\n");
  EXPECT_EQ(candidate_files(folder_.path("set")),
            (std::vector<std::string>{folder_.path("set/c.yaml"), folder_.path("set/sub/z.yaml")}));
  EXPECT_EQ(candidate_files(folder_.path("set/c.yaml")).size(), 1u);
  EXPECT_THROW(candidate_files(folder_.path("nothing")), Error);
}

TEST_F(CandidateFilesTest, LoadsFromMemoryWhatItLoadsFromDisk) {
  const Candidate disk = load();
  const std::map<std::string, std::string> files = {{"c.yaml", yaml("sub/k.comp")},
                                                    {"sub/k.comp", disk.kernels[0].source},
                                                    {"sub/a.glsl", disk.includes.at("sub/a.glsl")},
                                                    {"b.glsl", disk.includes.at("b.glsl")}};
  const Candidate memory = candidate_from_files("c.yaml", files);
  EXPECT_EQ(memory.hash, disk.hash);
  EXPECT_EQ(memory.includes, disk.includes);
  EXPECT_EQ(memory.kernels[0].file, "sub/k.comp");
  EXPECT_EQ(find_include(memory, "a.glsl", "sub/k.comp")->first, "sub/a.glsl");
  EXPECT_EQ(find_include(memory, "b.glsl", "sub/a.glsl")->second, "int b;\n");
  EXPECT_THROW(candidate_from_files("absent.yaml", files), Error);
  EXPECT_THROW(candidate_from_files("../c.yaml", files), Error);
}

TEST_F(CandidateFilesTest, PutsThePlaceInAnErrorOfTheReader) {
  const ReadFile read = [&](const std::string& path) -> std::optional<std::string> {
    if (path == "c.yaml") return yaml("sub/k.comp");
    throw Error(ErrorCode::kIo, "the reader refuses " + path);
  };
  expect_error([&] { load_candidate("c.yaml", "shown", read); }, 4, 13,
               "the reader refuses sub/k.comp");
  const ReadFile silent = [&](const std::string&) -> std::optional<std::string> {
    throw Error(ErrorCode::kIo, "gone");
  };
  expect_error([&] { load_candidate("c.yaml", "shown", silent); }, 0, 0, "gone");
}

TEST_F(CandidateFilesTest, LimitsFilesAndBytes) {
  std::map<std::string, std::string> files = {{"c.yaml", yaml("k.comp")}};
  const auto refuse_map = [&](int line, int column, const std::string& message) {
    expect_error([&] { candidate_from_files("c.yaml", files); }, line, column, message);
  };
  for (size_t i = 0; i < limits::kLookups; ++i) {
    files["k.comp"] += "#include \"absent" + std::to_string(i) + "\"\n";
  }
  refuse_map(1024, 10, "can name at most 1024 different files");
  files["k.comp"].clear();
  for (size_t i = 0; i < limits::kFiles; ++i) {
    const std::string name = "f" + std::to_string(i);
    files[name] = " ";
    files["k.comp"] += "#include \"" + name + "\"\n";
  }
  refuse_map(256, 10, "at most 256 files");
  for (int i = 0; i < 4; ++i) files["f" + std::to_string(i)] = std::string(4 << 20, ' ');
  refuse_map(4, 10, "at most 16777216 bytes together");
  files["f0"] += ' ';
  refuse_map(1, 10, "is too long: 4194305 bytes");
  files["c.yaml"] = std::string((1 << 20) + 1, ' ');
  refuse_map(0, 0, "'c.yaml' is too long: 1048577 bytes");
  files["c.yaml"] = yaml(std::string(1025, 'a') + ".comp");
  refuse_map(4, 13, "has more than 1024 bytes");
}

TEST_F(CandidateFilesTest, TheFolderRefusesWhateverItIsAskedFor) {
  CandidateFolder open(folder_.path("set"));
  const auto refuse_path = [&](const std::string& path, const std::string& message) {
    expect_error([&] { open.read(path); }, 0, 0, message);
  };
  EXPECT_EQ(open.read("b.glsl"), "int b;\n");
  EXPECT_EQ(open.read("absent"), std::nullopt);
  EXPECT_EQ(open.read("b.glsl/below"), std::nullopt);
  refuse_path("../outside.comp", "leaves the folder by '..'");
  refuse_path("/etc/passwd", "is absolute");
  refuse_path("", "is empty");
  refuse_path(std::string("b.glsl\0", 7), "holds a character");
  refuse_path("sub", "is not a regular file");
  refuse_path("sub/", "names a folder");
  refuse_path(std::string(300, 'a'), "File name too long");
  ASSERT_EQ(::mkfifo(folder_.path("set/pipe").c_str(), 0600), 0);
  refuse_path("pipe", "is not a regular file");
  // What the name stands for later is another folder.
  fs::rename(folder_.path("set"), folder_.path("moved"));
  folder_.write("set/b.glsl", "other");
  EXPECT_EQ(open.read("b.glsl"), "int b;\n");
  for (size_t i = 2; i <= limits::kFiles; ++i) open.read("b.glsl");
  refuse_path("b.glsl", "at most 256 files");
  EXPECT_THROW(CandidateFolder(folder_.path("nowhere")), Error);
}

TEST_F(CandidateFilesTest, OpensBeneathTheSameWithAndWithoutOpenat2) {
  fs::create_directory_symlink("sub", folder_.path("set/linked"));
  fs::create_symlink("b.glsl", folder_.path("set/link.glsl"));
  const int folder = ::open(folder_.path("set").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  ASSERT_GE(folder, 0);
  for (const auto& [path, expected] : std::map<std::string, int>{{"sub/k.comp", 0},
                                                                 {"b.glsl", 0},
                                                                 {"absent", ENOENT},
                                                                 {"sub/absent", ENOENT},
                                                                 {"b.glsl/x", ENOTDIR},
                                                                 {"link.glsl", ELOOP},
                                                                 {"linked/k.comp", ELOOP},
                                                                 {"../outside.comp", EXDEV},
                                                                 {"/etc/passwd", EXDEV}}) {
    for (const auto open : {open_beneath, open_beneath_by_parts}) {
      errno = 0;
      const int fd = open(folder, path);
      EXPECT_EQ(errno, expected) << path;
      EXPECT_EQ(fd >= 0, expected == 0) << path;
      if (fd >= 0) ::close(fd);
    }
  }
  ::close(folder);
}

}  // namespace
}  // namespace kbench
