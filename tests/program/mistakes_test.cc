// Commands mistyped as people do. Each ends in one sentence of kbench's own that names what was
// wrong, or in a verdict; none in another library's words.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/program/run_program.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;
using namespace kbench::testing;

/// Characters of an answer to a question on the command line, beside the command itself.
constexpr size_t kShort = 250;

struct Mistyped {
  std::string command;  ///< as typed, behind "kbench"
  std::string says;     ///< a part of the line on standard error
};

/// What libraries say: none of it means anything to who typed the command.
constexpr const char* kForeignWords[] = {
    "json.exception", "yaml-cpp",     "CLI::",     "basic_string",      "std::",
    "what():",        "terminate",    "mu::",      "filesystem error",  "bad_alloc",
    "not in {",       "not in range", "required ", "Could not convert", "excludes",
    "requires",       "At Most",      "(missing",  "subcommand",        "regex_error"};

/// Files of every wrong kind, in a folder of their own.
class MistypedCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string bytes =
        "\x7f"
        "ELF";
    for (int i = 0; i < 300; ++i) bytes += static_cast<char>(i * 37);
    for (const char* name : {"binary.yaml", "binary.jsonl", "binary.json"}) {
      write_file(folder_ / name, bytes);
    }
    for (const char* name : {"empty.yaml", "empty.json"}) write_file(folder_ / name, "");
    write_file(folder_ / "broken.jsonl", "{\"a\": 1\n");
    write_file(folder_ / "list.json", "[1, 2]\n");
    write_file(folder_ / "object.json", "{}\n");
    write_file(folder_ / "text.json", "hello world\n");
    write_file(folder_ / "times.csv", "task,ms\n1/1,abc\n");
    write_file(folder_ / "half.yaml", "kbench: 1\ntask: level1/19\n");
    write_file(folder_ / "relu.comp", "void main() {}\n");
    write_file(folder_ / "relu.py", "import torch\n");
    std::filesystem::create_directory(folder_ / "folder");
    write_file(folder_ / "begun/run.yaml", "");
    write_file(folder_ / "answer.md",
               "```yaml\nkbench: 1\ntask: level1/19\nkernels:\n  relu: {file: relu.comp}\n```\n\n"
               "```glsl\n#version 450\nvoid main() {}\n```\n");
    write_file(folder_ / "odd.yaml", "models:\n- {url: 'http://h/v1', model: \"m\xff\"}\n");
    write_file(folder_ / "map.yaml", "models: {a: b}\n");
    write_file(folder_ / "url.yaml", "models:\n- {url: 'http://h:port/v1', model: m}\n");
    write_file(folder_ / "key.yaml", "models:\n- {url: 'http://h/v1', modle: m}\n");
    write_file(folder_ / "models.yaml", "models:\n- {url: 'http://h/v1', model: m}\n");
    write_file(folder_ / "broken/attempts.jsonl", "x\n");
  }

  /// One line, and where it is about a line of a file, that one with a caret below; the same for
  /// each further error of the file.
  static void expect_sentences(const std::string& text) {
    std::istringstream lines(text);
    int sentences = 0;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("    | ")) ++sentences;
      EXPECT_TRUE(line.starts_with("    | ") || line.starts_with("kbench: ")) << text;
    }
    EXPECT_TRUE(sentences == 1 || text.find("    | ") != text.npos) << text;
  }

  void expect_one_sentence(const Mistyped& mistyped, size_t most = 700) {
    const Said said = run_in_shell("\"$KBENCH\" " + mistyped.command, folder_.path());
    EXPECT_EQ(said.code, 2) << mistyped.command << "\n" << said.out << said.err;
    EXPECT_EQ(said.out, "") << mistyped.command;
    expect_sentences(said.err);
    EXPECT_LT(said.err.size(), most + mistyped.command.size()) << mistyped.command;
    EXPECT_TRUE(said.err.starts_with("kbench: ")) << mistyped.command << "\n" << said.err;
    EXPECT_FALSE(said.err.starts_with("kbench: :")) << mistyped.command << "\n" << said.err;
    EXPECT_THAT(said.err, HasSubstr(mistyped.says)) << mistyped.command;
    for (const char* word : kForeignWords) {
      EXPECT_EQ(said.err.find(word), said.err.npos) << mistyped.command << "\n" << said.err;
    }
  }

  ScratchFolder folder_;
};

