// kbench report of results files: leaderboards, without a device.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kbench/result.h"
#include "kbench/task.h"
#include "tests/program/run_program.h"

namespace kbench {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using namespace kbench::testing;

Result result_of(const std::string& set, TaskId task, double speedup,
                 Verdict verdict = Verdict::passed) {
  Result result;
  result.set = set;
  result.candidate = to_string(task) + ".yaml";
  result.candidate_hash = "hash";
  result.task = task;
  result.task_name = find_task(task).name;
  result.preset = "smoke";
  result.device = "NVIDIA H200";
  result.settings = "tolerance=kbench precision=0.02";
  result.version = "0.1.0";
  result.certificate = "precision";
  result.verdict = verdict;
  result.speedup = {speedup * 0.9, speedup, speedup * 1.1};
  result.samples = 16;
  result.candidate_ms = 1;
  result.baseline_ms = speedup;
  return result;
}

class Score : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::vector<Result>& results) const {
    std::string text;
    for (const Result& result : results) text += to_json(result) + "\n";
    write_file(folder_ / name, text);
  }
  Said score(const std::string& arguments) const {
    return run_in_shell("\"$KBENCH\" report " + arguments, folder_.path());
  }
  /// One line on standard error and exit code 2.
  std::string refusal(const std::string& arguments) const {
    const Said said = score(arguments);
    EXPECT_EQ(said.code, 2) << said.out;
    EXPECT_EQ(said.out, "");
    EXPECT_EQ(count_lines(said.err), 1u) << said.err;
    return said.err;
  }

  ScratchFolder folder_;
};

TEST_F(Score, IsByTheSpeedupOverFurtherSizesWhereThatIsAskedFor) {
  Result timed = result_of("a", {1, 19}, 2);
  timed.settings += " workloads=1";
  timed.workloads = Workloads{
      {{{{"dim", int64_t{63}}}, {0.4, 0.5, 0.6}, 2, 1}}, {0.4, 0.5, 0.6}, {0.4, 0.5, 0.6}};
  write("1.jsonl", {timed});
  EXPECT_THAT(score("1.jsonl").out, AllOf(HasSubstr("2.00x"), Not(HasSubstr("further sizes"))));
  EXPECT_THAT(score("1.jsonl --fast-p-of least").out,
              AllOf(HasSubstr("0.50x"), HasSubstr("speedups are the least of further sizes")));
  write("2.jsonl", {result_of("a", {1, 20}, 2)});
  EXPECT_THAT(refusal("1.jsonl 2.jsonl --fast-p-of geomean"),
              HasSubstr("level1/20 of a was timed at its own sizes alone"));
}

TEST_F(Score, MakesOneLeaderboardOfAllFiles) {
  const Result uncertain = result_of("a", {2, 80}, 0.5);  // a trivial task, whatever the line says
  write("1.jsonl", {result_of("a", {1, 19}, 2), uncertain});
  write("2.jsonl", {result_of("a", {2, 1}, 3), result_of("b", {1, 19}, 0, Verdict::wrong_values)});
  write("3.jsonl", {});
  const Said said = score("1.jsonl 2.jsonl 3.jsonl --fast-p 0,1");
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(said.err, "");
  EXPECT_THAT(said.out, HasSubstr("4 results of 4 lines in 3 files\n"
                                  "NVIDIA H200, preset smoke, 3 tasks\n"));
  EXPECT_THAT(said.out, HasSubstr("fast_0 (low)"));
  EXPECT_THAT(said.out, HasSubstr("a                     3/3  1.000 (1.000)  0.667 (0.667)"));
  EXPECT_THAT(said.out, HasSubstr("  certified           2/2  1.000 (1.000)  1.000 (1.000)"));
  EXPECT_THAT(said.out, HasSubstr("b                     0/3"));
  EXPECT_THAT(said.out, HasSubstr("  not collapsing      2/2  1.000 (1.000)  1.000 (1.000)"));
  EXPECT_THAT(said.out, HasSubstr("  collapsing          1/1  1.000 (1.000)  0.000 (0.000)"));
  EXPECT_THAT(said.out, HasSubstr("Not passed: 3\n"));
  EXPECT_THAT(said.out, HasSubstr("b  missing: no candidate for 2 tasks: level2/1, 80\n"));
  EXPECT_THAT(said.out, HasSubstr("b  level1/19_ReLU  wrong_values"));
}

TEST_F(Score, NamesEachTaskOfOnesOwnThatIsMissing) {
  const std::string task =
      "kbench_task: 1\nname: my/NAME\nvariables: {n: {smoke: 4, v0.1: 8}}\ninputs: {x: {shape: "
      "[n]}}\n"
      "operators: [{op: relu, in: x, out: y}]\noutputs: y\n";
  for (const char* name : {"rope", "gate"}) {
    std::string text = task;
    write_file(folder_ / ("tasks/" + std::string(name) + ".yaml"),
               text.replace(text.find("NAME"), 4, name));
  }
  write("1.jsonl", {result_of("a", {1, 19}, 2)});
  EXPECT_THAT(score("1.jsonl --tasks tasks/,relu,1/20-21").out,
              HasSubstr("a  missing: no candidate for 4 tasks: my/gate, my/rope, level1/20-21\n"));
}

