// Tasks of one's own from the command line: shown, judged, resumed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "kbench/certificate.h"
#include "kbench/result.h"
#include "tests/program/run_program.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace kbench::testing;

constexpr char kTask[] = R"yaml(kbench_task: 1
name: my/gate
variables:
  rows: {smoke: 5, v0.1: 4096}
  width: {smoke: 12, v0.1: 1024}
inputs:
  x: {shape: [rows, width]}
parameters:
  w: {shape: [width]}
operators:
  - {op: sigmoid, in: x, out: g}
  - {op: mul, in: [g, w], out: g}
  - {op: mul, in: [x, g], out: y}
outputs: y
)yaml";

constexpr char kKernel[] = R"yaml(kbench: 1
task: my/gate
kernels:
  gate:
    source: |
      #version 450
      layout(local_size_x = 64) in;
      layout(binding = 0) readonly buffer X { float x[]; };
      layout(binding = 1) readonly buffer W { float w[]; };
      layout(binding = 2) writeonly buffer Y { float y[]; };
      void main() {
        const uint i = gl_GlobalInvocationID.x;
        if (i < KB_rows * KB_width) y[i] = x[i] * w[i % KB_width] / (1.0 + exp(-x[i]));
      }
dispatch:
  - {kernel: gate, bind: [x, w, output], groups: "ceil_div(rows * width, 64)"}
)yaml";

class OwnTask : public ::testing::Test {
 protected:
  void SetUp() override {
    KBENCH_NEED_SOFTWARE_DEVICE();
    write_file(folder_ / "tasks/gate.yaml", kTask);
    write_file(folder_ / "set/gate.yaml", kKernel);
  }
  Said kbench(const std::string& arguments) const {
    return run_in_shell("\"$KBENCH\" " + arguments, folder_.path());
  }
  ScratchFolder folder_;
};

class QuickOwnTask : public OwnTask {};

TEST_F(QuickOwnTask, IsJudgedByItsFile) {
  const std::string run = "run set/gate.yaml --device cpu --measure-seconds 0.05 --json --tasks ";
  Said said = kbench(run + "tasks/");
  EXPECT_EQ(said.code, 0) << said.out << said.err;
  const Result passed = result_from_json(said.out);
  EXPECT_EQ(passed.verdict, Verdict::passed) << passed.message;
  EXPECT_EQ(to_string(passed.task), "my/gate");
  EXPECT_THAT(passed.settings, HasSubstr(" task="));
  EXPECT_EQ(passed.variables.at("width"), VariableValue(int64_t{12}));

  // Other sizes, another type, a mistake.
  EXPECT_EQ(kbench(run + "tasks/gate.yaml --set rows=7").code, 0);
  EXPECT_EQ(kbench("run set/gate.yaml --device cpu --tasks tasks/ --set rows=no").code, 2);
  std::string wrong = kKernel;
  wrong.replace(wrong.find("exp(-x"), 6, "exp(+x");
  write_file(folder_ / "wrong.yaml", wrong);
  said = kbench("run wrong.yaml --device cpu --json --tasks tasks/");
  EXPECT_EQ(said.code, 1);
  EXPECT_EQ(result_from_json(said.out).verdict, Verdict::wrong_values) << said.out;
}