class QuickMistypedCommands : public MistypedCommands {};

TEST_F(QuickMistypedCommands, VerbsAreNamedAndMeantOnesSuggested) {
  for (const Mistyped& each : std::vector<Mistyped>{
           {"lst", "did you mean 'list'?"},
           {"rnu half.yaml", "did you mean 'run'?"},
           {"relu", "`kbench show relu`"},
           {"1/19", "it is a task"},
           {"half.yaml", "`kbench run half.yaml`"},
           {"folder", "it is a folder without candidates"},
           {".", "`kbench run .`"},
           {"frobnicate", "verbs: "},
           {"help nothing", "'nothing'"},
           {"help list show", "'show'; see kbench list --help"},
           {"help model promt", "did you mean 'prompt'?"},
           {"model", "model needs a verb: prompt, extract, transcript, check"},
           {"model promt relu", "model has no verb 'promt'; it has prompt, extract, transcript"},
           {"prompt relu --json", "'prompt' is no verb any more: write `kbench model prompt TASK`"},
           {"models half.yaml", "write `kbench model check FILE`"},
           {"model prompt --jsn", "did you mean '--json'?; see kbench model prompt --help"},
           {"--hlep", "did you mean '--help'?"},
           {"help shwo", "did you mean 'show'?"},
           {"--level 1 list", "'--level' stands before the verb 'list'"},
           {"worker", "worker"},
       }) {
    expect_one_sentence(each, kShort);
  }
}

TEST_F(MistypedCommands, FlagsAreNamedAndWhatTheyTake) {
  for (const Mistyped& each : std::vector<Mistyped>{
           {"run half.yaml --jsn", "did you mean '--json'?"},
           {"run half.yaml -json", "did you mean '--json'?"},
           {"run half.yaml -j", "'-j'"},
           {"run half.yaml --json=maybe", "'--json' takes no value"},
           {"run half.yaml --sanitize=maybe", "'maybe' is none of off, label, fail"},
           {"run half.yaml --preset", "--preset auto|PRESET"},
           {"run half.yaml --set", "--set VAR=N"},
           {"run half.yaml --output --json", "'--output' lacks its value"},
           {"run half.yaml --output ''", "'--output' is given an empty text"},
           {"run --level 1", "kbench run has no flag '--level'; list, "},
           {"diagnose half.yaml --server u", "no flag '--server'; run, generate have it"},
           {"run half.yaml --compare --devices all", "'--compare' cannot go with '--devices'"},
           {"run half.yaml --server u --devices all", "cannot go with"},
           {"list --task", "--task TASK,..."},
           {"list --task --json", "'--json' is a flag"},
           {"list --task ''", "'--task' is given an empty text"},
           {"list --preset smoke --preset v0", "'--preset' is given twice"},
           {"list --json --josn", "did you mean '--json'?"},
           {"list relu gelu", "unexpected argument 'gelu'"},
           {"list relu --task gelu", "cannot go with"},
           {"list --operators --preset v0", "cannot go with"},
           {"list --operators rellu", "did you mean 'relu'?"},
           {"list --operators rsqrt", "write sqrt, then div"},
           {"list --operators silu", "write sigmoid, then mul"},
           {"list --operators addmm", "write matmul, then add"},
           {"show 1/1 2/1", "unexpected argument '2/1'"},
           {"show relu --candidate --json", "exclude each other"},
           {"devices 0", "unexpected argument '0'"},
           {"devices --device 0", "kbench devices has no flag '--device'; "},
           {"serve extra", "unexpected argument 'extra'"},
           {"--frobnicate", "--frobnicate"},
           {"--fastp 1", "did you mean '--fast-p'?"},
           {"list --frobnicate", "kbench list --help"},
           {"list --tsak=1/1", "did you mean '--task'?"},
           {"list --benchmark_filter=x", "main job"},
           {"--json --benchmark_format=json", "--json"},
           {"--benchmark_frobnicate=1", "--benchmark_frobnicate"},
           {"serve --http", "--http ADDRESS"},
           {"serve --devices all --device 0", "'--device' cannot go with '--devices'"},
           {"serve --devices ''", "'--devices' is given an empty text"},
           {"baseline", "baseline needs FILE"},
           {"report empty.yaml --fast-p", "--fast-p P,..."},
           {"--fast-p", "--fast-p P,..."},
           {"--candidates", "--candidates DIR|SET..."},
           {"--benchmark_repetitions=many", "--benchmark_repetitions"},
       }) {
    expect_one_sentence(each, kShort);
  }
}

