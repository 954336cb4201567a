// Answers that hold a ModelNew.
#include "tests/extract/support.h"

namespace kbench::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

const std::string kModelText =
    "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return "
    "torch.relu(x)\n";
const std::string kOwnManifest = "kbench: 1\ntask: level1/19\ntorch: {file: model_new.py}\n";

Extraction extracted_as(AnswerForm asked, const std::string& text,
                        const std::string& finish = "stop") {
  Answer answer;
  answer.text = text;
  answer.finish = finish;
  return extract(answer, {1, 19}, {.asked = asked});
}

void expect_model(const Extraction& found, const std::string& text = kModelText) {
  EXPECT_EQ(found.outcome, Outcome::candidate) << found.explanation;
  EXPECT_THAT(found.files,
              ElementsAre(Pair("candidate.yaml", kOwnManifest), Pair("model_new.py", text)));
}

TEST(ExtractModel, APythonBlockThatDefinesItIsACandidate) {
  for (const char* info : {"python", "py", "python model_new.py", "python my/relu.py", "pytorch"}) {
    const Extraction found = extracted("Here it is.\n\n" + fence(info, kModelText) + "\nDone.\n");
    expect_model(found);
    EXPECT_THAT(found.leniencies, IsEmpty()) << info;
    EXPECT_EQ(found.explanation, "candidate.yaml, model_new.py");
  }
  const Extraction untagged = extracted(fence("", kModelText));
  expect_model(untagged);
  EXPECT_THAT(untagged.leniencies, ElementsAre("untagged_model"));
  const Extraction wrapped = extracted(fence("markdown", fence("python", kModelText), "````"));
  expect_model(wrapped);
  EXPECT_THAT(wrapped.leniencies, ElementsAre("wrapped_answer"));
}

TEST(ExtractModel, TheLastOfSeveralIsTaken) {
  const std::string draft = "class ModelNew:\n    pass\n";
  const Extraction found = extracted(fence("python", "class Model:\n    pass\n") +
                                     fence("python", draft) + fence("python", kModelText) +
                                     fence("python", "import torch\nx = torch.zeros(3)\n"));
  expect_model(found);
  EXPECT_THAT(found.leniencies, ElementsAre("several_models"));
}

TEST(ExtractModel, AManifestComesFirst) {
  const Extraction beside = extracted(good_answer() + fence("python", kModelText));
  expect_relu(beside);
  const std::string manifest = "kbench: 1\ntask: level1/19\ntorch: {file: m.py}\n";
  for (const char* info : {"python m.py", "python", ""}) {
    const Extraction named = extracted(fence("yaml", manifest) + fence(info, kModelText));
    EXPECT_THAT(named.files,
                ElementsAre(Pair("candidate.yaml", manifest), Pair("m.py", kModelText)))
        << info;
  }
  // But not one for another task.
  expect_model(
      extracted(fence("yaml", "kbench: 1\ntask: level1/20\n") + fence("python", kModelText)));
}

TEST(ExtractModel, ItsCommentNamesTheTask) {
  const std::string other = "# task: level1/20\n" + kModelText;
  const Extraction wrong = extracted(fence("python", other));
  EXPECT_EQ(wrong.outcome, Outcome::wrong_task);
  EXPECT_THAT(wrong.explanation, HasSubstr("is for level1/20, and level1/19 was asked for"));
  EXPECT_THAT(wrong.files.at("candidate.yaml"), HasSubstr("task: level1/20"));
  expect_model(extracted(fence("python", kModelText) + fence("python", other)));
  const std::string broken = "# task: the one above\n" + kModelText;
  expect_model(extracted(fence("python", broken)), broken);
  // Where no task was asked for, it has to.
  Answer answer;
  answer.text = fence("python", other);
  EXPECT_THAT(extract(answer, {}).files.at("candidate.yaml"), HasSubstr("task: level1/20"));
  answer.text = fence("python", kModelText);
  EXPECT_EQ(extract(answer, {}).outcome, Outcome::no_candidate);
  EXPECT_THAT(extract(answer, {}).explanation, HasSubstr("'# task: level1/19'"));
}

TEST(ExtractModel, WhatIsMissingIsWhatWasAskedFor) {
  const std::string text = fence("python", "import torch\n") + fence("cuda relu.cu", "x\n");
  const Extraction model = extracted_as(AnswerForm::model, text);
  EXPECT_EQ(model.outcome, Outcome::no_candidate);
  EXPECT_EQ(model.asked, AnswerForm::model);
  EXPECT_EQ(model.explanation,
            "no ModelNew: no ```python block defines a class ModelNew; its fenced blocks are: "
            "python, cuda relu.cu");
  EXPECT_EQ(extracted_as(AnswerForm::model, " ").explanation,
            "no ModelNew: no ```python block defines a class ModelNew; the answer is empty");
  EXPECT_EQ(extracted_as(AnswerForm::kernels, text).explanation,
            "no manifest: no ```yaml block has a top-level 'kbench:'; its fenced blocks are: "
            "python, cuda relu.cu");
  // The other form is taken all the same.
  expect_relu(extracted_as(AnswerForm::model, good_answer()));
  expect_model(extracted_as(AnswerForm::kernels, fence("python", kModelText)));
}

TEST(ExtractModel, CutOffIsTruncated) {
  const std::string open = "```python\n" + kModelText;
  EXPECT_EQ(extracted_as(AnswerForm::model, open, "length").outcome, Outcome::truncated);
  const std::string begun = "```python\nimport torch\n";
  EXPECT_EQ(extracted_as(AnswerForm::model, begun, "length").outcome, Outcome::truncated);
  EXPECT_EQ(extracted_as(AnswerForm::model, fence("python", kModelText) + begun, "length").outcome,
            Outcome::truncated);
  const Extraction early = extracted_as(AnswerForm::model, "I would begin", "length");
  EXPECT_EQ(early.outcome, Outcome::truncated);
  EXPECT_THAT(early.explanation, HasSubstr("before there was a candidate: no ModelNew"));
  EXPECT_EQ(extracted_as(AnswerForm::model, fence("python", kModelText) + open, "length").outcome,
            Outcome::truncated);
  const Extraction unclosed = extracted_as(AnswerForm::model, open);
  expect_model(unclosed);
  EXPECT_THAT(unclosed.leniencies, ElementsAre("unclosed_fence"));
}

TEST(ExtractModel, TooLargeIsNone) {
  const Extraction found =
      extracted(fence("python", kModelText + "x = '" + std::string(5 << 20, 'x') + "'\n"));
  EXPECT_EQ(found.outcome, Outcome::no_candidate);
  EXPECT_THAT(found.explanation, HasSubstr("model_new.py is larger than"));
}

}  // namespace
}  // namespace kbench::testing
