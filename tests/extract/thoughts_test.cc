// Thoughts that stand in the text are cut off.
#include "tests/extract/support.h"

namespace kbench::testing {
namespace {

using ::testing::IsEmpty;

const std::string kDraft =
    fence("yaml", "kbench: 1\ntask: level1/20\n") + fence("glsl draft.comp", "#version 450\n");

TEST(Thoughts, AreCutOffUpToTheLastEndTag) {
  for (const std::string& text :
       {"<think>\nMaybe\n\n" + kDraft + "\n</think>\n" + good_answer(),
        "Maybe\n\n" + kDraft + "\n</think>\n\n" + good_answer(),
        "Maybe\n\n" + kDraft + "\n</THINKING>" + good_answer(),
        "<think>a</think>\n" + kDraft + "<think>b</think>\n" + good_answer(),
        "<think>\nhm\n</think>\n" + fence("yaml", kManifestText) +
            fence("glsl relu.comp", kShaderText),
        // A fence is left open.
        "<think>\nso\n```glsl\nvoid main() {\n</think>\n\n" + good_answer(),
        "<think>\nso\n```glsl\nvoid main() {\n</think>" + fence("yaml", kManifestText) +
            fence("glsl relu.comp", kShaderText),
        // The model said that it was done.
        "<think>\n" + good_answer()}) {
    SCOPED_TRACE(text);
    const Extraction found = extracted(text);
    expect_relu(found);
    EXPECT_THAT(found.leniencies, IsEmpty());
  }
  EXPECT_EQ(extracted("<think>" + kDraft + "</think>\nI give up.").outcome, Outcome::no_candidate);
  EXPECT_EQ(extracted("<think>\n" + kDraft, "length").outcome, Outcome::truncated);
  EXPECT_EQ(extracted(" \n<Reasoning>" + good_answer(), "length").outcome, Outcome::truncated);
}

TEST(Thoughts, ATagInsideAFenceIsCode) {
  const std::string shader = "#version 450\n// see </think>\nvoid main() {}\n";
  const Extraction found =
      extracted(fence("yaml", kManifestText) + fence("glsl relu.comp", shader));
  EXPECT_EQ(found.outcome, Outcome::candidate);
  EXPECT_EQ(found.files.at("relu.comp"), shader);
}

TEST(Thoughts, ThatEndOnAFencesLine) {
  for (const char* end : {"```</think>", "``` </think>", "  ```</think>", "~~~ </think>",
                          "> ```</think>", "````</think>"}) {
    const std::string fence = std::string(end).find('~') == std::string::npos ? "```" : "~~~";
    expect_relu(extracted("<think>\nso\n" + fence + "glsl\nvoid main() {\n" + end + "\n\n" +
                          good_answer()));
    expect_relu(
        extracted("<think>a</think>\n" + fence + "glsl\nvoid main() {\n" + end + good_answer()));
  }
}

TEST(Thoughts, TagsAreAMatterOfTheModel) {
  Answer answer;
  answer.text = kDraft + "</ponder>" + good_answer();
  answer.finish = "stop";
  const Extraction found = extract(answer, {1, 19}, {.thinking_tags = {"ponder"}});
  expect_relu(found);
  EXPECT_THAT(found.leniencies, IsEmpty());
}

}  // namespace
}  // namespace kbench::testing