TEST_F(MistypedCommands, ValuesAreNamedAndTheirRange) {
  for (const Mistyped& each : std::vector<Mistyped>{
           {"run half.yaml --min-samples -3", "'-3' is not a whole number from 0 to 1000000"},
           {"--min-samples -1", "--min-samples"},
           {"run half.yaml --min-samples abc", "'abc' is not a whole number"},
           {"run half.yaml --min-samples 1.5", "'1.5' is not a whole number"},
           {"run half.yaml --measure-seconds ten", "--measure-seconds: 'ten' is not a number"},
           {"run half.yaml --measure-seconds -1", "--measure-seconds: '-1' is not a number"},
           {"run half.yaml --precision 2", "'2' is not a number from 0 to 1"},
           {"run half.yaml --tolerance tight", "none of kbench, kernelbench"},
           {"run half.yaml --tolerance kernelbnch", "did you mean 'kernelbench'?"},
           {"run half.yaml --host-memory 0", "'0' is not a number"},
           {"run half.yaml --input-seed 1.5", "--input-seed: '1.5' is not a whole number"},
           {"run half.yaml --fail-under fast", "--fail-under: 'fast' is not a number"},
           {"run half.yaml --set batch_size", "'batch_size' is not NAME=VALUE"},
           {"run half.yaml --set batch_size=", "is not NAME=VALUE"},
           {"run half.yaml --set =3", "is not NAME=VALUE"},
           {"run half.yaml --set batch_size=abc", "is not NAME=VALUE"},
           {"run half.yaml --preset big --device cpu", "known: smoke, train, v0, v0.1"},
           {"run half.yaml --opponent jax", "torch.compile:max-autotune"},
           {"run half.yaml --opponent best:torch,eager", "there is no opponent 'eager'"},
           {"--preset huge", "huge"},
           {"--device nothing-like-it", "nothing-like-it"},
           {"--measure-seconds nan", "--measure-seconds"},
           {"--host-memory nan", "--host-memory"},
           {"--device-seconds 1e999", "--device-seconds"},
           {"--input-seed=-1", "--input-seed"},
           {"--input-seed 18446744073709551616", "--input-seed"},
           {"--fast-p fast", "fast"},
           {"--fast-p=-1", "-1"},
           {"--fast-p-of most", "most"},
           {"--fast-p-of least", "--fast-p-of least takes --workloads N"},
           {"--workloads 0", "--workloads"},
           {"--workloads 65", "not a whole number from 1 to 64"},
           {"--fast-p 1,nan", "--fast-p"},
           {"--level 7", "level 7"},
           {"--shard 0/2", "I from 1 to N"},
           {"--shard 3/2", "'3/2'"},
           {"--benchmark_format=xml", "xml"},
           {"'--benchmark_filter=('", "regular expression"},
           {"--benchmark_out=/nowhere/x.json", "/nowhere/x.json"},
           {"show 1/19 --set depth=3", "depth"},
           {"show 2/1 --set height=1", "conv2d"},
           {"show level1/19 --pytorch --json", "exclude each other"},
           {"list --preset V0", "did you mean 'v0'?"},
           {"list --preset 0.1", "did you mean 'v0.1'?"},
           {"list --preset auto", "unknown preset 'auto'"},
           {"list --level 1,x", "not 'x'"},
           {"list --level -1", "not '-1'"},
           {"list --level 0", "no task of level 0"},
           {"list --task 1/1 --set n=4", "did you mean 'N'?"},
           {"list --task 1/1 --set N=0", "A would be empty"},
           {"list --task 1/1 --set N=99999999999999999999", "'N'"},
           {"list --task 1/1 --set N=1e3", "'N'"},
           {"report list.json --preset big", "known: smoke, train, v0, v0.1"},
           {"report list.json --fast-p -1", "'-1' is not a number"},
           {"serve --preset big", "unknown preset 'big'"},
           {"--shard 1", "I from 1 to N"},
           {"--shard a/b", "'a/b'"},
           {"--fast-p ''", "'--fast-p' is given an empty text"},
           {"new relu --language gsl", "did you mean 'glsl'?"},
       }) {
    expect_one_sentence(each, kShort);
  }
}

