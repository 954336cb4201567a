// What is found in answers, and what is said where nothing is.
#include "tests/extract/support.h"

namespace kbench::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(Extract, AnAnswerThatKeepsTheContract) {
  const Extraction found = extracted(good_answer());
  expect_relu(found);
  EXPECT_THAT(found.leniencies, IsEmpty());
  EXPECT_EQ(found.explanation, "candidate.yaml, relu.comp");
}

TEST(Extract, WhereThereIsNothingItSaysWhatThereIsInstead) {
  const Extraction prose =
      extracted("I would use one thread an element. kbench: 1 is the version.");
  EXPECT_EQ(prose.outcome, Outcome::no_candidate);
  EXPECT_THAT(prose.files, IsEmpty());
  EXPECT_THAT(prose.explanation, HasSubstr("the answer has no fenced block"));
  EXPECT_THAT(extracted("").explanation, HasSubstr("the answer is empty"));
  EXPECT_THAT(extracted(" \n\n").explanation, HasSubstr("the answer is empty"));
  EXPECT_EQ(
      extracted(fence("glsl relu.comp", kShaderText) + fence("python", "a\n") + fence("", "x\n"))
          .explanation,
      "no candidate: no ```yaml block has a top-level 'kbench:', and no ```python block "
      "defines a class ModelNew; its fenced blocks are: glsl relu.comp, python, untagged");
  const Extraction hidden = extracted("```\x1b[31m\nx\n```\n");
  EXPECT_EQ(hidden.explanation.find('\x1b'), std::string::npos);
  EXPECT_THAT(hidden.explanation, HasSubstr("\\x1b"));
}

TEST(Extract, OneFenceWithInlineSource) {
  const std::string manifest =
      "kbench: 1\ntask: 1/19\nkernels:\n  relu:\n    source: |\n      #version 450\n"
      "      // file: other.comp\n      void main() {}\n";
  const Extraction found = extracted(fence("yaml", manifest));
  EXPECT_EQ(found.outcome, Outcome::candidate);
  EXPECT_THAT(found.files, ElementsAre(Pair("candidate.yaml", manifest)));
  EXPECT_EQ(found.explanation, "candidate.yaml");
}

TEST(Extract, OfTwoDraftsTheLast) {
  const std::string draft = fence("yaml", "kbench: 1\ntask: level1/19\n# draft\n") +
                            fence("glsl relu.comp", "#version 450\n// draft\n");
  const Extraction found =
      extracted(draft + "\nThat is too slow. Final version:\n\n" + good_answer());
  expect_relu(found);
  EXPECT_THAT(found.leniencies, ElementsAre("repeated_name", "several_manifests"));
}

TEST(Extract, FencesInListsQuotesAndHtmlAndIndentedOnes) {
  for (const std::string& text :
       {std::string(
            "1. The manifest:\n\n   ```yaml\n   kbench: 1\n   task: level1/19\n   kernels:\n"
            "     relu: {file: relu.comp}\n   ```\n\n2. The shader:\n\n   ```glsl relu.comp\n"
            "   #version 450\n   void main() {}\n   ```\n"),
        std::string("> ```yaml\n> kbench: 1\n> task: level1/19\n> kernels:\n"
                    ">   relu: {file: relu.comp}\n> ```\n>\n> ```glsl relu.comp\n"
                    "> #version 450\n> void main() {}\n> ```\n"),
        "      ```yaml\n      kbench: 1\n      task: level1/19\n      kernels:\n"
        "        relu: {file: relu.comp}\n      ```\n\n" +
            fence("glsl relu.comp", kShaderText),
        "<answer>\n" + fence("yaml", kManifestText) + fence("glsl relu.comp", kShaderText) +
            "</answer>\n"}) {
    SCOPED_TRACE(text);
    expect_relu(extracted(text));
  }
}

TEST(Extract, TildesAndLongerFences) {
  const std::string shader = "#version 450\n// ```\n```\nvoid main() {}\n";
  const Extraction found =
      extracted(fence("yaml", kManifestText, "~~~") + fence("glsl relu.comp", shader, "````"));
  EXPECT_EQ(found.files.at("candidate.yaml"), kManifestText);
  EXPECT_EQ(found.files.at("relu.comp"), shader);
  EXPECT_THAT(found.leniencies, IsEmpty());
}

