#include "kbench/prompts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/evaluate/prompts/examples.h"
#include "harness/evaluate/prompts/prompt_set.h"
#include "harness/measure/vulkan/compiler.h"
#include "kbench/candidate.h"
#include "kbench/candidate_limits.h"
#include "kbench/candidate_source.h"
#include "kbench/error.h"
#include "kbench/extract.h"
#include "kbench/listing.h"
#include "libkbench/candidate/files.h"
#include "tests/error_of.h"
#include "tests/scratch_folder.h"

namespace kbench {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const Task& task_of(const std::string& id) { return find_task(parse_task_id(id)); }

std::string text_of(const std::vector<Message>& messages) {
  std::string text;
  for (const Message& message : messages) text += message.text + "\n";
  return text;
}

DeviceSummary some_device() {
  DeviceSummary device;
  device.name = "Test GPU";
  device.type = "discrete";
  device.memory_bytes = int64_t{24} << 30;
  DeviceLimits limits;
  limits.group_size = {1024, 1023, 64};
  limits.invocations = 1022;
  limits.shared_bytes = 49152;
  limits.subgroup_size = 32;
  limits.float16 = true;
  device.limits = limits;
  return device;
}

/// A folder of its own with the default prompts, to be changed.
class Folder : public testing::ScratchFolder {
 public:
  Folder() {
    for (const auto& [name, text] : prompts::embedded_folder("templates/default")) {
      write(name, text);
    }
  }
  void replace(const std::string& name, const std::string& from, const std::string& to) const {
    std::ifstream in(path(name));
    std::string text{std::istreambuf_iterator<char>(in), {}};
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    write(name, text.replace(at, from.size(), to));
  }
  std::string complaint() const {
    return error_of([&] { Prompts::load(path()); }).what();
  }
};

TEST(Prompts, AreASystemMessageAndTheUsers) {
  const auto messages = Prompts::shipped().first(task_of("1/19"), {});
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].role, Role::system);
  EXPECT_EQ(messages[1].role, Role::user);
  EXPECT_THAT(messages[1].text, HasSubstr("level1/19  ReLU\n"));
  EXPECT_THAT(messages[1].text, HasSubstr("task: level1/19"));
}

TEST(Prompts, SayTheLimitsThatCandidatesAreHeldTo) {
  const std::string text = text_of(Prompts::shipped().first(task_of("1/19"), {}));
  EXPECT_THAT(text, HasSubstr(std::to_string(limits::kManifestBytes) + " bytes of YAML, " +
                              std::to_string(limits::kFiles) + " other files of " +
                              std::to_string(limits::kFileBytes) + " bytes, " +
                              std::to_string(limits::kBind) + " buffers and " +
                              std::to_string(limits::kPushBytes) + " bytes of push constants"));
}

/// Servers keep what many requests begin with.
TEST(Prompts, BeginAlikeForAllTasks) {
  const Prompts prompts = Prompts::shipped();
  const auto one = prompts.first(task_of("1/19"), {.device = some_device()});
  const auto other = prompts.first(task_of("3/30"), {.device = some_device()});
  EXPECT_EQ(one[0].text, other[0].text);
  const size_t task = one[1].text.find("# Your task");
  ASSERT_NE(task, std::string::npos);
  EXPECT_THAT(one[1].text.substr(0, task), HasSubstr("# The device"));
  EXPECT_EQ(one[1].text.substr(0, task), other[1].text.substr(0, task));
}

TEST(Prompts, NeverShowTheAskedTaskAsAnExample) {
  const Prompts prompts = Prompts::shipped();
  for (const Task& task : tasks()) {
    for (const TaskId& example : prompts.examples(task, {.shots = 100}))
      EXPECT_NE(example, task.id);
  }
  const Task& first = find_task(prompts.examples(task_of("1/19"), {})[0]);
  EXPECT_EQ(prompts.examples(first, {}).size(), 1u);
  EXPECT_THAT(text_of(prompts.first(first, {})),
              Not(HasSubstr("# An example: " + to_string(first.id))));
}