TEST_F(OwnTask, HasTheCertificateBesideItsFile) {
  const std::string run =
      "run set/gate.yaml --device cpu --measure-seconds 0.05 --json --tasks tasks/gate.yaml";
  const auto certificate = [&](const std::string& more = "") {
    return result_from_json(kbench(run + more).out).certificate;
  };
  EXPECT_EQ(certificate(), kUntried);
  const Said made = kbench("task certify tasks/gate.yaml");
  EXPECT_EQ(made.code, 0) << made.out << made.err;
  EXPECT_THAT(made.out, HasSubstr("my/gate  certified"));
  EXPECT_EQ(certificate(), kCertifiedPrecision);
  EXPECT_EQ(certificate(" --dtype bf16"), kUntried) << "it is of one type";
  EXPECT_THAT(kbench("show tasks/gate.yaml --preset smoke").out, HasSubstr("certified: no known"));

  kbench(run + " --output r.jsonl");
  const Said report = kbench("report r.jsonl --task tasks/gate.yaml");
  EXPECT_THAT(report.out,
              ::testing::AllOf(HasSubstr("1/1"), Not(HasSubstr("without a certificate"))));

  kbench("task certify tasks/gate.yaml --dtype bf16");
  const std::string beside = folder_ / "tasks/gate.certificates.jsonl", both = read_file(beside);
  EXPECT_EQ(count_lines(both), 2u);
  EXPECT_NE(certificate(" --dtype bf16"), kUntried);
  EXPECT_EQ(certificate(), kCertifiedPrecision) << "the other one is kept";

  write_file(folder_ / "tasks/gate.yaml", std::string("# said otherwise\n") + kTask);
  EXPECT_EQ(certificate(), kCertifiedPrecision);
  write_file(folder_ / "tasks/gate.yaml",
             std::string(kTask) + "tolerance: {relative: 1e-3, reason: sums}\n");
  EXPECT_EQ(certificate(), kUntried);
  EXPECT_THAT(kbench(run).err, HasSubstr("the certificate of my/gate at preset smoke is not used, "
                                         "as the task or its tolerance was another"));

  write_file(folder_ / "tasks/gate.yaml", kTask);
  std::string other = both;
  other.replace(other.find("\"tolerance\":0.0001"), 18, "\"tolerance\":0.0002");
  write_file(beside, other);
  EXPECT_THAT(kbench(run).err, HasSubstr("as the task or its tolerance was another"));
  write_file(beside, "{\"preset\": 1}\n");
  const Said broken = kbench(run);
  EXPECT_EQ(broken.code, 2);
  EXPECT_THAT(broken.err, HasSubstr("a certificate of tasks/gate.yaml"));
}

/// The example files that ship, by their names.
std::vector<std::string> example_files() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(KBENCH_EXAMPLE_TASKS)) {
    names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

std::string path_of_example(const std::string& name) {
  return "\"" KBENCH_EXAMPLE_TASKS "/" + name + ".yaml\"";
}

TEST_F(OwnTask, ExamplesHaveNothingToLookInto) {
  EXPECT_GE(example_files().size(), 4u);
  for (const std::string& name : example_files()) {
    const Said said = kbench("task check " + path_of_example(name));
    EXPECT_EQ(said.code, 0) << said.out << said.err;
  }
}

/// The candidate that kbench prints for each of the example files, in each type.
class ExampleTask : public OwnTask,
                    public ::testing::WithParamInterface<std::tuple<std::string, std::string>> {};

TEST_P(ExampleTask, PassesAsThePrintedCandidate) {
  const auto& [name, dtype] = GetParam();
  const std::string at = path_of_example(name) + " --preset smoke --dtype " + dtype;
  Said said = kbench("show " + at + " --candidate > candidate.yaml");
  ASSERT_EQ(said.code, 0) << said.err;
  // A pipeline for each operator, which lavapipe compiles partly when it first runs: long where
  // other tests keep the processors busy. The printed sizes are numbers: no others to try.
  said = kbench(
      "run candidate.yaml --device cpu --measure-seconds 0.05 --compile-seconds 150 "
      "--device-seconds 150 --total-seconds 280 --other-sizes none --json --tasks " +
      at);
  ASSERT_EQ(said.code, 0) << said.out << said.err;
  const Result result = result_from_json(said.out);
  EXPECT_EQ(result.verdict, Verdict::passed) << result.message;
  EXPECT_EQ(to_string(result.task), "example/" + name);
  EXPECT_EQ(name_of(result.dtype), dtype);
}

/// Every file in float32 and in one type of halves, of which each takes about 20 seconds.
std::vector<std::tuple<std::string, std::string>> examples_in_types() {
  std::vector<std::tuple<std::string, std::string>> cases;
  for (const std::string& name : example_files()) {
    cases.emplace_back(name, "f32");
    cases.emplace_back(name, cases.size() % 4 == 1 ? "f16" : "bf16");
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, ExampleTask, ::testing::ValuesIn(examples_in_types()),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_" + std::get<1>(info.param);
                         });

TEST_F(OwnTask, IsUnknownWithoutItsFile) {
  const Said said = kbench("run set/gate.yaml --device cpu");
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, HasSubstr("there is no task my/gate"));
  EXPECT_EQ(kbench("show my/gate").code, 2);
  const Said missing = kbench("run set/gate.yaml --device cpu --tasks nothing.yaml");
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, HasSubstr("nothing.yaml"));
}