TEST_F(Score, APassAtOtherSizesIsUntriedWhateverTheLineSays) {
  Result other = result_of("a", {1, 19}, 2);
  other.variables = {{"batch_size", int64_t{3}}};
  write("1.jsonl", {other, result_of("a", {2, 1}, 3)});
  EXPECT_THAT(score("1.jsonl").out, HasSubstr("1 of 2 that passed did so at sizes without a cert"));
  const json row = json::parse(score("1.jsonl --json").out)["leaderboard"][0];
  EXPECT_EQ(row["untried"], 1);
  EXPECT_EQ(row["certified"]["tasks"], 1);
}

TEST_F(Score, TakesLevelsTasksSetsDevicesAndPresets) {
  Result other = result_of("c", {1, 19}, 5);
  other.device = "NVIDIA H100";
  Result smaller = result_of("a", {1, 19}, 7);
  smaller.preset = "v0";
  write("1.jsonl",
        {result_of("a", {1, 19}, 2), result_of("a", {2, 1}, 3), result_of("b", {1, 19}, 1), other});
  write("2.jsonl", {smaller});
  const auto rows = [&](const std::string& flags) {
    const Said said = score("1.jsonl 2.jsonl --json --device h200 --preset smoke " + flags);
    EXPECT_EQ(said.code, 0) << said.err;
    return json::parse(said.out)["leaderboard"];
  };
  EXPECT_EQ(rows("").size(), 2u);
  EXPECT_EQ(rows("")[0]["set"], "a");
  EXPECT_EQ(rows("")[0]["tasks"], 2);
  EXPECT_EQ(rows("--level 1")[0]["tasks"], 1);
  EXPECT_EQ(rows("--tasks relu,1/20-22")[0]["tasks"], 4);
  EXPECT_EQ(rows("--tasks relu,1/20-22")[0]["certified"]["correct"], 1);
  EXPECT_EQ(rows("--sets b").size(), 1u);
  EXPECT_EQ(rows("--fast-p 0,4")[0]["fast_p"].size(), 2u);
}

TEST_F(Score, WritesOneJsonDocument) {
  write("1.jsonl", {result_of("a", {1, 19}, 2)});
  const Said said = score("1.jsonl --json");
  ASSERT_EQ(said.code, 0) << said.err;
  const json document = json::parse(said.out);
  EXPECT_EQ(document["files"], json({"1.jsonl"}));
  EXPECT_EQ(document["presets"], json({"smoke"}));
  EXPECT_EQ(document["devices"][0]["name"], "NVIDIA H200");
  EXPECT_EQ(document["devices"][0]["results"], 1);
  EXPECT_EQ(document["results"][0]["task"], "level1/19");
  EXPECT_EQ(document["leaderboard"][0]["correct"], 1);
}

TEST_F(Score, RefusesToMixKindsOfDeviceAndTakesOne) {
  Result other = result_of("b", {1, 19}, 5);
  other.device = "llvmpipe";
  other.software_device = true;
  write("1.jsonl", {result_of("a", {1, 19}, 2)});
  write("2.jsonl", {other});
  EXPECT_THAT(refusal("1.jsonl 2.jsonl"),
              AllOf(HasSubstr("NVIDIA H200 (1), llvmpipe (1)"), HasSubstr("choose by --device")));
  const Said one = score("1.jsonl 2.jsonl --device LLVM");
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("\nllvmpipe, preset smoke"));
  EXPECT_THAT(one.out, HasSubstr("times were taken on a software device (llvmpipe)"));
}

TEST_F(Score, RefusesToMixPresets) {
  Result other = result_of("b", {1, 19}, 5);
  other.preset = "v0.1";
  write("1.jsonl", {result_of("a", {1, 19}, 2), other});
  EXPECT_THAT(refusal("1.jsonl"), AllOf(HasSubstr("smoke (1), v0.1 (1)"), HasSubstr("--preset")));
}

TEST_F(Score, RefusesToMixDtypesAndTakesOne) {
  Result half = result_of("a", {1, 19}, 5);
  half.dtype = DType::f16;
  write("1.jsonl", {result_of("a", {1, 19}, 2), half});
  EXPECT_THAT(refusal("1.jsonl"), AllOf(HasSubstr("f16 (1), f32 (1)"), HasSubstr("--dtype")));
  const Said one = score("1.jsonl --dtype f16");
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("NVIDIA H200, preset smoke in f16, 1 task\n"));
  EXPECT_THAT(score("1.jsonl --dtype f32").out, HasSubstr("preset smoke, 1 task\n"));
  EXPECT_THAT(refusal("1.jsonl --dtype bf16"), HasSubstr("there are: f16, f32"));
  EXPECT_THAT(refusal("1.jsonl --dtype f64"), HasSubstr("f64"));
  EXPECT_EQ(json::parse(score("1.jsonl --dtype f16 --json").out)["dtypes"], json({"f16"}));
}