TEST(Prompts, HaveZeroOneAndFewShots) {
  const Prompts prompts = Prompts::shipped();
  const auto count = [&](int shots) {
    const std::string text = text_of(prompts.first(task_of("1/19"), {.shots = shots}));
    int found = 0;
    for (size_t at = 0; (at = text.find("# An example", at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(count(0), 0);
  EXPECT_EQ(count(1), 1);
  EXPECT_EQ(count(3), 3);
}

constexpr PromptLanguage kLanguages[] = {PromptLanguage::glsl, PromptLanguage::hlsl,
                                         PromptLanguage::cuda, PromptLanguage::triton,
                                         PromptLanguage::torch};

TEST(Prompts, AskInEachLanguageAndNameNoOther) {
  const Prompts prompts = Prompts::shipped();
  const std::map<PromptLanguage, std::vector<const char*>> words = {
      {PromptLanguage::glsl, {"GLSL", "```glsl NAME.comp", "#version 450", "local_size_x"}},
      {PromptLanguage::hlsl, {"HLSL", "```hlsl NAME.hlsl", "[numthreads("}},
      {PromptLanguage::cuda, {"CUDA C++ kernels", "```cuda NAME.cu", "NVRTC", "__global__ void"}},
      {PromptLanguage::triton, {"Triton kernels", "```python NAME.py", "translated ahead of time"}},
      {PromptLanguage::torch, {"ModelNew", "load_inline", "# The task's program"}}};
  for (const PromptLanguage language : kLanguages) {
    const std::string text =
        text_of(prompts.first(task_of("2/76"), {.device = some_device(), .language = language}));
    for (const auto& [of, said] : words) {
      for (const char* word : said) {
        if (of == language) {
          EXPECT_THAT(text, HasSubstr(word)) << name_of(language);
        } else {
          EXPECT_THAT(text, Not(HasSubstr(word))) << name_of(language);
        }
      }
    }
    EXPECT_EQ(prompt_language_from_name(name_of(language)), language);
  }
  EXPECT_THROW(prompt_language_from_name("cpp"), Error);
  EXPECT_EQ(std::size(kLanguages), static_cast<size_t>(kLastPromptLanguage) + 1);
}

TEST(Prompts, AreWithinTheirBudgetInEachLanguage) {
  const Prompts prompts = Prompts::shipped();
  for (const PromptLanguage language : kLanguages) {
    for (const char* task : {"1/19", "1/36", "2/12", "3/29", "3/30"}) {
      const std::string text =
          text_of(prompts.first(task_of(task), {.device = some_device(), .language = language}));
      const bool model = answer_form_of(language) == AnswerForm::model;
      const size_t code =
          model ? pytorch_code(task_of(task), *build_graph(task_of(task), Preset::smoke)).size()
                : 0;
      EXPECT_LE(text.size() - code, prompts.budget()) << name_of(language) << " " << task;
      EXPECT_THAT(text, HasSubstr("# An example")) << name_of(language) << " " << task;
    }
  }
}

/// Types, rules and examples are of the type that is asked for.
TEST(Prompts, AreOfTheTaskInItsType) {
  const Prompts prompts = Prompts::shipped();
  const std::pair<DType, const char*> types[] = {{DType::f16, "float16"},
                                                 {DType::bf16, "bfloat16"}};
  for (const PromptLanguage language : kLanguages) {
    PromptContext context{.device = some_device(), .language = language};
    const std::string floats = text_of(prompts.first(task_of("2/76"), context));
    EXPECT_THAT(floats, HasSubstr("Inputs, outputs, products and sums are float32"));
    for (const auto& [dtype, name] : types) {
      context.dtype = dtype;
      const std::string text = text_of(prompts.first(task_of("2/76"), context));
      EXPECT_THAT(text, HasSubstr("Floating inputs and outputs are " + std::string(name)));
      EXPECT_THAT(text, Not(HasSubstr("products and sums are float32"))) << name_of(language);
      EXPECT_THAT(text, HasSubstr("types not written are " + std::string(name_of(dtype))));
      if (language != PromptLanguage::triton && language != PromptLanguage::torch) {
        EXPECT_THAT(text, HasSubstr("`KB_FROM_FLOAT(v)`")) << name_of(language);
      }
      EXPECT_THAT(text, HasSubstr("# An example")) << name_of(language);
      EXPECT_THAT(text, Not(HasSubstr("dtype: f32\nname"))) << name_of(language);
      const bool model = answer_form_of(language) == AnswerForm::model;
      const auto graph = build_graph(context.at(task_of("2/76").id));
      const size_t code = model ? pytorch_code(task_of("2/76"), *graph).size() : 0;
      EXPECT_LE(text.size() - code, prompts.budget()) << name_of(language);
    }
  }
}

/// A folder whose every prompt is one text, which reads one variable.
void write_plain(const Folder& folder, const std::string& variable, const std::string& text) {
  folder.write("prompt.yaml",
               "prompt: 1\nbudget: 1000\nfirst: [{role: user, parts: [plain]}]\n"
               "repair: [plain]\nno_candidate: [plain]\ncandidate: [plain]\n"
               "variables: [" +
                   variable + "]\n");
  folder.write("plain.mustache", text);
}

TEST(Prompts, OfAFolderThatKnowsGlslAloneAreNotGivenForAnother) {
  const Folder folder;
  write_plain(folder, "task.id", "Write shaders for {{task.id}}.\n");
  const Prompts prompts = Prompts::load(folder.path());
  EXPECT_THAT(text_of(prompts.first(task_of("1/19"), {})), HasSubstr("shaders for level1/19"));
  EXPECT_THROW(prompts.first(task_of("1/19"), {.language = PromptLanguage::cuda}), Error);
  EXPECT_THROW(prompts.first(task_of("1/19"), {.language = PromptLanguage::torch}), Error);
}

TEST(Prompts, OfAFolderThatKnowsKernelsAloneAreNotGivenForAModule) {
  const Folder folder;
  write_plain(folder, "language.name", "Write {{language.name}}.\n");
  const Prompts prompts = Prompts::load(folder.path());
  EXPECT_THAT(text_of(prompts.first(task_of("1/19"), {.language = PromptLanguage::cuda})),
              HasSubstr("CUDA C++"));
  const Error e =
      error_of([&] { prompts.first(task_of("1/19"), {.language = PromptLanguage::torch}); });
  EXPECT_THAT(e.message(), HasSubstr("ask for kernels alone"));
}

/// What the prompt shows as an answer is one: its blocks, read back, are a candidate that fits.
TEST(Prompts, ShowExamplesThatAreCandidates) {
  const Prompts prompts = Prompts::shipped();
  for (const Preset preset : {Preset::smoke, Preset::v0, Preset::v0_1}) {
    EXPECT_THAT(prompts.check_examples(preset), ElementsAre());
  }
  for (const PromptLanguage language : kLanguages) {
    const PromptContext context{.language = language};
    const TaskId task = prompts.examples(task_of("1/19"), context).at(0);
    const std::string text = text_of(prompts.first(task_of("1/19"), context));
    const size_t begin = text.find("\nAn answer:\n", text.find("# An example"));
    Answer answer;
    answer.text = text.substr(begin, text.find("\n# Your task", begin) - begin);
    answer.finish = "stop";
    const Extraction found = extract(answer, task);
    ASSERT_EQ(found.outcome, Outcome::candidate) << found.explanation;
    EXPECT_THAT(found.leniencies, ElementsAre()) << name_of(language);
    const Candidate candidate = candidate_from_files("candidate.yaml", found.files);
    EXPECT_EQ(candidate.task, task);
    EXPECT_EQ(candidate.torch.has_value(), language == PromptLanguage::torch);
    if (candidate.torch) continue;
    const auto graph = build_graph(find_task(candidate.task), Preset::v0_1);
    EXPECT_NO_THROW(resolve(candidate, *graph)) << name_of(language);
  }
}

TEST(Prompts, ForAModuleSayHowItIsMadeAndCalled) {
  const Prompts prompts = Prompts::shipped();
  PromptContext context{.shots = 0, .language = PromptLanguage::torch};
  const std::string text = text_of(prompts.first(task_of("2/76"), context));
  EXPECT_THAT(text,
              HasSubstr("constructor's arguments: `[in_features, out_features, bias_shape] with "
                        "bias_shape = (64,)`."));
  EXPECT_THAT(text, HasSubstr("def forward(x, p):"));
  EXPECT_THAT(text, HasSubstr("`class ModelNew` for level2/76"));
  EXPECT_THAT(
      text, AllOf(Not(HasSubstr("kbench: 1")), Not(HasSubstr("op:")), Not(HasSubstr("dispatch"))));
  context.device = some_device();
  EXPECT_THAT(text_of(prompts.first(task_of("1/19"), context)),
              AllOf(HasSubstr("run fast on a GPU"), HasSubstr("at most 1022 threads")));
  context.device->type = "cpu";
  EXPECT_THAT(text_of(prompts.first(task_of("1/19"), context)),
              AllOf(HasSubstr("run fast on a CPU"), HasSubstr("neither CUDA nor Triton")));
}

TEST(Prompts, DescribeTheDevice) {
  PromptContext context;
  EXPECT_THAT(text_of(Prompts::shipped().first(task_of("1/19"), context)),
              Not(HasSubstr("# The device")));
  context.device = some_device();
  context.roof_gbytes_per_s = 900;
  context.roof_tflops = 12.34;
  const std::string text = text_of(Prompts::shipped().first(task_of("1/19"), context));
  EXPECT_THAT(text, HasSubstr("Test GPU (discrete), 24.0 GiB of memory; measured: 900 GB/s "
                              "copied, 12.3 TFLOP/s float32."));
  EXPECT_THAT(text, HasSubstr("at most 1024, 1023, 64 in x, y, z and 1022 invocations together, "
                              "49152 bytes shared"));
  EXPECT_THAT(text, HasSubstr("It has float16 arithmetic. It lacks float64, "));
}

TEST(Prompts, StateThePolicyOnBuiltInOperators) {
  const auto text = [](Builtins builtins) {
    return text_of(Prompts::shipped().first(task_of("1/19"), {.builtins = builtins}));
  };
  EXPECT_THAT(text(Builtins::forbid), HasSubstr("are forbidden here"));
  EXPECT_THAT(text(Builtins::some), HasSubstr("must launch a kernel of your own"));
  EXPECT_THAT(text(Builtins::any), Not(HasSubstr("kernel of your own")));
  EXPECT_THAT(text(Builtins::any), HasSubstr("{op: linear"));
  EXPECT_EQ(builtins_from_name("some"), Builtins::some);
  EXPECT_THROW(builtins_from_name("none"), Error);
}

TEST(Prompts, LeaveOutAndAddParts) {
  const Prompts prompts = Prompts::shipped();
  const std::string plain = text_of(prompts.first(task_of("1/23"), {.precision = false}));
  EXPECT_THAT(plain, Not(HasSubstr("# Precision")));
  EXPECT_THAT(plain, Not(HasSubstr("import torch")));
  const std::string full =
      text_of(prompts.first(task_of("1/23"), {.code = true, .reference = true}));
  EXPECT_THAT(full, HasSubstr("# Precision"));
  EXPECT_THAT(full, HasSubstr("output = torch.softmax(x, dim=1)"));
  EXPECT_THAT(full, HasSubstr("# How the baseline computes it: softmax_rows.comp\n```glsl\n"));
}

TEST(Prompts, TakeSizes) {
  const std::string text = text_of(Prompts::shipped().first(
      task_of("1/19"), {.preset = Preset::smoke, .overrides = {{"dim", int64_t{77}}}}));
  EXPECT_THAT(text, HasSubstr("dim = 77"));
  EXPECT_THROW(Prompts::shipped().first(task_of("1/19"), {.overrides = {{"nothing", int64_t{1}}}}),
               Error);
}

TEST(Repair, ShowsTheCandidateWholeAndWhatBecameOfIt) {
  const Prompts prompts = Prompts::shipped();
  ShownAttempt attempt;
  attempt.files = {{"candidate.yaml", "kbench: 1\n"}, {"a.comp", "void main() {} // {{x}} ```\n"}};
  attempt.feedback = "wrong_values: 3 elements <b>";
  attempt.outcome = "wrong_values";
  const auto first = prompts.first(task_of("1/19"), {});
  const auto messages = prompts.repair(task_of("1/19"), {}, {attempt, attempt});
  ASSERT_EQ(messages.size(), first.size() + 4);
  for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(messages[i].text, first[i].text);
  EXPECT_EQ(messages[2].role, Role::assistant);
  EXPECT_EQ(messages[2].text,
            "```yaml\nkbench: 1\n```\n````glsl a.comp\nvoid main() {} // {{x}} ```\n````");
  EXPECT_EQ(messages[3].role, Role::user);
  EXPECT_THAT(messages[3].text, HasSubstr("wrong_values: 3 elements <b>\nCompare index"));
  EXPECT_THAT(messages[3].text, HasSubstr("task: level1/19"));
}

TEST(Repair, HintsAndBlocksAreOfTheLanguage) {
  ShownAttempt attempt;
  attempt.files = {
      {"candidate.yaml", "kbench: 1\n"}, {"a.cu", "x\n"}, {"b.cuh", "y\n"}, {"c.py", "z\n"}};
  attempt.feedback = "compile_error";
  attempt.outcome = "compile_error";
  const auto text = [&](PromptLanguage language) {
    return text_of(Prompts::shipped().repair(task_of("1/19"), {.language = language}, {attempt}));
  };
  const std::string cuda = text(PromptLanguage::cuda);
  EXPECT_THAT(cuda, HasSubstr("Correct the lines that NVRTC names"));
  EXPECT_THAT(cuda,
              HasSubstr("```cuda a.cu\nx\n```\n```cuda b.cuh\ny\n```\n```python c.py\nz\n```"));
  EXPECT_THAT(text(PromptLanguage::triton), HasSubstr("Correct the lines that Triton names"));
  EXPECT_THAT(text(PromptLanguage::hlsl), HasSubstr("Correct the lines that the compiler names"));
}

TEST(Repair, ShowsAModuleAsTheOneBlockThatItWas) {
  ShownAttempt attempt;
  attempt.files = model_candidate({1, 19}, "class ModelNew:\n  pass\n");
  attempt.feedback = "wrong_values";
  attempt.outcome = "wrong_values";
  const auto messages =
      Prompts::shipped().repair(task_of("1/19"), {.language = PromptLanguage::torch}, {attempt});
  EXPECT_EQ(messages[2].text, "```python\nclass ModelNew:\n  pass\n```");
  EXPECT_THAT(messages[3].text,
              AllOf(HasSubstr("Compare each operator with the program"), Not(HasSubstr("yaml"))));
}

TEST(Repair, ShowsAnAnswerWithoutACandidate) {
  ShownAttempt attempt;
  attempt.answer = "I would multiply the matrices.";
  attempt.feedback = "There is no block with kbench: in it.";
  attempt.outcome = "no_candidate";
  const auto messages = Prompts::shipped().repair(task_of("1/19"), {}, {attempt});
  EXPECT_EQ(messages[2].text, attempt.answer);
  EXPECT_THAT(messages[3].text, HasSubstr("There is no block with kbench: in it."));
  EXPECT_THAT(messages[3].text, HasSubstr("Answer with the blocks themselves"));
}

TEST(PromptFolder, IsTheSameAsWhatShips) {
  const Folder folder;
  const Prompts loaded = Prompts::load(folder.path() + "/");
  EXPECT_EQ(loaded.hash(), Prompts::shipped().hash());
  EXPECT_EQ(text_of(loaded.first(task_of("2/12"), {})),
            text_of(Prompts::shipped().first(task_of("2/12"), {})));
  EXPECT_THAT(loaded.name(), StartsWith("kbench_test_"));
  EXPECT_THROW(Prompts::shipped("nonesuch"), Error);
  EXPECT_THROW(Prompts::load(folder.path() + "/nonesuch"), Error);
}

TEST(PromptFolder, ChangesItsHashWithAnyFile) {
  const Folder folder;
  folder.write("hints.yaml", "passed: Faster.\n");
  EXPECT_NE(Prompts::load(folder.path()).hash(), Prompts::shipped().hash());
}

TEST(PromptFolder, SaysHowItIsUsed) {
  const PromptSettings shipped = Prompts::shipped().settings();
  EXPECT_EQ(shipped.shots, 1);
  EXPECT_EQ(shipped.builtins, Builtins::forbid);
  EXPECT_TRUE(shipped.precision && shipped.device && shipped.evidence);
  EXPECT_FALSE(shipped.code || shipped.reference);
  const Folder folder;
  folder.replace("prompt.yaml", "prompt: 1",
                 "prompt: 1\nshots: 3\nbuiltins: some\ncode: true\nreference: true\n"
                 "precision: false\ndevice: false\nevidence: false");
  const PromptSettings own = Prompts::load(folder.path()).settings();
  EXPECT_EQ(own.shots, 3);
  EXPECT_EQ(own.builtins, Builtins::some);
  EXPECT_TRUE(own.code && own.reference);
  EXPECT_FALSE(own.precision || own.device || own.evidence);
}

TEST(PromptFolder, MayHaveTheTemplatesThatShip) {
  const Folder folder;
  fs::remove_all(folder.path());
  fs::create_directory(folder.path());
  folder.write("prompt.yaml", "prompt: 1\nfrom: default\nshots: 0\n");
  const Prompts prompts = Prompts::load(folder.path());
  EXPECT_EQ(prompts.settings().shots, 0);
  EXPECT_THAT(prompts.name(), StartsWith("kbench_test_"));
  EXPECT_NE(prompts.hash(), Prompts::shipped().hash());
  EXPECT_EQ(text_of(prompts.first(task_of("2/12"), {})),
            text_of(Prompts::shipped().first(task_of("2/12"), {})));
  folder.write("prompt.yaml", "prompt: 1\nfrom: defualt\n");
  EXPECT_THAT(folder.complaint(), HasSubstr("prompt.yaml:2:7: no prompts 'defualt' ship"));
  folder.write("prompt.yaml", "prompt: 1\nfrom: default\nbudget: 9\n");
  EXPECT_THAT(folder.complaint(), HasSubstr("'budget'"));
  folder.write("prompt.yaml", "prompt: 1\nfrom: default\n");
  folder.write("hints.yaml", "passed: Faster.\n");
  EXPECT_THAT(folder.complaint(), HasSubstr("has no other files"));
}

TEST(PromptFolder, IsReadStrictly) {
  const auto complaint = [](const std::string& file, const std::string& from,
                            const std::string& to) {
    const Folder folder;
    folder.replace(file, from, to);
    return folder.complaint();
  };
  EXPECT_THAT(complaint("task.mustache", "{{{task.listing}}}", "{{{task.text}}}"),
              HasSubstr("/task.mustache:2: unknown value 'task.text'"));
  EXPECT_THAT(complaint("device.mustache", "{{/device}}", ""), HasSubstr("is not closed"));
  EXPECT_THAT(complaint("prompt.yaml", "budget: 16000", "budgte: 16000"),
              HasSubstr("prompt.yaml:6:1: "));
  EXPECT_THAT(complaint("prompt.yaml", "prompt: 1", "prompt: 2"), HasSubstr("version 1"));
  for (const char* odd : {"shots: 101", "builtins: all", "code: perhaps"}) {
    EXPECT_THAT(complaint("prompt.yaml", "prompt: 1", std::string("prompt: 1\n") + odd),
                HasSubstr("/prompt.yaml:3:"));
  }
  EXPECT_THAT(complaint("prompt.yaml", "role: system", "role: sistem"), HasSubstr("'sistem'"));
  EXPECT_THAT(complaint("prompt.yaml", "[role]", "[rule]"), HasSubstr("no file 'rule.mustache'"));
  EXPECT_THAT(complaint("prompt.yaml", "  - precision\n", "  - precisoin\n"),
              HasSubstr("did you mean 'precision'?"));
  EXPECT_THAT(complaint("prompt.yaml", "  - precision\n", "  - precision\n  - task.name\n"),
              HasSubstr("no template uses 'task.name'"));
  EXPECT_THAT(complaint("examples.yaml", "level1_036", "level1_037"),
              HasSubstr("/examples.yaml:3:5: no candidate"));
  EXPECT_THAT(complaint("examples.yaml", "cuda:\n", "opencl:\n"), HasSubstr("'opencl'"));
  EXPECT_THAT(complaint("hints.yaml", "timeout:", "timout:"), HasSubstr("no verdict"));
  EXPECT_THAT(complaint("hints.yaml", "cuda:\n", "opencl:\n"), HasSubstr("'opencl'"));
  EXPECT_THAT(complaint("shaders.yaml", "gelu:", "jelu:"), HasSubstr("/shaders.yaml:"));
  EXPECT_THAT(complaint("hints.yaml", "timeout: ", "timeout: ["), HasSubstr("/hints.yaml:"));
}

/// Every operator that has a kernel has shaders to show, and they are there.
TEST(ShaderTable, CoversTheOperators) {
  const prompts::PromptSet set(prompts::embedded_folder("templates/default"), "default");
  for (const Operator* op : operators()) {
    EXPECT_EQ(set.shaders.contains(op->name), !op->is_view) << op->name;
  }
  for (const auto& [op, files] : set.shaders) {
    for (const std::string& file : files) {
      EXPECT_TRUE(vulkan::embedded_include(file, "").has_value()) << op << ": " << file;
    }
  }
}

TEST(Facts, AreOfTheGraphsType) {
  const Task& task = task_of("1/51");  // argmax: floats in, integers out
  const auto graph = build_graph(task, Preset::smoke, {}, DType::f16);
  const auto facts = nlohmann::json::parse(facts_json(task, *graph));
  EXPECT_EQ(facts["dtype"], "f16");
  EXPECT_EQ(facts["inputs"][0]["dtype"], "f16");
  EXPECT_EQ(facts["outputs"][0]["dtype"], "i64");
  EXPECT_EQ(facts["nodes"][0]["least_bytes"], facts["least_bytes"]);
}

TEST(Facts, AreThoseOfTheGraph) {
  const Task& task = task_of("3/10");
  const auto graph = build_graph(task, Preset::v0);
  const auto facts = nlohmann::json::parse(facts_json(task, *graph));
  EXPECT_EQ(facts["task"], "level3/10");
  EXPECT_EQ(facts["nodes"].size(), graph->nodes().size());
  EXPECT_EQ(facts["parameters"].size(), graph->values_of(Graph::Kind::parameter).size());
  EXPECT_EQ(facts["parameters"][0]["name"], "conv1.weight");
  EXPECT_EQ(facts["parameters"][0]["shape"], nlohmann::json({64, 3, 7, 7}));
  EXPECT_EQ(facts["expression_names"]["layers_2"], 23);
  EXPECT_EQ(facts["variables"]["layers"], nlohmann::json({3, 4, 23, 3}));
  EXPECT_EQ(facts["nodes"][0]["operator"], "conv2d");
  EXPECT_EQ(facts["nodes"][0]["attributes"]["stride"], nlohmann::json({2, 2}));
  EXPECT_EQ(facts["nodes"][0]["inputs"], nlohmann::json({"x", "conv1.weight"}));
  EXPECT_EQ(facts["tolerance"]["relative"], 3e-3);
  EXPECT_EQ(facts["flops"], graph->flops());
  EXPECT_EQ(facts["outputs"][0]["name"], "output");
}

}  // namespace
}  // namespace kbench