TEST(Extract, CarriageReturnsAndAByteOrderMark) {
  std::string text =
      "\xef\xbb\xbf" + fence("yaml", kManifestText) + fence("glsl relu.comp", kShaderText);
  for (size_t at = 0; (at = text.find('\n', at)) != text.npos; at += 2) text.insert(at, "\r");
  expect_relu(extracted(text));
  EXPECT_THAT(extracted(text).leniencies, IsEmpty());
}

TEST(Extract, AnUnclosedFenceCountsWhereTheModelHadFinished) {
  const std::string text = fence("yaml", kManifestText) + "\n```glsl relu.comp\n" + kShaderText;
  const Extraction found = extracted(text);
  expect_relu(found);
  EXPECT_THAT(found.leniencies, ElementsAre("unclosed_fence"));

  const Extraction cut = extracted(text, "length");
  EXPECT_EQ(cut.outcome, Outcome::truncated);
  EXPECT_THAT(cut.files, IsEmpty());
  EXPECT_THAT(cut.explanation, HasSubstr("inside the last block"));
}

TEST(Extract, AnUnclosedManifestWhereTheModelHadFinished) {
  for (const char* text : {"```yaml\nkbench: 1\ntask: level1/19\n",
                           "- ```yaml\n  kbench: 1\n  task: level1/19\n\nThat is all.\n"}) {
    const Extraction found = extracted(text);
    EXPECT_EQ(found.outcome, Outcome::candidate) << text;
    EXPECT_THAT(found.leniencies, ElementsAre("unclosed_fence")) << text;
  }
}

TEST(Extract, CutOff) {
  EXPECT_EQ(extracted("", "length").outcome, Outcome::truncated);
  EXPECT_EQ(extracted("Let me see.", "length").outcome, Outcome::truncated);
  // A shader is still to come.
  const Extraction found = extracted(fence("yaml", kManifestText) + "\nAnd the shad", "length");
  EXPECT_EQ(found.outcome, Outcome::truncated);
  EXPECT_THAT(found.explanation, HasSubstr("relu.comp"));
  // Whole before it was cut off: what is lost is talk.
  expect_relu(extracted(good_answer() + "\nThis kernel uses", "length"));
  expect_relu(extracted(good_answer() + "\n```bash\nkbench ru", "length"));
  // A second draft is not completed from the first.
  EXPECT_EQ(extracted(good_answer() + "\nBetter:\n\n```yaml\nkbench: 1\n", "length").outcome,
            Outcome::truncated);
}

TEST(Extract, RefusedAndTooLong) {
  EXPECT_EQ(extracted(good_answer(), "content_filter").outcome, Outcome::refused);
  EXPECT_EQ(extracted("", "refusal").outcome, Outcome::refused);
  EXPECT_EQ(extracted("", "context_length").outcome, Outcome::too_long);
}

TEST(Extract, ThoughtsApartAreNotSearched) {
  Answer answer;
  answer.reasoning = good_answer();
  answer.text = "I could not do it.";
  answer.finish = "stop";
  EXPECT_EQ(extract(answer, {1, 19}).outcome, Outcome::no_candidate);
}

TEST(Extract, AnotherTask) {
  std::string text = good_answer();
  text.replace(text.find("level1/19"), 9, "level1/20");
  const Extraction found = extracted(text);
  EXPECT_EQ(found.outcome, Outcome::wrong_task);
  EXPECT_EQ(found.files.size(), 2u);
  EXPECT_EQ(found.explanation, "the candidate is for level1/20, and level1/19 was asked for");

  Answer answer;
  answer.text = text;
  answer.finish = "stop";
  EXPECT_EQ(extract(answer, TaskId{}).outcome, Outcome::candidate);  // any task is asked for
}

