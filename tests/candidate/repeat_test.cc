// Steps that are repeated, and constants that lie in buffers.
#include <bit>
#include <cstring>

#include "kbench/candidate_limits.h"
#include "kbench/ops.h"
#include "tests/candidate/support.h"

namespace kbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::expect_error;

class Repeats : public ::testing::Test {
 protected:
  Repeats()
      : graph_(Variables{
            {"rows", int64_t{6}}, {"eps", 0.5}, {"layers", std::vector<int64_t>{4, 3, 2}}}) {
    const Value x = graph_.input("x", {6, 8});
    const Value w = graph_.parameter("w", {8, 4});
    graph_.output(relu(matmul(x, w)));
  }

  /// `rest` begins in line 4, steps in line 5.
  ResolvedCandidate run(const std::string& rest) {
    candidate_ = parse_candidate(
        "kbench: 1\ntask: 1/1\nkernels: {k: {source: x, constants: {OWN: 2}}, other: {source: x}, "
        "c: {source: x, language: cuda, entry: c}}\n" +
            rest,
        "c.yaml", ".");
    return resolve(candidate_, graph_);
  }
  /// With a step for each kernel and the output behind `steps`.
  static std::string dispatch(const std::string& steps) {
    return "dispatch:\n" + steps +
           "  - {kernel: k, bind: [output], groups: 1}\n"
           "  - {kernel: other, bind: [output], groups: 1}\n"
           "  - {kernel: c, args: [output], grid: 1, block: 1}\n";
  }
  void refuse(const std::string& steps, int line, int column, const std::string& message) {
    expect_error([&] { run(dispatch(steps)); }, line, column, message);
  }
  static uint32_t pushed(const ResolvedStep& step, size_t at = 0) {
    uint32_t value = 0;
    std::memcpy(&value, step.push.data() + 4 * at, sizeof value);
    return value;
  }

  Graph graph_;
  Candidate candidate_;
};

TEST_F(Repeats, AStepOnceForEachValueOfItsVariable) {
  const ResolvedCandidate r = run(
      dispatch("  - {kernel: k, repeat: {b: rows / 2}, groups: b + 1, push: [{u32: b * OWN}], "
               "bind: [x], uniforms: {U: [b]}}\n"
               "  - {kernel: c, repeat: {b: 2}, args: [{u32: 4 * b}], grid: b + 1, block: 32}\n"));
  ASSERT_EQ(r.dispatch.size(), 3u + 2 + 3);
  for (uint32_t b = 0; b < 3; ++b) {
    const ResolvedStep& step = r.dispatch[b];
    EXPECT_EQ(step.step, 0u);
    EXPECT_THAT(step.groups, ElementsAre(b + 1, 1u, 1u));
    EXPECT_EQ(pushed(step), 2 * b);
    EXPECT_EQ(step.uniforms[0].fields[0].values[0].integer, b);
  }
  EXPECT_EQ(pushed(r.dispatch[4]), 4u);
  EXPECT_EQ(r.dispatch[4].step, 1u);
}

TEST_F(Repeats, AListOfStepsTogetherAndInsideOfAnother) {
  const ResolvedCandidate r = run(
      "temps: {t: {dtype: f32, shape: [6, 4]}}\n" +
      dispatch(
          "  - {kernel: k, bind: [output], groups: 1, push: [{u32: 7}]}\n"
          "  - repeat: {i: 2, j: i + 1}\n"
          "    steps:\n"
          "      - {kernel: k, groups: 1, push: [{u32: 100 + 10 * i + j}]}\n"
          "      - {kernel: other, repeat: {l: 2}, groups: 1, push: [{u32: 200 + 10 * j + l}]}\n"
          "  - {op: relu, in: output, out: t, repeat: {i: 2}}\n"));
  std::vector<uint32_t> order;
  for (size_t i = 0; i < 10; ++i) order.push_back(pushed(r.dispatch[i]));
  EXPECT_THAT(order, ElementsAre(7, 100, 200, 201, 110, 200, 201, 111, 210, 211));
  EXPECT_EQ(r.dispatch[10].call.op->name, "relu");
  EXPECT_EQ(r.dispatch[11].call.op->name, "relu");
}

TEST_F(Repeats, OfSetupSeeWhatSetupSees) {
  const ResolvedCandidate r = run(
      "temps: {t: {dtype: f32, shape: [8]}}\n"
      "setup:\n  - {kernel: k, bind: [w, t], push: [{u32: 4 * b}], groups: 1, repeat: {b: 2}}\n" +
      dispatch("  - {kernel: k, bind: [t], groups: 1}\n"));
  ASSERT_EQ(r.setup.size(), 2u);
  EXPECT_EQ(pushed(r.setup[1]), 4u);
  EXPECT_TRUE(r.buffers[3].setup);
}

