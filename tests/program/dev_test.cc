// kbench-dev.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kbench/baseline.h"
#include "kbench/golden.h"
#include "tests/program/run_program.h"
#include "tests/read_npy.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;
using namespace kbench::testing;

class Dev : public ::testing::Test {
 protected:
  Said dev(const std::string& command, const std::string& before = "") {
    return run_in_shell(before + "\"" KBENCH_DEV_PROGRAM "\" " + command, folder_.path());
  }

  ScratchFolder folder_;
};

TEST_F(Dev, MistakesAreOneLineEach) {
  write_file(folder_ / "object.json", "{}\n");
  write_file(folder_ / "text.json", "hello world\n");
  write_file(folder_ / "file", "");
  write_file(folder_ / "own.yaml",
             "kbench_task: 1\nname: my/own\ninputs:\n  x: {shape: [4]}\noperators:\n"
             "  - {op: relu, in: x, out: y}\noutputs: y\n");
  for (const auto& [command, says] : std::vector<std::pair<std::string, std::string>>{
           {"frobnicate", "unknown verb 'frobnicate'"},
           {"audit --tsak 1/19", "did you mean '--task'?; see kbench-dev audit --help"},
           {"reference", "reference needs TASK"},
           {"reference nothing --dump x", "'nothing' is not a task"},
           {"reference relu", "--dump DIR"},
           {"reference relu --dump file", "cannot make the folder 'file'"},
           {"reference relu --dump /proc/nowhere", "/proc/nowhere"},
           {"reference relu --dump x --input-seed 1.5", "--input-seed: '1.5'"},
           {"reference relu --dump x --input-seed=-1", "--input-seed"},
           {"reference relu --dump x --preset auto", "unknown preset 'auto'"},
           {"verify", "verify needs --golden FILE"},
           {"verify --golden .", ".: Is a directory"},
           {"verify --golden /nowhere.json", "/nowhere.json"},
           {"verify --golden text.json", "text.json"},
           {"verify --golden object.json", "lacks field 'tasks'"},
           {"verify --golden object.json --backend cuda", "none of reference, vulkan"},
           {"verify --golden object.json --compute f16", "--compute: 'f16' is none of f32"},
           {"audit --task 1/47 --only x --out f.json", "with --only there are none"},
           {"audit --task 1/19 --set batch_size=2 --out f.json", "leave --set out"},
           {"audit --task 1/19 --tolerances f.json", "--tolerances is of halves"},
           {"audit --task own.yaml --out f.json",
            "stand beside its file: kbench task certify FILE"},
           {"baseline --passes 0", "--passes: '0' is not a whole number"},
       }) {
    const Said said = dev(command);
    EXPECT_EQ(said.code, 2) << command << "\n" << said.out << said.err;
    EXPECT_EQ(said.out, "") << command;
    EXPECT_EQ(count_lines(said.err), 1u) << said.err;
    EXPECT_THAT(said.err, HasSubstr(says)) << command;
  }
}

TEST_F(Dev, HelpIsOnStandardOutputAndFullOnesAreErrors) {
  EXPECT_THAT(dev("--help").out, HasSubstr("\n  audit "));
  EXPECT_THAT(dev("verify --help").out, HasSubstr("Examples:\n  kbench-dev verify"));
  EXPECT_EQ(dev("").code, 2);
  EXPECT_EQ(dev("reference relu --dump tensors >/dev/full").code, 2);
}

TEST_F(Dev, ReferenceDumpsTensorsThatReadBack) {
  const Said said =
      dev("reference 1/19 --input-seed 24301 --set batch_size=3 --set dim=5 --dump d");
  ASSERT_EQ(said.code, 0) << said.err;
  const Tensor x = test::read_npy(folder_ / "d/x.npy");
  const Tensor output = test::read_npy(folder_ / "d/output.npy");
  ASSERT_EQ(x.type(), (TensorType{DType::f32, {3, 5}}));
  ASSERT_EQ(output.type(), x.type());
  for (int64_t i = 0; i < x.elements(); ++i) EXPECT_EQ(output.at(i), std::max(x.at(i), 0.0));
  EXPECT_EQ(dev("reference 1/19 --compute f64 --dump d64").code, 0);
  EXPECT_EQ(test::read_npy(folder_ / "d64/output.npy").dtype(), DType::f64);
}

TEST_F(Dev, ReferenceLeavesNoHalfFile) {
  const Said said = dev("reference relu --dump tensors", "ulimit -f 1; ");
  EXPECT_EQ(said.code, 2);
  EXPECT_THAT(said.err, HasSubstr("File too large"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "tensors"));
}

TEST_F(Dev, VerifyCountsWhatMatches) {
  const std::string golden = "--golden '" KBENCH_GOLDEN "/smoke.json.zst' --task 1/19,2/76";
  const Said said = dev("verify " + golden);
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(said.out, "2 of 2 tasks match\n");
  const auto document =
      nlohmann::json::parse(dev("verify " + golden + " --compute f64 --json").out);
  EXPECT_EQ(document["precision"], "f64");
  EXPECT_EQ(document["passed"], 2);
  EXPECT_EQ(document["tasks"][1]["task"], "level2/76");
  EXPECT_EQ(document["tasks"][1]["passed"], true);
}

TEST_F(Dev, AuditHasAHeaderAndAVerdictInWords) {
  const Said said = dev("audit --task 1/19,2/80");
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("what is wrong must be above 1, honest at most 0.5.\ntask "));
  EXPECT_THAT(said.out, ::testing::ContainsRegex(
                            "name +null +mutant +subset +precision +honest +time +verdict\n"));
  EXPECT_THAT(said.out, ::testing::ContainsRegex("level1/19 +ReLU .*certified in precision\n"));
  EXPECT_THAT(said.out, ::testing::ContainsRegex("level2/80 .*trivial"));
}