TEST_F(Score, SaysWhatIsWrongWithTheQuestion) {
  write("1.jsonl", {result_of("simple", {1, 19}, 2)});
  EXPECT_THAT(refusal("1.jsonl nowhere.jsonl"), HasSubstr("nowhere.jsonl: No such file"));
  EXPECT_THAT(refusal("1.jsonl --sets simpel"), HasSubstr("did you mean 'simple'?"));
  EXPECT_THAT(refusal("1.jsonl --device A100"), HasSubstr("there are: NVIDIA H200"));
  EXPECT_THAT(refusal("1.jsonl --preset huge"), HasSubstr("huge"));
  EXPECT_THAT(refusal(""), HasSubstr("report needs RUN"));
  EXPECT_THAT(refusal("1.jsonl --k 1 --sets simple"), HasSubstr("--sets and --device choose"));
  EXPECT_THAT(refusal("1.jsonl --html x.html --device H200"), HasSubstr("do not go with"));
  write_file(folder_ / "bad.jsonl", to_json(result_of("a", {1, 19}, 2)) + "\n{}\n");
  EXPECT_THAT(refusal("bad.jsonl"), MatchesRegex("kbench: bad.jsonl:2: .*\n"));
}

// --- shards --------------------------------------------------------------------------------------

class Shards : public Score {
 protected:
  void SetUp() override {
    KBENCH_NEED_SOFTWARE_DEVICE();
    const Said said = run_program({"show", "1/1", "--candidate"});
    ASSERT_EQ(said.code, 0) << said.err;
    write_file(folder_ / "mine/1_1.yaml", said.out);
    write_file(folder_ / "yours/1_1.yaml", said.out);
  }

  /// The names of the experiments, in order.
  std::vector<std::string> list(const std::string& flags) const {
    const Said said = run_in_shell(
        "\"$KBENCH\" --candidates mine yours --device cpu --preset smoke "
        "--benchmark_list_tests " +
            flags,
        folder_.path());
    EXPECT_EQ(said.code, 0) << said.err;
    return listed_experiments(said.out);
  }
};

TEST_F(Shards, HoldEveryExperimentExactlyOnce) {
  std::vector<std::string> all = list("");
  ASSERT_EQ(all.size(), 500u);
  std::ranges::sort(all);
  for (const int count : {1, 3, 8}) {
    std::vector<std::string> joined;
    for (int index = 1; index <= count; ++index) {
      const auto part = list("--shard " + std::to_string(index) + "/" + std::to_string(count));
      EXPECT_GT(part.size(), 250u / static_cast<size_t>(count)) << "about equal";
      joined.insert(joined.end(), part.begin(), part.end());
    }
    std::ranges::sort(joined);
    EXPECT_EQ(joined, all) << count;
  }
}

TEST_F(Shards, AreTheSameOnEveryMachineWhateverElseThereIs) {
  const std::vector<std::string> part = list("--shard 2/8 --task 1/1-40");
  const std::vector<std::string> fewer = list("--shard 2/8 --task 1/20-30");
  for (const std::string& name : fewer) EXPECT_THAT(part, ::testing::Contains(name));
  // By SHA-256 of set and task, each behind its length in eight bytes, computed elsewhere: its
  // first 16 digits, modulo 8, are 1.
  EXPECT_THAT(list("--shard 2/8 --task 1/1-16"),
              ElementsAre("level1/1_Square_matrix_multiplication/mine",
                          "level1/4_Matrix_vector_multiplication/mine",
                          "level1/4_Matrix_vector_multiplication/yours",
                          "level1/5_Matrix_scalar_multiplication/mine",
                          "level1/9_Tall_skinny_matrix_multiplication/yours",
                          "level1/10_3D_tensor_matrix_multiplication/mine",
                          "level1/10_3D_tensor_matrix_multiplication/yours",
                          "level1/14_Matmul_for_upper_triangular_matrices/mine",
                          "level1/16_Matmul_with_transposed_A/mine"));
}

TEST_F(Shards, AreScoredTogetherAsTheWholeIs) {
  const auto job = [&](const std::string& flags) {
    return run_in_shell(
        "\"$KBENCH\" --candidates mine yours --device cpu --preset smoke --task "
        "1/19-24 " +
            flags,
        folder_.path());
  };
  ASSERT_EQ(job("--output whole.jsonl").code, 0);
  for (const char* shard : {"1/3", "2/3", "3/3"}) {
    const std::string part(1, shard[0]);
    const Said said = job("--shard " + std::string(shard) + " --output part" + part + ".jsonl");
    EXPECT_EQ(said.code, 0) << said.err;
    EXPECT_THAT(said.out, HasSubstr("shard " + part + " of 3: "));
    EXPECT_THAT(said.out, Not(HasSubstr("geomean"))) << "a part has no score";
  }
  const Said whole = score("whole.jsonl --json"), parts = score("part?.jsonl --json");
  ASSERT_EQ(whole.code, 0) << whole.err;
  ASSERT_EQ(parts.code, 0) << parts.err;
  EXPECT_EQ(json::parse(whole.out)["leaderboard"], json::parse(parts.out)["leaderboard"]);
  EXPECT_EQ(json::parse(parts.out)["results"].size(), 12u);
}

}  // namespace
}  // namespace kbench