TEST_F(Repeats, ThatCannotBeAreErrorsWithTheirPlace) {
  refuse("  - {kernel: k, groups: 1, repeat: {}}\n", 5, 28, "repeat names no variable");
  refuse("  - {kernel: k, groups: 1, repeat: 4}\n", 5, 36, "repeat: expected");
  refuse("  - {kernel: k, groups: 1, repeat: {2b: 4}}\n", 5, 37, "cannot name a repeat's variable");
  refuse("  - {kernel: k, groups: 1, repeat: {min: 4}}\n", 5, 37, "has the name of a function");
  refuse("  - {kernel: k, groups: 1, repeat: {b: 0}}\n", 5, 40,
         "the number of times that 'b' counts must be 1 to 16384");
  refuse("  - {kernel: k, groups: 1, repeat: {rows: 2}}\n", 5, 43,
         "the variable 'rows' of a repeat has the name of a shape variable");
  refuse("  - {kernel: k, groups: 1, repeat: {layers: 2}}\n", 5, 45, "use another");
  refuse("  - {kernel: k, groups: 1, repeat: {OWN: 2}}\n", 5, 42, "a constant");
  refuse("  - {kernel: k, groups: 1, repeat: {subgroup_size: 2}}\n", 5, 52, "of the device");
  refuse("  - {repeat: {b: 2}, steps: []}\n", 5, 22, "there is no step to repeat");
  refuse("  - {steps: [{kernel: k, groups: 1}]}\n", 5, 5, "missing key 'repeat'");
  refuse("  - {repeat: {b: 2}, steps: [{kernel: k, groups: 1}], kernel: k}\n", 5, 55,
         "unknown key 'kernel' in a repeated list of steps");
  refuse("  - {repeat: {b: 2}, steps: [{kernel: k, groups: 1, repeat: {b: 2}}]}\n", 5, 62,
         "'b' is the variable of a repeat around this one");
  // Outside of its steps the variable has no meaning.
  refuse("  - {kernel: k, groups: 1, repeat: {b: 2}}\n  - {kernel: k, groups: b}\n", 6, 25,
         "unknown name 'b'");
}

TEST_F(Repeats, AnErrorSaysAtWhichTurnItComes) {
  refuse("  - {kernel: k, groups: 1, repeat: {a: 2, b: 9}, push: [{u32: 5 - b}]}\n", 5, 63,
         "is -1 (where a is 0, b is 6)");
}

TEST_F(Repeats, AreBoundedInLaunchesAndText) {
  const std::string most = std::to_string(limits::kLaunches);
  EXPECT_EQ(
      run(dispatch("  - {kernel: k, groups: 1, repeat: {b: " + most + "}}\n")).dispatch.size(),
      limits::kLaunches + 3);
  refuse("  - {kernel: k, groups: 1, repeat: {a: 2, b: " + most + "}}\n", 5, 5,
         "with its repeats the candidate has more than " + most + " launches");
  refuse("  - {kernel: k, groups: \"1" + std::string(900, ' ') + "\", repeat: {b: " + most + "}}\n",
         5, 5, "bytes of text, counted as often as they run");
  std::string deep = "{kernel: k, groups: 1}";
  for (size_t i = 0; i <= limits::kRepeats; ++i) {
    deep = "{repeat: {v" + std::to_string(i) + ": 1}, steps: [" + deep + "]}";
  }
  EXPECT_THROW(run(dispatch("  - " + deep + "\n")), Error);
}

TEST_F(Repeats, DataAreNumbersOfABufferAtTheTasksSizes) {
  const ResolvedCandidate r =
      run("constants: {TILE: 4}\n"
          "data:\n"
          "  meta: [{u32: rows}, {f32: eps / 2}, {i32: [-1, TILE]}, {u64: rows * 2}]\n"
          "  table: [{f32: [1, 0.5]}, {f32: eps}]\n"
          "  wide: [{i64: -2}]\n" +
          dispatch("  - {kernel: k, bind: [meta, table, wide], groups: 1}\n"));
  ASSERT_EQ(r.buffers.size(), 6u);
  const BufferSlot& meta = r.buffers[3];
  EXPECT_EQ(meta.kind, BufferSlot::Kind::data);
  EXPECT_EQ(meta.type, (TensorType{DType::f32, {6}}));
  EXPECT_THAT(meta.words, ElementsAre(6, std::bit_cast<uint32_t>(0.25f), 0xffffffff, 4, 12, 0));
  EXPECT_EQ(r.buffers[4].type, (TensorType{DType::f32, {3}}));
  EXPECT_EQ(r.buffers[5].type, (TensorType{DType::i64, {1}}));
  EXPECT_THAT(r.buffers[5].words, ElementsAre(0xfffffffe, 0xffffffff));
}

TEST_F(Repeats, DataThatCannotBeAreErrorsWithTheirPlace) {
  const auto bad = [&](const std::string& data, int column, const std::string& message) {
    const std::string steps = dispatch("  - {kernel: k, bind: [d], groups: 1}\n");
    expect_error([&] { run("data: {" + data + "}\n" + steps); }, 4, column, message);
  };
  bad("d: []", 8, "data 'd' holds no number");
  bad("d: [{u16: 1}]", 13, "unknown key 'u16' in a number of data");
  bad("d: [{u32: 1, f32: 1}]", 12, "a number of data is one of u32, i32, f32, u64, i64, f64");
  bad("d: [{u32: -1}]", 18, "a u32 must be 0 to");
  bad("d: [{f32: 1e300}]", 18, "does not fit a 32-bit float");
  bad("d: [{u32: height}]", 18, "unknown name 'height'");
  bad("d: [{u32: 1}], x: [{u32: 1}]", 23, "data 'x' has the name of an input of the task");
  bad("d: [{u32: 1}], e: [{u32: 1}]", 23, "no step uses the data 'e'");
  expect_error(
      [&] { run("data: {d: [{u32: 1}]}\n" + dispatch("  - {op: relu, in: x, out: d}\n")); }, 6, 28,
      "cannot write to 'd'; only outputs and temporaries can be written");
}

}  // namespace
}  // namespace kbench