TEST_F(Dev, AuditKeepsTheKindsThatItWasNotAskedFor) {
  EXPECT_EQ(dev("audit --task 1/47 --out smoke.json").code, 0);
  const std::string before = read_file(folder_ / "smoke.json");
  EXPECT_EQ(dev("audit --task 1/47 --kinds subset --out smoke.json").code, 0);
  EXPECT_EQ(read_file(folder_ / "smoke.json"), before);
  const Said other = dev("audit --task 1/48 --kinds subset --out smoke.json");
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("has no certificate of level1/48 at its tolerance"));
}

TEST_F(Dev, AuditTriesShortcutsAtSizesOfOnesOwn) {
  const Said said = dev("audit --task 1/40 --set features=1 --set dim1=1 --set dim2=2");
  EXPECT_EQ(said.code, 1) << said.err;
  // Two values, normalized, are -1 and 1 in few bits, too.
  EXPECT_THAT(said.out, HasSubstr("layer_norm with operands rounded to float16"));
  const Said unknown = dev("audit --task 1/40 --set nonsense=1");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("has no shape variable 'nonsense'"));
}

class DevOnADevice : public Dev {
 protected:
  void SetUp() override { KBENCH_NEED_SOFTWARE_DEVICE(); }
};

TEST_F(DevOnADevice, TheDeviceIsHeldToGoldenFilesAndToShortcuts) {
  const Said verified =
      dev("verify --backend vulkan --device cpu --validate --golden '" KBENCH_GOLDEN
          "/smoke.json.zst' --task 1/19,2/76");
  EXPECT_EQ(verified.out, "2 of 2 tasks match\n") << verified.err;
  const Said audited = dev("audit --task 1/19 --backend vulkan --device cpu");
  EXPECT_EQ(audited.code, 0) << audited.err;
  EXPECT_THAT(audited.out, ::testing::ContainsRegex("level1/19 +ReLU .*certified in precision\n"));
}

class DevBaseline : public DevOnADevice {
 protected:
  Said measure(const std::string& more) { return dev("baseline --device cpu --passes 3 " + more); }
};

TEST_F(DevBaseline, PrintsATableAndWritesFiles) {
  const Said said = measure("--task 1/1,1/19 --output b.json --kernelbench k.json");
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("GFLOP/s"));
  EXPECT_THAT(said.out, HasSubstr("roofline: copies "));
  EXPECT_THAT(said.out, HasSubstr("level1/19  ReLU"));
  EXPECT_THAT(said.out, HasSubstr("times were taken on a software device"));
  EXPECT_THAT(said.err, HasSubstr("[2/2] level1/19_ReLU  "));
  const Baseline baseline = read_baseline(folder_ / "b.json");
  ASSERT_EQ(baseline.tasks.size(), 2u);
  EXPECT_EQ(baseline.tasks[1].times.passes, 3);
  EXPECT_GT(baseline.tasks[1].roofline_share(), 0);
  const auto theirs = nlohmann::json::parse(read_file(folder_ / "k.json"));
  EXPECT_GT(theirs["level1"]["19_ReLU.py"]["mean"], 0);
}

TEST_F(DevBaseline, InHalvesIsOfHalfTheBytes) {
  ASSERT_EQ(measure("--task 1/19,2/1 --output single.json").code, 0);
  const Said said = measure("--task 1/19,2/1 --dtype f16 --output half.json");
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("preset smoke in f16\n"));
  const Baseline halves = read_baseline(folder_ / "half.json"),
                 floats = read_baseline(folder_ / "single.json");
  EXPECT_EQ(halves.dtype, DType::f16);
  ASSERT_EQ(halves.tasks.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(halves.tasks[i].timed()) << halves.tasks[i].error;
    EXPECT_EQ(halves.tasks[i].least_bytes * 2, floats.tasks[i].least_bytes);
    EXPECT_EQ(halves.tasks[i].eager_bytes * 2, floats.tasks[i].eager_bytes);
  }
}

TEST_F(DevBaseline, ATaskThatDoesNotFitIsReportedAndTheRestIsTimed) {
  const Said said = measure("--task 1/12,1/19 --preset v0.1 --output b.json");
  EXPECT_EQ(said.code, 1) << said.err;
  EXPECT_THAT(said.out, HasSubstr("Not timed:\n  level1/19_ReLU: needs 12.9 GB of device memory"));
  const Baseline baseline = read_baseline(folder_ / "b.json");
  ASSERT_EQ(baseline.tasks.size(), 2u);
  EXPECT_TRUE(baseline.tasks[0].timed()) << baseline.tasks[0].error;
  EXPECT_FALSE(baseline.tasks[1].timed());
}

TEST_F(DevBaseline, WhatCannotBeDoneIsFoundBeforeAnythingIsTimed) {
  for (const auto& [arguments, message] : std::vector<std::pair<std::string, std::string>>{
           {"--output /nowhere/x.json", "/nowhere/x.json"},
           {"--kernelbench /nowhere/x.json", "/nowhere/x.json"},
           {"--set nonsense=3", "nonsense"},
           {"--dtype f64", "f64"}}) {
    const Said said = measure("--task 1/19 " + arguments);
    EXPECT_EQ(said.code, 2) << message;
    EXPECT_EQ(said.out, "");
    EXPECT_EQ(count_lines(said.err), 1u) << said.err;
    EXPECT_THAT(said.err, HasSubstr(message));
  }
}

}  // namespace
}  // namespace kbench