TEST_F(MistypedCommands, TasksAreNamedAndNearOnesSuggested) {
  for (const Mistyped& each : std::vector<Mistyped>{
           {"show", "show needs TASK"},
           {"show ''", "'TASK' is given an empty text"},
           {"show rellu", "did you mean 'relu'?"},
           {"show nothing", "'nothing' is not a task"},
           {"show level1-19", "is not a task"},
           {"show level9/1", "level9/1"},
           {"show level1/999", "1/999"},
           {"show vgg", "level3/11 VGG16, level3/12 VGG19"},
           {"--task 'level9/*'", "9"},
           {"list --task level1", "1/* for a level"},
           {"show 1", "can be 3 tasks"},
           {"show 19", "level1/19 ReLU, level2/19"},
           {"list --task 1/0", "'1/0'"},
           {"list --task 1/9-1", "'1/9-1'"},
           {"list --task 4/1", "'4/1'"},
           {"list --task convv", "'convv' is not a task"},
           {"new", "new needs TASK"},
           {"new nothing", "'nothing' is not a task"},
           {"report list.json --task nothing", "list.json"},
       }) {
    expect_one_sentence(each, kShort);
  }
}

TEST_F(MistypedCommands, FilesAreNamedAndWhatIsWrongWithThem) {
  for (const Mistyped& each : std::vector<Mistyped>{
           {"run", "run needs CANDIDATE"},
           {"run nothing.yaml", "cannot read nothing.yaml: No such file"},
           {"run --check nothing.yaml", "nothing.yaml"},
           {"run half.yaml nothing.yaml", "cannot read nothing.yaml"},
           {"run folder", "'folder' holds no candidate"},
           {"run relu.comp", "'relu.comp' is a GLSL shader and no candidate"},
           {"run relu.comp", "`kbench new TASK --language glsl`"},
           {"run relu.py", "defines no ModelNew"},
           {"run - -", "'-' is given twice"},
           {"run half.yaml --output folder --device cpu", "folder: Is a directory"},
           {"run half.yaml --output /nowhere/r.jsonl --device cpu", "/nowhere/r.jsonl"},
           {"run half.yaml --baseline nothing.json", "cannot read nothing.json"},
           {"run half.yaml --baseline folder", "cannot read folder: Is a directory"},
           {"run half.yaml --baseline empty.json", "empty.json"},
           {"run half.yaml --baseline list.json", "list.json"},
           {"run half.yaml --baseline nothing.json:ms", "cannot read nothing.json"},
           {"run half.yaml --baseline object.json", "holds no times"},
           {"run half.yaml --baseline times.csv", "times.csv"},
           {"run half.yaml --baseline binary.json", "binary.json"},
           {"run half.yaml --compare", "--compare takes two candidates, and these are 1"},
           {"run half.yaml half.yaml --compare --baseline times.csv", "leave --baseline out"},
           {"run half.yaml --check --output r.jsonl", "'--check' cannot go with '--output'"},
           {"run half.yaml --watch --json", "'--watch' cannot go with '--json'"},
           {"run half.yaml half.yaml --watch", "--watch takes one candidate"},
           {"run - --watch", "--watch takes one candidate, in a file"},
           {"run folder --confirm", "folder is no run"},
           {"run half.yaml --confirm", "half.yaml is no run"},
           {"run begun --check", "begun is a run: it is judged alone"},
           {"run half.yaml begun", "begun is a run: it is judged alone"},
           {"run begun --replay r.jsonl", "begun is a run: it is judged alone"},
           {"run half.yaml --replay none.jsonl", "there is no file 'none.jsonl'"},
           {"run half.yaml --replay times.csv:x", "'x' is no line; they are counted from 1"},
           {"run half.yaml --replay r.jsonl --input-seed 7", "cannot go with '--input-seed'"},
           {"check half.yaml", "'check' is no verb any more: write `kbench run CANDIDATE --check`"},
           {"compare half.yaml run", "write `kbench run A B --compare`"},
           {"judge run --confirm", "write `kbench run RUN`"},
           {"help repl", "write `kbench run CANDIDATE --watch`"},
           {"import relu.py --out imported", "write `kbench run FILE.py`"},
           {"baseline nothing.json", "cannot read nothing.json"},
           {"baseline object.json", "no baseline of kbench's"},
           {"baseline empty.json", "empty.json"},
           {"report", "report needs RUN"},
           {"report nothing.jsonl", "cannot read nothing.jsonl"},
           {"report folder", "holds no attempts.jsonl"},
           {"score r.jsonl", "'score' is no verb any more: write `kbench report FILES`"},
           {"report binary.jsonl", "binary.jsonl:1"},
           {"report broken.jsonl", "broken.jsonl:1"},
           {"report half.yaml", "half.yaml:1"},
           {"report object.json", "object.json:1"},
           {"serve --device 'none such'", "none such"},
           {"new relu half.yaml", "cannot make the folder half.yaml"},
           {"--candidates nothing", "no candidates at 'nothing'"},
           {"--candidates folder", "'folder' holds no candidate"},
           {"--candidates relu.comp", "a GLSL shader"},
       }) {
    expect_one_sentence(each);
  }
}