TEST(Extract, TheSameTaskInOtherWords) {
  for (const std::string task : {"1/19", "\"level1/19\"", "'1/19'  # ReLU", "no such thing"}) {
    std::string text = good_answer();
    text.replace(text.find("level1/19"), 9, task);
    EXPECT_EQ(extracted(text).outcome, Outcome::candidate) << task;
  }
}

TEST(Extract, AJsonManifest) {
  const std::string manifest =
      "{\n  \"kbench\": 1,\n  \"task\": \"level1/19\",\n"
      "  \"kernels\": {\"relu\": {\"file\": \"relu.comp\"}}\n}\n";
  const Extraction found = extracted(fence("json", manifest) + fence("glsl", kShaderText));
  EXPECT_EQ(found.outcome, Outcome::candidate) << found.explanation;
  EXPECT_EQ(found.files.at("candidate.yaml"), manifest);
  EXPECT_EQ(found.files.at("relu.comp"), kShaderText);
  EXPECT_THAT(found.leniencies, ElementsAre("joined_name", "untagged_manifest"));
}

TEST(Extract, AnUntaggedManifest) {
  const Extraction found =
      extracted(fence("", kManifestText) + fence("glsl relu.comp", kShaderText));
  expect_relu(found);
  EXPECT_THAT(found.leniencies, ElementsAre("untagged_manifest"));
  // Not where it is another language's.
  EXPECT_EQ(extracted(fence("python", kManifestText)).outcome, Outcome::no_candidate);
}

TEST(Extract, CudaAndTriton) {
  const auto manifest = [](const std::string& file) {
    return fence("yaml", "kbench: 1\ntask: level1/19\nkernels:\n  relu: {file: " + file + "}\n");
  };
  const std::string cuda = "__global__ void relu(const float* x, float* y) {}\n";
  const std::string triton = "import triton\n\n@triton.jit\ndef relu(x, y):\n    pass\n";
  for (const char* info : {"cuda relu.cu", "cpp relu.cu", "cuda", "cu", "cpp", "c++", ""}) {
    const Extraction found = extracted(manifest("relu.cu") + fence(info, cuda));
    EXPECT_EQ(found.outcome, Outcome::candidate) << info;
    EXPECT_EQ(found.files.at("relu.cu"), cuda) << info;
  }
  for (const char* info : {"python relu.py", "python", "py", "triton", ""}) {
    const Extraction found = extracted(manifest("relu.py") + fence(info, triton));
    EXPECT_EQ(found.outcome, Outcome::candidate) << info;
    EXPECT_EQ(found.files.at("relu.py"), triton) << info;
  }
  const Extraction header = extracted(manifest("relu.cu") + fence("cuda relu.cu", cuda) +
                                      fence("cuda rows.cuh", "#pragma once\n"));
  EXPECT_TRUE(header.files.contains("rows.cuh"));
}

TEST(Extract, HostCodeIsNoKernel) {
  const std::string manifest =
      fence("yaml", "kbench: 1\ntask: level1/19\nkernels:\n  relu: {file: relu.py}\n");
  const std::string triton = "@triton.jit\ndef relu(x, y):\n    pass\n";
  const Extraction found = extracted(manifest + fence("python test_relu.py", "import torch\n") +
                                     fence("python", triton) + fence("cpp", "int main() {}\n"));
  EXPECT_EQ(found.files.at("relu.py"), triton) << found.explanation;
  EXPECT_FALSE(found.files.contains("test_relu.py"));
  EXPECT_EQ(found.files.size(), 2u);
}

TEST(Extract, OneUnnamedShaderTakesTheOneNameMissing) {
  const Extraction found = extracted(fence("yaml", kManifestText) + fence("glsl", kShaderText));
  expect_relu(found);
  EXPECT_THAT(found.leniencies, ElementsAre("joined_name"));

  // Of two nobody knows which.
  const Extraction two = extracted(fence("yaml", kManifestText) + fence("glsl", kShaderText) +
                                   fence("glsl", "#version 450\nvoid main() { }\n"));
  EXPECT_EQ(two.files.size(), 1u);
  EXPECT_EQ(two.explanation, "candidate.yaml; no block is named relu.comp");
  // Nor which name, of two.
  const Extraction names = extracted(fence("yaml", kManifestText + "  b: {file: b.comp}\n") +
                                     fence("glsl", kShaderText));
  EXPECT_EQ(names.files.size(), 1u);
  EXPECT_EQ(names.explanation, "candidate.yaml; no block is named b.comp, relu.comp");
}

