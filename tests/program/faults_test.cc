// What goes wrong around the program: streams that are closed or full, disks that are, files that
// cannot be read or have a writer, evaluations in which kbench itself failed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "kbench/result.h"
#include "tests/program/run_program.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using namespace kbench::testing;

TEST(StandardOutput, ThatIsFullIsAnErrorInOneLine) {
  for (const char* question : {"list", "list --json", "--help", "show 1/19"}) {
    const Said said = run_in_shell("\"$KBENCH\" " + std::string(question) + " >/dev/full");
    EXPECT_EQ(said.code, 2) << question;
    EXPECT_THAT(said.err, MatchesRegex("kbench: cannot write to standard output: [^\n]+\n"));
  }
}

TEST(StandardOutput, ThatIsFullIsAnErrorOfEveryVerb) {
  const ScratchFolder folder;
  Result result;
  result.set = "mine";
  result.task = {1, 19};
  write_file(folder / "r.jsonl", to_json(result) + "\n");
  write_file(folder / "answer.md", "no candidate in it\n");
  std::vector<std::string> questions = {"",
                                        "help",
                                        "help show",
                                        "--version",
                                        "devices",
                                        "model prompt relu",
                                        "model extract answer.md",
                                        "devices --json",
                                        "report r.jsonl --json",
                                        "report r.jsonl"};
  if (has_software_device()) {
    const Said said = run_program({"show", "relu", "--candidate"});
    write_file(folder / "mine/relu.yaml", said.out);
    const std::string quick = " --device cpu --preset smoke";
    for (const char* question :
         {"run mine --check", "run mine --check --json", "run mine --measure-seconds 0.02",
          "diagnose mine/relu.yaml", "--candidates mine --task softmax",
          "--candidates mine --task softmax --json", "--candidates mine --benchmark_list_tests"}) {
      questions.push_back(question + quick);
    }
  }
  for (const std::string& question : questions) {
    const Said said = run_in_shell("\"$KBENCH\" " + question + " >/dev/full", folder.path());
    EXPECT_EQ(said.code, 2) << question << ": " << said.err;
    EXPECT_THAT(said.err, HasSubstr("kbench: cannot write to standard output: ")) << question;
  }
}

TEST(StandardOutput, AtTheLimitOfAFilesSizeIsAnError) {
  const ScratchFolder folder;
  const Said said = run_in_shell("ulimit -f 1; \"$KBENCH\" list --json > out", folder.path());
  EXPECT_EQ(said.code, 2);
  EXPECT_THAT(said.err, MatchesRegex("kbench: cannot write to standard output: [^\n]+\n"));
}

/// Files of every verb appear whole or not at all.
TEST(WrittenFiles, AreWholeOrNotThere) {
  const ScratchFolder folder;
  const std::string limited = "ulimit -f 1; \"$KBENCH\" ";
  const auto names = [&](const std::string& below) {
    std::vector<std::string> found;
    std::error_code ignored;
    for (const auto& each :
         std::filesystem::recursive_directory_iterator(folder / below, ignored)) {
      if (each.is_regular_file()) found.push_back(each.path().filename());
    }
    return found;
  };
  Said said;
  std::string shader;
  for (int i = 0; i < 200; ++i)
    shader += "      // a line that makes the file longer than it may be\n";
  write_file(folder / "answer.md",
             "```yaml\nkbench: 1\ntask: level1/19\nkernels:\n  relu:\n    source: |\n"
             "      #version 450\n" +
                 shader +
                 "      void main() {}\ndispatch:\n"
                 "  - {kernel: relu, bind: [x, output], groups: [1]}\n```\n");
  for (const bool there : {false, true}) {
    if (there) std::filesystem::create_directory(folder / "made");
    said =
        run_in_shell(limited + "model extract answer.md --task relu --output made", folder.path());
    EXPECT_EQ(said.code, 2) << said.out;
    EXPECT_THAT(said.err, HasSubstr("File too large"));
    EXPECT_THAT(names("made"), ::testing::IsEmpty());
    EXPECT_EQ(std::filesystem::exists(folder / "made"), there);
  }
  said = run_in_shell(
      "\"$KBENCH\" model extract answer.md --task relu --output made && "
      "\"$KBENCH\" model extract answer.md --task relu --output new/deeper",
      folder.path());
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(names("made"), ::testing::SizeIs(1));
  EXPECT_THAT(names("new"), ::testing::SizeIs(1));

  Result result;
  result.task = {1, 19};
  write_file(folder / "r.jsonl", to_json(result) + "\n");
  write_file(folder / "page.html", "as it was");
  said = run_in_shell(limited + "report r.jsonl --html page.html", folder.path());
  EXPECT_EQ(said.code, 2) << said.out;
  EXPECT_EQ(read_file(folder / "page.html"), "as it was");
}

