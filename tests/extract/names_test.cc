// Where blocks' names are looked for, and what becomes of them.
#include "libkbench/extraction/answer_names.h"
#include "tests/extract/support.h"

namespace kbench::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Names, OnTheFence) {
  for (const char* info :
       {"glsl relu.comp", "relu.comp", "glsl file=relu.comp", "glsl title=\"relu.comp\"",
        "glsl:relu.comp", "{.glsl file='relu.comp'}", "glsl (relu.comp)", "glsl `relu.comp`",
        "c++ linenums filename=relu.comp", "glsl ./relu.comp",
        "glsl \x93relu.comp\x94",                     // Windows-1252
        "glsl \xc2\x93relu.comp\xc2\x94",             // the same, taken for Latin-1
        "glsl \xe2\x80\x9crelu.comp\xe2\x80\x9d"}) {  // UTF-8
    const BlockName name = block_name(info, "", "void main() {}");
    EXPECT_EQ(name.path, "relu.comp") << info;
    EXPECT_FALSE(name.in_line || name.unsafe) << info;
  }
  EXPECT_EQ(block_name("glsl shaders/a.b-c_D.hlsl", "", "").path, "shaders/a.b-c_D.hlsl");
  for (const char* info :
       {"glsl", "", "glsl relu", "glsl .comp", "c relu.c", "glsl version=4.50"}) {
    EXPECT_EQ(block_name(info, "", "").path, "") << info;
  }
}

TEST(Names, OnTheLineBefore) {
  for (const char* line :
       {"relu.comp\n", "**relu.comp**\n", "`relu.comp`:\n", "### relu.comp\r\n", "## `relu.comp`",
        "File: relu.comp", "**File:** `relu.comp`", "### File 2: relu.comp", "2. relu.comp",
        "- relu.comp", "> relu.comp", "__relu.comp__", "\"relu.comp\"", "(relu.comp)",
        "filename = relu.comp"}) {
    const BlockName name = block_name("glsl", line, "void main() {}");
    EXPECT_EQ(name.path, "relu.comp") << line;
    EXPECT_TRUE(name.in_line) << line;
  }
  for (const char* line :
       {"Now relu.comp follows:", "The shader:", "```", "relu", "", "relu.txt"}) {
    EXPECT_EQ(block_name("glsl", line, "void main() {}").path, "") << line;
  }
}

TEST(Names, OfKernelsInEveryLanguage) {
  for (const char* name :
       {"relu.comp", "relu.hlsl", "relu.cu", "rows.cuh", "relu.ptx", "relu.py"}) {
    EXPECT_EQ(block_name(std::string("text ") + name, "", "").path, name);
    EXPECT_EQ(block_name("", std::string("### ") + name, "").path, name);
  }
}

TEST(Names, InTheFirstLinesComment) {
  for (const char* text : {"// relu.comp\nvoid main() {}", "/* relu.comp */\n", "# relu.comp\n",
                           "\n  // file: relu.comp\n", "// relu.comp"}) {
    const BlockName name = block_name("glsl", "The shader:", text);
    EXPECT_EQ(name.path, "relu.comp") << text;
    EXPECT_TRUE(name.in_line) << text;
  }
  for (const char* text :
       {"#version 450\n", "// relu.comp does it\n", "void main() {}\n//relu.comp"}) {
    EXPECT_EQ(block_name("glsl", "", text).path, "") << text;
  }
}

TEST(Names, TheFenceIsAskedFirst) {
  EXPECT_EQ(block_name("glsl a.comp", "b.comp", "// c.comp").path, "a.comp");
  EXPECT_EQ(block_name("glsl", "b.comp", "// c.comp").path, "b.comp");
}

TEST(Names, AreMadeSafe) {
  const auto safe = [](const std::string& text) { return safe_name(text); };
  EXPECT_EQ(safe("../../etc/relu.comp").path, "etc/relu.comp");
  EXPECT_TRUE(safe("../relu.comp").unsafe);
  EXPECT_EQ(safe("/etc/relu.comp").path, "etc/relu.comp");
  EXPECT_TRUE(safe("/relu.comp").unsafe);
  EXPECT_EQ(safe("a/./b//relu.comp").path, "a/b/relu.comp");
  EXPECT_FALSE(safe("./a//relu.comp").unsafe);
  EXPECT_EQ(safe("..\\relu.comp").path, "relu.comp");
  EXPECT_EQ(safe("re\x01lu\xc3\xa9.comp").path, "re_lu__.comp");
  EXPECT_TRUE(safe("re lu.comp").unsafe);
  EXPECT_EQ(safe("..").path, "");
  EXPECT_EQ(safe(std::string(1025, 'a')).path, "");
}