TEST(Extract, OtherBlocksAreLeftOut) {
  const Extraction found = extracted(
      good_answer() + fence("bash", "kbench run relu.yaml\n") + fence("yaml other.yaml", "a: 1\n") +
      fence("python x.py", "print(1)\n") + fence("glsl common.h", "#define A 1\n"));
  EXPECT_THAT(found.files,
              ElementsAre(Pair("candidate.yaml", kManifestText), Pair("common.h", "#define A 1\n"),
                          Pair("relu.comp", kShaderText)));
}

TEST(Extract, AWholeAnswerInsideAFence) {
  for (const char* info : {"markdown", "md", "", "text"}) {
    const Extraction found = extracted(fence(info, good_answer(), "````"));
    expect_relu(found);
    EXPECT_THAT(found.leniencies, ElementsAre("wrapped_answer")) << info;
  }
  expect_relu(extracted(fence("markdown", good_answer(), "~~~")));
  // A fence of the same length ends at the manifest's end.
  expect_relu(extracted(fence("markdown", good_answer())));
  // Whoever answers outside of it means that.
  const std::string readme = fence("markdown", fence("yaml", "kbench: 1\ntask: 1/1\n"), "````");
  const Extraction outside = extracted(good_answer() + readme);
  expect_relu(outside);
  EXPECT_THAT(outside.leniencies, IsEmpty());
  EXPECT_EQ(extracted("````markdown\n" + fence("yaml", kManifestText) + "```glsl relu.comp\n#ve",
                      "length")
                .outcome,
            Outcome::truncated);
}

TEST(Extract, AnExampleForAnotherTaskBehindTheAnswer) {
  const std::string manifest = "kbench: 1\ntask: level1/20\nkernels:\n  relu: {file: relu.comp}\n";
  const std::string other = fence("yaml", manifest);
  const std::string shader = fence("glsl relu.comp", "#version 450\n// of another task\n");
  for (const std::string& example : {other + shader, shader + other, other}) {
    const bool files_first = example == shader + other;
    const std::string answer =
        files_first ? fence("glsl relu.comp", kShaderText) + fence("yaml", kManifestText)
                    : good_answer();
    const Extraction found = extracted(answer + "\nFor leaky ReLU it would be:\n\n" + example);
    expect_relu(found);
    EXPECT_THAT(found.leniencies, ::testing::Contains("several_manifests"));
  }
  // Before the answer too; and where there is no other, it is what was given.
  expect_relu(extracted(other + shader + good_answer()));
  EXPECT_EQ(extracted(other + shader).outcome, Outcome::wrong_task);
}

TEST(Extract, UnnamedFilesOfAnExampleForAnotherTask) {
  const Extraction found = extracted(
      fence("yaml", kManifestText) + fence("glsl", kShaderText) +
      fence("yaml", "kbench: 1\ntask: level1/20\nkernels:\n  relu: {file: leaky.comp}\n") +
      fence("glsl", "#version 450\n// of another task\n"));
  expect_relu(found);
  EXPECT_THAT(found.leniencies, ElementsAre("joined_name", "several_manifests"));
}

TEST(Extract, Limits) {
  std::string text = fence("yaml", kManifestText);
  for (int i = 0; i < 257; ++i) text += fence("glsl f" + std::to_string(i) + ".h", "x\n");
  EXPECT_EQ(extracted(text).outcome, Outcome::no_candidate);
  EXPECT_EQ(extracted(fence("yaml", kManifestText) +
                      fence("glsl relu.comp", std::string((4 << 20) + 1, 'x') + "\n"))
                .outcome,
            Outcome::no_candidate);
  EXPECT_EQ(extracted(fence("yaml", kManifestText + std::string(1 << 20, '#') + "\n")).outcome,
            Outcome::no_candidate);
}

}  // namespace
}  // namespace kbench::testing