TEST_F(OwnTask, IsShownAndWrittenAsACandidateAndAFile) {
  EXPECT_THAT(kbench("show tasks/gate.yaml --preset smoke").out, HasSubstr("x: [5, 12]"));
  EXPECT_THAT(kbench("show tasks/gate.yaml --preset smoke --candidate").out,
              HasSubstr("task: my/gate"));
  const std::string text = kbench("show tasks/gate.yaml --preset smoke --task-file").out;
  EXPECT_THAT(text, HasSubstr("{op: sigmoid, in: x, out: g}"));
  write_file(folder_ / "again.yaml", text);
  EXPECT_THAT(kbench("show again.yaml --preset smoke").out, HasSubstr("output = mul(x, v2)"));
  write_file(folder_ / "broken.yaml", std::string(kTask) + "what: 1\n");
  const Said broken = kbench("show broken.yaml --preset smoke");
  EXPECT_EQ(broken.code, 2);
  EXPECT_THAT(broken.err, HasSubstr("broken.yaml:15:1"));
}

TEST_F(OwnTask, IsCheckedAndBegun) {
  Said said = kbench("task check tasks/gate.yaml");
  EXPECT_THAT(said.out, HasSubstr("rows=4096, width=1024: 3 operators"));
  EXPECT_THAT(said.out, HasSubstr("outputs depend on every tensor"));
  EXPECT_EQ(said.code, 0) << said.out;
  std::string dead = kTask;
  dead.replace(dead.find("in: [x, g], out: y"), 18, "in: [x, x], out: y");
  write_file(folder_ / "dead.yaml", dead);
  said = kbench("task check dead.yaml");
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, HasSubstr("no output depends on parameter w"));
  said = kbench("task new mine/first > first.yaml && \"$KBENCH\" task check first.yaml");
  EXPECT_EQ(said.code, 0) << said.out << said.err;
  EXPECT_THAT(said.out, HasSubstr("mine/first"));
  EXPECT_EQ(kbench("task new relu").code, 2);
  EXPECT_EQ(kbench("task check nothing.yaml").code, 2);
  EXPECT_THAT(kbench("task certify tasks/").err, HasSubstr("certify takes the file of one task"));
  EXPECT_THAT(kbench("task certify 1/19").err, HasSubstr("certify takes the file of one task"));
  EXPECT_THAT(kbench("task certify tasks/gate.yaml --preset v7").err, HasSubstr("'v7' is none of"));
  said = kbench("task from-pytorch nothing.py");
  EXPECT_EQ(said.code, 2);
  EXPECT_THAT(said.err, HasSubstr("nothing.py"));
  said = kbench("task from-pytorch nothing.py --name block");
  EXPECT_EQ(said.code, 2);
  EXPECT_THAT(said.err, HasSubstr("'block' cannot name a task"));
}

/// A task of one operator on x.
std::string one_operator(const std::string& step, const std::string& data = "") {
  return "kbench_task: 1\nname: my/one\ninputs: {x: {shape: [8, 8]}}\n" + data + "operators:\n" +
         step + "\noutputs: y\n";
}