TEST(Names, ThatLeadOutOfTheFolder) {
  const Extraction found =
      extracted(fence("yaml", kManifestText) + fence("glsl ../relu.comp", kShaderText));
  expect_relu(found);
  EXPECT_THAT(found.leniencies, ElementsAre("unsafe_name"));
}

TEST(Names, OfTwoShadersTheLast) {
  const Extraction found =
      extracted(fence("yaml", kManifestText) + fence("glsl relu.comp", "#version 440\n") +
                fence("glsl relu.comp", kShaderText));
  expect_relu(found);
  EXPECT_THAT(found.leniencies, ElementsAre("repeated_name"));
}

TEST(Names, AFolderOfTheManifestsOwn) {
  const Extraction found = extracted(fence("yaml my/candidate.yaml", kManifestText) +
                                     fence("glsl my/relu.comp", kShaderText));
  expect_relu(found);
  EXPECT_THAT(found.leniencies, ElementsAre("folder_name"));
  // Not where the manifest means it.
  const std::string manifest = "kbench: 1\nkernels: {relu: {file: my/relu.comp}}\n";
  const Extraction meant = extracted(fence("yaml my/candidate.yaml", manifest) +
                                     fence("glsl my/relu.comp", kShaderText));
  EXPECT_TRUE(meant.files.contains("my/relu.comp"));
  EXPECT_THAT(meant.leniencies, IsEmpty());
}

/// What is said of an answer with files of these names beside candidate.yaml.
std::string refused(const std::vector<std::string>& names) {
  std::string text = fence("yaml", kManifestText) + fence("glsl relu.comp", kShaderText);
  for (const std::string& name : names) text += fence("glsl " + name, kShaderText);
  const Extraction found = extracted(text);
  EXPECT_EQ(found.outcome, Outcome::no_candidate);
  EXPECT_THAT(found.files, IsEmpty());
  return found.explanation;
}

TEST(Names, ThatCannotLieInOneFolderAreRefused) {
  EXPECT_EQ(refused({"relu.comp/x.comp"}),
            "the files cannot be written: 'relu.comp' is a file, and cannot be the folder of "
            "'relu.comp/x.comp' too; give one of them another name");
  EXPECT_THAT(refused({"candidate.yaml/k.comp"}), HasSubstr("'candidate.yaml' is a file"));
  EXPECT_THAT(refused({"answer.md/k.comp"}), HasSubstr("no folder can be called 'answer.md'"));
  EXPECT_THAT(refused({"feedback.txt/k.comp"}), HasSubstr("'feedback.txt'"));
  EXPECT_THAT(refused({std::string(300, 'k') + ".comp"}), HasSubstr("longer than the 200 letters"));
  EXPECT_THAT(refused({std::string(300, 'k') + "/k.comp"}), HasSubstr("longer than"));
}

TEST(Names, OfFoldersAndFilesThatOnlyLookAlike) {
  EXPECT_EQ(why_not_in_one_folder({{"a/b/k.comp", ""}, {"a/k.comp", ""}, {"a.comp", ""}}), "");
  EXPECT_EQ(why_not_in_one_folder({{"a/answer.md/k.comp", ""}, {"answer.md.comp", ""}}), "");
  EXPECT_EQ(why_not_in_one_folder({{std::string(200, 'k'), ""}}), "");
}

TEST(Names, OnLinesBeforeBothBlocks) {
  const Extraction found = extracted("**candidate.yaml**\n\n" + fence("yaml", kManifestText) +
                                     "\n**relu.comp**\n" + fence("glsl", kShaderText));
  expect_relu(found);
  EXPECT_THAT(found.leniencies, ElementsAre("inline_name"));
}

}  // namespace
}  // namespace kbench::testing
