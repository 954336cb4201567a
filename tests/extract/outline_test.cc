// What is known of a manifest without reading it as YAML.
#include "libkbench/extraction/manifest_outline.h"
#include "tests/extract/support.h"

namespace kbench::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ManifestOutline, KnowsAManifest) {
  for (const char* text :
       {"kbench: 1\n", "task: 1/19\nkbench: 1", "# made by me\n---\nkbench: 1\n", "  kbench: 1\n",
        "\"kbench\": 1\n", "{kbench: 1}", "{\"task\": \"1/19\",\n \"kbench\": 1}", "kbench:\n  1\n",
        "task: level1/19\nkbench: 1\ndispatch:\n- {a: b\n"}) {
    EXPECT_TRUE(manifest_outline(text).kbench) << text;
  }
}

TEST(ManifestOutline, KnowsWhatIsNone) {
  for (const char* text :
       {"", "kbench", "run:\n  kbench: 1\n", "# kbench: 1\n", "{a: {kbench: 1}}", "- kbench: 1\n",
        "text: |\n  kbench: 1\n", "kbench_version: 1\n", "note: 'kbench: 1'\n", "[kbench: 1]"}) {
    EXPECT_FALSE(manifest_outline(text).kbench) << text;
  }
}

TEST(ManifestOutline, ReadsTaskAndFiles) {
  const ManifestOutline outline = manifest_outline(
      "kbench: 1\n"
      "task: \"level2/1\"  # the first\n"
      "kernels:\n"
      "  a: {file: a.comp, constants: {TILE: 16}}\n"
      "  b:\n"
      "    file: 'b.comp'\n"
      "  c:\n"
      "    source: |2-  # inline\n"
      "      // file: no.comp\n"
      "\n"
      "      task: level3/3\n"
      "  d: {\"file\":\"d.comp\"}\n"
      "dispatch:\n"
      "- {kernel: a, bind: [x], groups: [1]}\n");
  EXPECT_EQ(outline.task, "level2/1");
  EXPECT_THAT(outline.files, ElementsAre("a.comp", "b.comp", "d.comp"));
}

TEST(ManifestOutline, ReadsATypeThatIsOne) {
  EXPECT_EQ(manifest_outline("kbench: 1\ntask: 1/19\ndtype: f16  # alone\n").dtype, "f16");
  EXPECT_EQ(manifest_outline("kbench: 1\ntemps: {t: {dtype: f16, shape: [4]}}\n").dtype, "");
  EXPECT_EQ(manifest_outline("kbench: 1\ndtype: [f16, bf16]\n").dtype, "");
  EXPECT_EQ(manifest_outline("kbench: 1\ndtype:\n  - f16\n").dtype, "");
}

TEST(ManifestOutline, ReadsJson) {
  const ManifestOutline outline = manifest_outline(
      R"({"kernels": {"a": {"file": "a\/b.comp", "task": "x"}}, "task": "1/1", "kbench": 1})");
  EXPECT_TRUE(outline.kbench);
  EXPECT_EQ(outline.task, "1/1");
  EXPECT_THAT(outline.files, ElementsAre("a/b.comp"));
}

TEST(ManifestOutline, TakesAnything) {
  for (const char* text : {"}}}}", "{{{", "\"", "'", "a: \"\\", ":", ": :", "- - - ", "-", "{\"",
                           "|", "a: |", "#", "{#", "file:", "file: {"}) {
    EXPECT_FALSE(manifest_outline(text).kbench) << text;
    EXPECT_THAT(manifest_outline(text).files, IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace kbench::testing
