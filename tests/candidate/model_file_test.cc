// ModelNew files as candidates.
#include "libkbench/candidate/files.h"
#include "tests/candidate/support.h"

namespace kbench {
namespace {

using testing_support::expect_error;
using testing_support::parse;
using testing_support::ScratchFolder;

constexpr const char* kModel = "import torch\n\nclass ModelNew(torch.nn.Module):\n    pass\n";

TEST(ModelFile, TellsItsTaskByACommentOrByItsName) {
  const std::string comment = "# task: level2/7\n" + std::string(kModel);
  EXPECT_EQ(stated_task(comment, "any.py"), (TaskId{2, 7}));
  EXPECT_EQ(stated_task(comment, "level1/19_ReLU.py"), (TaskId{2, 7}));
  EXPECT_EQ(stated_task(kModel, "a/level1/19_ReLU.py"), (TaskId{1, 19}));
  EXPECT_EQ(stated_task(kModel, "level_3_problem_4_sample_0_kernel.py"), (TaskId{3, 4}));
  EXPECT_EQ(stated_task(kModel, "mine.py"), std::nullopt);
  expect_error(
      [] {
        candidate_from_files("mine.py", {{"mine.py", kModel}});
      },
      1, 0, "# task: level1/19");
  const std::string wrong = "\n# task: levelnine\n" + std::string(kModel);
  expect_error([&] { stated_task(wrong, "mine.py"); }, 2, 1, "levelnine");
}

TEST(ModelFile, IsACandidateByItself) {
  const ScratchFolder folder;
  folder.write("level_1_problem_19.py", kModel);
  folder.write("kernel.py", "import triton\n");
  EXPECT_EQ(candidate_files(folder.path()), std::vector{folder.path("level_1_problem_19.py")});
  const Candidate candidate = load_candidate(folder.path("level_1_problem_19.py"));
  EXPECT_EQ(candidate.task, (TaskId{1, 19}));
  ASSERT_TRUE(candidate.torch);
  EXPECT_EQ(candidate.torch->source, kModel);
  EXPECT_EQ(candidate.hash.size(), 64u);
  folder.write("level_1_problem_20.py", "x = 1\n");
  expect_error([&] { load_candidate(folder.path("level_1_problem_20.py")); }, 1, 0, "ModelNew");
}

TEST(ModelFile, NamedByAManifestIsNoCandidateOfItsOwn) {
  const ScratchFolder folder;
  folder.write("a1/candidate.yaml", "kbench: 1\ntask: level1/19\ntorch: {file: model_new.py}\n");
  folder.write("a1/model_new.py", kModel);
  folder.write("a1/other.py", kModel);
  folder.write("below.yaml", "kbench: 1\ntask: level1/19\ntorch: {file: files/m.py}\n");
  folder.write("files/m.py", kModel);
  folder.write("broken.yaml", "kbench: [\n");
  EXPECT_EQ(candidate_files(folder.path()),
            (std::vector{folder.path("a1/candidate.yaml"), folder.path("a1/other.py"),
                         folder.path("below.yaml"), folder.path("broken.yaml")}));
}

TEST(ModelFile, GetsAManifestWhereItDoesNotNameItsTask) {
  const std::map<std::string, std::string> files = model_candidate({1, 19}, kModel);
  const Candidate candidate = candidate_from_files("candidate.yaml", files);
  EXPECT_EQ(candidate.task, (TaskId{1, 19}));
  ASSERT_TRUE(candidate.torch);
  EXPECT_EQ(candidate.torch->source, kModel);
  EXPECT_EQ(candidate.torch->file, "model_new.py");
  EXPECT_EQ(model_of(files), kModel);
  for (const auto& [name, text] :
       std::map<std::string, std::string>{{"more.h", ""},
                                          {"candidate.yaml",
                                           "kbench: 1\ntask: level1/19\nname: mine\ntorch: {file: "
                                           "model_new.py}\n"},
                                          {"candidate.yaml", "kbench: 1\n"}}) {
    auto other = files;
    other[name] = text;
    EXPECT_EQ(model_of(other), std::nullopt) << name << text;
  }
}

TEST(ModelFile, AManifestMayNameOneAndNothingElse) {
  const ScratchFolder folder;
  folder.write("m.py", kModel);
  const std::string head = "kbench: 1\ntask: level1/19\n";
  const Candidate named = parse_candidate(head + "torch: {file: m.py}\n", "c.yaml", folder.path());
  ASSERT_TRUE(named.torch);
  EXPECT_EQ(named.torch->source, kModel);
  const Candidate inlined =
      parse_candidate(head + "torch:\n  source: |\n    class ModelNew: pass\n", "c.yaml", ".");
  EXPECT_EQ(inlined.torch->source, "class ModelNew: pass\n");
  for (const char* wrong :
       {"torch: {}\n", "torch: {file: m.py, source: x}\n", "torch: {file: m.py}\ndispatch: []\n",
        "torch: {file: m.py}\ntemps: {}\n", "torch: {file: none.py}\n"}) {
    EXPECT_THROW(parse_candidate(head + wrong, "c.yaml", folder.path()), Error) << wrong;
  }
}

}  // namespace
}  // namespace kbench
