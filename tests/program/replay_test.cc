// Results that are judged again on the values that they were made on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/program/run_program.h"

namespace kbench::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// ReLU that is wrong where x is larger than `most`.
std::string relu_below(const std::string& most) {
  return "kbench: 1\ntask: level1/19\nkernels:\n  k:\n    source: |\n"
         "      #version 450\n      layout(local_size_x = 64) in;\n"
         "      layout(binding = 0) readonly buffer X { float x[]; };\n"
         "      layout(binding = 1) writeonly buffer Y { float y[]; };\n"
         "      void main() {\n        const uint i = gl_GlobalInvocationID.x;\n"
         "        if (i < x.length()) y[i] = x[i] > " +
         most +
         " ? 0.0 : max(x[i], 0.0);\n      }\n"
         "dispatch:\n  - {kernel: k, bind: [x, output], groups: \"ceil_div(batch_size * dim, "
         "64)\"}\n";
}

class ReplayTest : public ::testing::Test {
 protected:
  Said run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"run", "relu.yaml"});
    return run_program(arguments, folder_.path());
  }
  void write(const std::string& most) const { folder_.write("relu.yaml", relu_below(most)); }

  ScratchFolder folder_;
};

TEST_F(ReplayTest, AFailureIsTheSameElementAgain) {
  write("2.5");
  EXPECT_EQ(run({"--preset", "smoke", "--output", "r.jsonl"}).code, 1);
  const Said again = run({"--replay", "r.jsonl"});
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_THAT(again.out,
              HasSubstr("replay      of r.jsonl:1: the same verdict, in the same words"));
  const std::string results = read_file(folder_.path("r.jsonl"));
  EXPECT_EQ(count_lines(results), 1u) << "a replay is no result";
  EXPECT_THAT(results, HasSubstr("\"seed\":"));
  EXPECT_THAT(results, HasSubstr("\"failed_sample\":"));
}

/// Outputs that are right by the first samples' values.
TEST_F(ReplayTest, AFailureOfALaterSampleIsFoundInThatSample) {
  write("3.9995");  // Of values between -4 and 4: wrong in one sample of 40.
  const Said first = run({"--preset", "smoke", "--min-samples", "1000", "--input-seed", "1",
                          "--measure-seconds", "20", "--output", "r.jsonl"});
  ASSERT_EQ(first.code, 1) << first.out;
  EXPECT_THAT(read_file(folder_.path("r.jsonl")),
              Not(::testing::ContainsRegex("\"failed_sample\":[1-4],")));
  const Said again = run({"--replay", "r.jsonl", "--measure-seconds", "20"});
  EXPECT_EQ(again.code, 0) << again.out << again.err << first.out;
}

TEST_F(ReplayTest, WhatIsNotAsItWasIsSaid) {
  write("2.5");
  EXPECT_EQ(run({"--preset", "smoke", "--output", "r.jsonl"}).code, 1);
  write("1.5");
  const Said changed = run({"--replay", "r.jsonl:1", "--tolerance", "kernelbench"});
  EXPECT_EQ(changed.code, 1);
  EXPECT_THAT(changed.out, HasSubstr("not the same; it was wrong_values: "));
  EXPECT_THAT(changed.out, HasSubstr("the candidate has been changed"));
  EXPECT_THAT(changed.out, HasSubstr("the settings are others"));
  EXPECT_THAT(changed.out, Not(HasSubstr("the device is")));
}

TEST_F(ReplayTest, SizesDrawnInSecretAreTheSameAgain) {
  folder_.write("relu.yaml",
                "kbench: 1\ntask: level1/19\nkernels:\n  k:\n    source: |\n"
                "      #version 450\n      layout(local_size_x = 64) in;\n"
                "      layout(binding = 0) readonly buffer X { float x[]; };\n"
                "      layout(binding = 1) writeonly buffer Y { float y[]; };\n"
                "      void main() {\n        const uint i = gl_GlobalInvocationID.x;\n"
                "        if (i < 400) y[i] = max(x[i], 0.0);\n      }\n"
                "dispatch:\n  - {kernel: k, bind: [x, output], groups: 7}\n");
  const Said first = run({"--preset", "smoke", "--other-sizes", "require", "--output", "r.jsonl"});
  EXPECT_EQ(first.code, 1);
  const Said again = run({"--replay", "r.jsonl", "--other-sizes", "require"});
  EXPECT_EQ(again.code, 0) << first.out << again.out;
}

TEST_F(ReplayTest, WhatCannotBeReplayedIsNamed) {
  write("2.5");
  EXPECT_THAT(run({"--replay", "none.jsonl"}).err, HasSubstr("there is no file 'none.jsonl'"));
  folder_.write("r.jsonl", "");
  EXPECT_THAT(run({"--replay", "r.jsonl"}).err,
              HasSubstr("r.jsonl has no result of a candidate 'relu.yaml'"));
  EXPECT_THAT(run({"--replay", "r.jsonl:2"}).err, HasSubstr("no result in line 2"));
  folder_.write("relu.yaml", "kbench: 1\ntask: level1/19\ndispatch: []\n");
  EXPECT_EQ(run({"--preset", "smoke", "--output", "r.jsonl"}).code, 1);
  EXPECT_THAT(run({"--replay", "r.jsonl"}).err, HasSubstr("r.jsonl:1 has no seed"));
  const Said sizes = run({"--replay", "r.jsonl", "--output", "x.jsonl"});
  EXPECT_EQ(sizes.code, 2);
  EXPECT_THAT(sizes.err, HasSubstr("--replay"));
}

}  // namespace
}  // namespace kbench::testing