TEST_F(OwnTask, WhoseRightValuesAreNaNIsRefusedWithTheOperator) {
  write_file(folder_ / "roots.yaml", one_operator("  - {op: relu, in: x, out: r}\n"
                                                  "  - {op: sqrt, in: x, out: s}\n"
                                                  "  - {op: add, in: [r, s], out: y}"));
  const std::string maker = "sqrt of x (operator 2 of 3) makes them";
  Said said = kbench("task check roots.yaml");
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, HasSubstr("no candidate can be right: output is NaN at "));
  EXPECT_THAT(said.out, HasSubstr(maker));
  said = run_in_shell("\"" KBENCH_DEV_PROGRAM "\" audit --tasks roots.yaml", folder_.path());
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, HasSubstr(maker));
  EXPECT_THAT(said.out, Not(HasSubstr("certified")));
  EXPECT_EQ(kbench("show roots.yaml --preset smoke --candidate > roots_candidate.yaml").code, 0);
  said = kbench("run roots_candidate.yaml --device cpu --preset smoke --tasks roots.yaml");
  EXPECT_EQ(said.code, 2);
  EXPECT_THAT(said.err, HasSubstr("my/one: its right values are no numbers: output is NaN at "));
  EXPECT_THAT(said.err, HasSubstr(maker));
}

TEST_F(OwnTask, WhoseOutputIsAlwaysTheSameIsSeen) {
  write_file(folder_ / "zero.yaml",
             one_operator("  - {op: mul_scalar, in: x, out: y, attributes: {value: 0}}"));
  write_file(folder_ / "difference.yaml", one_operator("  - {op: sub, in: [x, x], out: d}\n"
                                                       "  - {op: add_scalar, in: d, out: y, "
                                                       "attributes: {value: 3}}"));
  Said said = kbench("task check zero.yaml");
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, HasSubstr("output is always 0, whatever is computed"));
  said = kbench("task check difference.yaml");
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, HasSubstr("output is the same for all draws"));
}

TEST_F(OwnTask, WithNaNAsDataIsPrintedAndChecked) {
  write_file(folder_ / "nan.yaml",
             one_operator("  - {op: matmul, in: [x, d], out: y}",
                          "data: {d: {shape: [8, 8], values: \"nan 61*0 -0.0 nan\"}}\n"));
  Said said = kbench("show nan.yaml --preset smoke --pytorch");
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("torch.nan, *[0] * 61, -0.0, torch.nan"));
  said = kbench("task check nan.yaml");
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, HasSubstr("a tensor that the task is given has them"));
}

TEST_F(OwnTask, SaysOfWhichModuleItWasMade) {
  write_file(folder_ / "made.yaml",
             std::string(kTask) + "module: \"gate.py: not compared with it: 13 MiB\"\n");
  const Said said = kbench("task check made.yaml");
  EXPECT_EQ(said.code, 0) << said.out;
  EXPECT_THAT(said.out, HasSubstr("module  gate.py: not compared with it: 13 MiB"));
}

TEST_F(OwnTask, OfAJobIsTakenUpAgainWhereItsFileMeansTheSame) {
  const std::string job =
      "--tasks tasks/gate.yaml --candidates set --device cpu --measure-seconds 0.05 --output "
      "r.jsonl";
  const Said first = kbench(job);
  EXPECT_EQ(first.code, 0) << first.out << first.err;
  EXPECT_THAT(first.out, HasSubstr("1 evaluation"));
  EXPECT_THAT(first.out, HasSubstr("own"));
  write_file(folder_ / "tasks/gate.yaml", "# the same\n" + std::string(kTask));
  EXPECT_THAT(kbench(job).out, HasSubstr("0 evaluations"));
  std::string other = kTask;
  other.replace(other.find("smoke: 12"), 9, "smoke: 13");
  write_file(folder_ / "tasks/gate.yaml", other);
  EXPECT_THAT(kbench(job).out, Not(HasSubstr("0 evaluations")));
}

}  // namespace
}  // namespace kbench