TEST(StandardOutput, ThatNobodyReadsEndsItWithoutAWord) {
  const Said said = run_in_shell("{ \"$KBENCH\" list --json; echo $? >&2; } | head -c 1");
  EXPECT_EQ(said.err, "141\n");
}

TEST(StandardOutput, MayBeClosed) {
  EXPECT_EQ(run_in_shell("\"$KBENCH\" list --task 1/19 <&- >&- 2>&-").code, 0);
  const Said said = run_in_shell("\"$KBENCH\" list --task 1/19 <&- 2>&-");
  EXPECT_THAT(said.out, HasSubstr("1 task at preset v0.1"));
}

TEST(InputFile, ThatCannotBeReadIsNotCalledMissing) {
  const ScratchFolder folder;
  const std::string loop = folder / "loop";
  std::filesystem::create_symlink("loop", loop);
  const std::vector<std::vector<std::string>> questions = {
      {"run", loop}, {"run", "--check", loop}, {"baseline", loop}, {"--baseline", loop}};
  for (const auto& question : questions) {
    const Said said = run_program(question);
    EXPECT_EQ(said.code, 2);
    EXPECT_EQ(count_lines(said.err), 1u) << said.err;
    EXPECT_THAT(said.err, HasSubstr(loop + ": Too many levels of symbolic links"));
  }
  const Said said = run_program({"baseline", folder.path()});
  EXPECT_EQ(said.err, "kbench: cannot read " + folder.path() + ": Is a directory\n");
}

/// The main job with an --output, on a task that the set has no candidate for: nothing is run.
class Output : public ::testing::Test {
 protected:
  void SetUp() override {
    KBENCH_NEED_SOFTWARE_DEVICE();
    const Said said = run_program({"show", "1/1", "--candidate"});
    ASSERT_EQ(said.code, 0) << said.err;
    write_file(folder_ / "mine/1_1.yaml", said.out);
  }

  /// Between these words of the shell.
  Said evaluate(const std::string& before, const std::string& output, const std::string& after,
                const std::string& task = "1/19") {
    return run_in_shell(before + " \"$KBENCH\" --candidates mine --device cpu --preset smoke " +
                            "--task " + task + " --output " + output + " " + after,
                        folder_.path());
  }

  ScratchFolder folder_;
  const std::string results_ = folder_ / "results.jsonl";
};

TEST_F(Output, HoldsResultsAloneWhenStandardStreamsAreClosed) {
  EXPECT_EQ(evaluate("", "results.jsonl", "<&- >&- 2>&-").code, 0);
  EXPECT_EQ(read_results(results_).size(), 1u);
  EXPECT_EQ(count_lines(read_file(results_)), 1u);
}

TEST_F(Output, ThatIsFullCostsNoLeaderboard) {
  const Said said = evaluate("", "/dev/full", "", "1/19,1/20");
  EXPECT_EQ(said.code, 2);
  EXPECT_THAT(said.out, HasSubstr("mine             0/2"));
  EXPECT_THAT(said.out, HasSubstr("Not passed: 2"));
  EXPECT_EQ(count_lines(said.err), 2u) << said.err;
  EXPECT_THAT(said.err, HasSubstr("cannot write to /dev/full: No space left on device; results"));
  EXPECT_THAT(said.err, HasSubstr("/dev/full lacks 2 results: "));
}