TEST_F(MistypedCommands, OfModelsAndTheirRunsToo) {
  for (const char* command : {"model extract",
                              "model extract none.md",
                              "model extract broken",
                              "model extract LONG",
                              "model extract answer.md answer.md",
                              "model extract answer.md --output ''",
                              "model extract answer.md --task 1/999",
                              "model extract answer.md --jsno",
                              "model check none.yaml",
                              "model check broken",
                              "model check odd.yaml",
                              "model check map.yaml",
                              "model check url.yaml",
                              "model check text.json",
                              "model check answer.md",
                              "model check LONG",
                              "model odd.yaml",
                              "model --json",
                              "model transcript none",
                              "model transcript text.json",
                              "model transcript broken",
                              "model transcript broken 19",
                              "model transcript broken 1/19/0",
                              "model transcript broken 1/19/1/1/1",
                              "model transcript broken relu",
                              "model transcript LONG",
                              "report text.json",
                              "report broken",
                              "report LONG",
                              "report broken --k 0",
                              "generate r",
                              "generate r --models none",
                              "generate r --models odd.yaml --task 1/19",
                              "generate r --replay broken",
                              "generate LONG --models url.yaml",
                              "generate r --models map.yaml --goal fast"}) {
    Mistyped each{command, ""};
    const size_t at = each.command.find("LONG");
    if (at != std::string::npos) each.command.replace(at, 4, std::string(5000, 'a'));
    expect_one_sentence(each);
  }
  expect_one_sentence({"model check key.yaml", "key.yaml:2:24: unknown key 'modle'"});
  expect_one_sentence({"model check models.yaml --model x", "has no model 'x'; it has m"});
}

TEST_F(MistypedCommands, WhatIsNoCandidateIsAVerdictWithItsPlace) {
  KBENCH_NEED_SOFTWARE_DEVICE();
  for (const Mistyped& each : std::vector<Mistyped>{
           {"empty.yaml", "empty.yaml:1:1: error: the file is empty"},
           {"binary.yaml", "binary.yaml:1:1: error: not a text file"},
           {"half.yaml", "half.yaml:1:1: error: missing key 'dispatch'"},
       }) {
    const Said said = run_program({"run", folder_ / each.command, "--device", "cpu"});
    EXPECT_EQ(said.code, 1) << said.out;
    EXPECT_THAT(said.out, HasSubstr("invalid_candidate"));
    EXPECT_THAT(said.out, HasSubstr(each.says));
    for (const char* word : kForeignWords) EXPECT_EQ(said.out.find(word), said.out.npos) << word;
  }
}

TEST(DevScript, ShowsItsHelpOnStandardOutput) {
  const Said said = run_in_shell("\"" KBENCH_DEV "\" --help");
  EXPECT_EQ(said.code, 0);
  EXPECT_THAT(said.out, HasSubstr("./dev run ARGS"));
  EXPECT_EQ(said.err, "");
  EXPECT_EQ(run_in_shell("\"" KBENCH_DEV "\" frobnicate").code, 2);
}

}  // namespace
}  // namespace kbench
