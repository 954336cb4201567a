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
  EXPECT_EQ(stated_task(kModel, "set/19_ReLU.py"), (TaskId{1, 19}));
  EXPECT_EQ(stated_task("# task: ReLU\n" + std::string(kModel), "any.py"), (TaskId{1, 19}));
  EXPECT_EQ(stated_task(kModel, "mine.py"), std::nullopt);
  expect_error(
      [] {
        candidate_from_files("mine.py", {{"mine.py", kModel}});
      },
      1, 0, "# task: level1/19");
  const std::string wrong = "\n# task: levelnine\n" + std::string(kModel);
  expect_error([&] { stated_task(wrong, "mine.py"); }, 2, 1, "levelnine");
}

TEST(ModelFile, DefinesModelNewInItsOwnScope) {
  for (const char* defines :
       {"class ModelNew: pass",
        "class  ModelNew(nn.Module):\n    pass\n",
        "class\tModelNew():\n x",
        "\xEF\xBB\xBF"
        "class ModelNew: pass",
        "\r\nclass ModelNew:\r\n    pass\r\n",
        "if torch.cuda.is_available():\n    class ModelNew(nn.Module):\n        pass\n",
        "try:\n  import triton\nexcept ImportError:\n  class ModelNew: pass\n",
        "class Fast:\n    def f(self): pass\nModelNew = Fast\n",
        "A = ModelNew = Fast\n",
        "ModelNew: type = Fast",
        "x = 1; ModelNew = Fast",
        "if x: ModelNew = Fast",
        "from fast import Fast as ModelNew",
        "import ModelNew",
        "def ModelNew(): pass",
        "async def ModelNew(): pass",
        "x = (1,\n# (\n2)\nclass ModelNew: pass",
        "s = r'\\'\nclass ModelNew: pass",
        "s = f(\nclass ModelNew: pass",
        "s = \"\"\"never closed\nclass ModelNew: pass",
        "@decorated\n# and\n\nclass ModelNew: pass",
        "def f():\n  pass\n  # end\nModelNew = f()\n"}) {
    EXPECT_TRUE(defines_model(defines)) << defines;
  }
  for (const char* does_not : {"",
                               "x = 1\n",
                               "'''\nclass ModelNew: pass\n'''",
                               "\"\"\"As in\n\nclass ModelNew(x):\n\"\"\"\n",
                               "# class ModelNew: pass",
                               "class ModelNewer: pass",
                               "class Other(ModelNew): pass",
                               "def f():\n    class ModelNew: pass\n",
                               "class Outer:\n\n    class ModelNew: pass\n",
                               "class A: ModelNew = 1",
                               "def f(): x = 1; ModelNew = 2",
                               "def f():\n  if x:\n    ModelNew = 1\n",
                               "make(ModelNew=1)",
                               "x = ModelNew == 1",
                               "a.ModelNew = 1",
                               "ModelNew",
                               "ModelNew += 1",
                               "from ModelNew import x",
                               "import ModelNew as x",
                               "return ModelNew"}) {
    EXPECT_FALSE(defines_model(does_not)) << does_not;
  }
}

TEST(ModelFile, MayBeginWithAByteOrderMark) {
  const std::string text = "\xEF\xBB\xBF# task: level2/7\n" + std::string(kModel);
  EXPECT_EQ(stated_task(text, "any.py"), (TaskId{2, 7}));
  EXPECT_EQ(load_model(text, "any.py").task, (TaskId{2, 7}));
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