TEST_F(Output, AtTheLimitOfAFilesSizeStaysAsItWas) {
  {
    ResultWriter writer(results_);
    Result other;
    other.task = {1, 1};
    other.message = std::string(100000, 'x');
    writer.append(other);
  }
  const std::string before = read_file(results_);
  const Said said = evaluate("ulimit -f 100;", "results.jsonl", "");
  EXPECT_EQ(said.code, 2) << said.err;
  EXPECT_THAT(said.out, HasSubstr("Not passed: 1"));
  EXPECT_THAT(said.err, HasSubstr("results.jsonl lacks 1 result: "));
  EXPECT_THAT(said.err, HasSubstr("File too large"));
  EXPECT_EQ(read_file(results_), before);
}

TEST_F(Output, ThatHasAWriterIsRefusedWithItsProcess) {
  const ResultWriter writer(results_);
  const Said said = evaluate("", "results.jsonl", "");
  EXPECT_EQ(said.code, 2);
  EXPECT_EQ(said.out, "");
  EXPECT_EQ(said.err, "kbench: results.jsonl is in use: process " + std::to_string(getpid()) +
                          " is writing results to it\n");
}

TEST_F(Output, ShowsNamesOfFilesWithoutTheirControlCharacters) {
  write_file(folder_ / "mine/a\n[1/1] level1/19_ReLU\x1b[32m.yaml", "kbench: [1\n");
  const Said said = evaluate("", "results.jsonl", "");
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("Not passed: 2\n"));
  EXPECT_THAT(said.out, HasSubstr("a\\x0a[1/1] level1/19_ReLU\\x1b[32m.yaml"));
  EXPECT_EQ(said.out.find('\x1b'), said.out.npos);
  EXPECT_EQ(said.out.find("\n[1/1] level1/19_ReLU\x1b"), said.out.npos);
}

TEST_F(Output, OfGoogleBenchmarkIsWholeOrAsItWas) {
  write_file(folder_ / "out.json", "as it was");
  const std::string flag = "--benchmark_out=out.json";
  const Said limited = run_in_shell(
      "ulimit -f 1; \"$KBENCH\" --candidates mine --device cpu --preset smoke --task 1/20-50 " +
          flag + " >/dev/null",
      folder_.path());
  EXPECT_EQ(limited.code, 2);
  EXPECT_THAT(limited.err, HasSubstr("cannot write out.json: File too large"));
  EXPECT_EQ(read_file(folder_ / "out.json"), "as it was");
  const Said said = evaluate("", "results.jsonl", flag);
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(read_file(folder_ / "out.json"), ::testing::EndsWith("}\n"));
}

/// Before the shell's words: a judge that opens its device and is killed as soon as it is asked.
std::string with_a_judge_that_is_killed(const ScratchFolder& folder) {
  write_file(folder / "judge",
             "#!/bin/sh\n"
             "mkfifo jobs.$$\n"
             "\"$KBENCH_REAL\" \"$@\" <jobs.$$ 3>hello.$$ &\n"
             "exec 9>jobs.$$\n"
             "until grep -q '}$' hello.$$; do sleep 0.02; done\n"
             "cat hello.$$ >&3\n"
             "read -r job\n"
             "kill -KILL $$\n");
  std::filesystem::permissions(folder / "judge", std::filesystem::perms::owner_all);
  return "KBENCH_REAL=\"$KBENCH\" KBENCH_PROGRAM=\"$PWD/judge\"";
}

TEST_F(Output, OfEvaluationsThatKbenchFailedInEndsWithOne) {
  const Said said = evaluate(with_a_judge_that_is_killed(folder_), "results.jsonl", "", "1/1");
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, HasSubstr("harness_error"));
  EXPECT_THAT(said.out, HasSubstr("the judge was killed by SIGKILL"));
  EXPECT_EQ(said.err,
            "kbench: 1 of 1 evaluation ended as harness_error, through no fault of the "
            "candidates; the same command tries them again\n");
}

}  // namespace
}  // namespace kbench
