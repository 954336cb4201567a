#include <cstring>

#include "kbench/ops.h"
#include "tests/candidate/support.h"

namespace kbench {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using testing_support::expect_error;

/// x [6, 8] times a weight [8, 4], ReLU; and the row sums of x as a second output.
class CandidateResolve : public ::testing::Test {
 protected:
  CandidateResolve()
      : graph_(Variables{{"rows", int64_t{6}},
                         {"inner", int64_t{8}},
                         {"big", int64_t{3000000000}},
                         {"huge", int64_t{1} << 40},
                         {"slope", 0.1},
                         {"whole", 2.0},
                         {"offset", int64_t{-3}},
                         {"pad-ding", std::vector<int64_t>{2, 5}}}) {
    const Value x = graph_.input("x", {6, 8});
    const Value weight = graph_.parameter("fc.weight", {8, 4});
    graph_.constant("mask", Tensor(DType::f32, {4}));
    graph_.output(relu(matmul(x, weight)));
    graph_.output(sum(x, {.axis = 1}));
  }

  ResolvedCandidate run(const std::string& body) {
    candidate_ = parse_candidate("kbench: 1\ntask: 1/1\n" + body, "c.yaml", ".");
    return resolve(candidate_, graph_);
  }
  void refuse(const std::string& body, int line, int column, const std::string& message) {
    expect_error([&] { run(body); }, line, column, message);
  }

  Graph graph_;
  Candidate candidate_;
};

const char kWhole[] =
    R"yaml(constants: {TILE: 4, OUT: "ceil_div(rows, TILE)", EPS: "1e-5", HALF: slope / 2}
kernels:
  a: {source: x, constants: {TILE: 2, MORE: TILE * 3}, specialization: {0: TILE, 7: -1, 8: "1.5"}}
  b: {source: y}
temps:
  packed: {dtype: f32, shape: [8, 4]}
  t0: {dtype: f16, shape: [OUT, 3]}
setup:
  - {kernel: a, bind: [fc.weight, mask, packed], groups: 1}
dispatch:
  - {kernel: a, bind: [x, packed, output0], groups: ["ceil_div(rows, TILE)", MORE], push: [{u32: rows}, {u64: huge}, {i32: offset}, {f32: slope / 2}, {address: x}, {u32: big}]}
  - {kernel: b, bind: [t0], push: [{address: output1}], groups: ["ceil_div(rows, TILE)"]}
)yaml";

TEST_F(CandidateResolve, WorksOutNamesAndNumbers) {
  const ResolvedCandidate r = run(kWhole);
  EXPECT_EQ(r.candidate, &candidate_);
  ASSERT_EQ(r.buffers.size(), 7u);
  const std::pair<const char*, BufferSlot::Kind> expected[] = {
      {"x", BufferSlot::Kind::input},        {"fc.weight", BufferSlot::Kind::parameter},
      {"mask", BufferSlot::Kind::constant},  {"output0", BufferSlot::Kind::output},
      {"output1", BufferSlot::Kind::output}, {"packed", BufferSlot::Kind::temporary},
      {"t0", BufferSlot::Kind::temporary}};
  for (size_t i = 0; i < r.buffers.size(); ++i) {
    EXPECT_EQ(r.buffers[i].name, expected[i].first);
    EXPECT_EQ(r.buffers[i].kind, expected[i].second);
  }
  EXPECT_EQ(r.buffers[3].value, graph_.outputs()[0]);
  EXPECT_EQ(r.buffers[4].type, (TensorType{DType::f32, {6}}));
  EXPECT_TRUE(r.buffers[5].setup);
  EXPECT_FALSE(r.buffers[6].setup);
  EXPECT_EQ(r.buffers[6].type, (TensorType{DType::f16, {2, 3}}));

  ASSERT_EQ(r.kernels.size(), 2u);
  EXPECT_THAT(
      r.kernels[0].macros,
      ElementsAre(Pair("KB_DTYPE_F32", "1"), Pair("KB_DTYPE_F16", "0"), Pair("KB_DTYPE_BF16", "0"),
                  Pair("KB_big", "3000000000u"), Pair("KB_huge", "1099511627776L"),
                  Pair("KB_inner", "8"), Pair("KB_offset", "(-3)"), Pair("KB_pad_ding_0", "2"),
                  Pair("KB_pad_ding_1", "5"), Pair("KB_rows", "6"), Pair("KB_slope", "0.1"),
                  Pair("KB_whole", "2.0"), Pair("OUT", "2"), Pair("EPS", "1e-05"),
                  Pair("HALF", "0.05"), Pair("TILE", "2"), Pair("MORE", "6")));
  ASSERT_EQ(r.kernels[0].specialization.size(), 3u);
  EXPECT_EQ(r.kernels[0].specialization[0].first, 0u);
  EXPECT_EQ(r.kernels[0].specialization[0].second.integer, 2);
  EXPECT_EQ(r.kernels[0].specialization[1].second.integer, -1);
  EXPECT_EQ(r.kernels[0].specialization[1].second.real, -1.0);
  EXPECT_EQ(r.kernels[0].specialization[2].second.integer, std::nullopt);
  EXPECT_EQ(r.kernels[0].specialization[2].second.real, 1.5);

  ASSERT_EQ(r.setup.size(), 1u);
  EXPECT_THAT(r.setup[0].bind, ElementsAre(1, 2, 5));
  ASSERT_EQ(r.dispatch.size(), 2u);
  const ResolvedStep& first = r.dispatch[0];
  EXPECT_EQ(first.kernel, 0);
  EXPECT_EQ(first.at.line, 13);
  EXPECT_THAT(first.bind, ElementsAre(0, 5, 3));
  EXPECT_THAT(first.groups, ElementsAre(3u, 6u, 1u));
  EXPECT_THAT(r.dispatch[1].groups, ElementsAre(2u, 1u, 1u));
  EXPECT_THAT(r.dispatch[1].addresses, ElementsAre(Pair(0u, 4)));
}

TEST_F(CandidateResolve, PacksPushConstantsWithNaturalAlignment) {
  const ResolvedCandidate r = run(kWhole);
  const ResolvedStep& step = r.dispatch[0];
  ASSERT_EQ(step.push.size(), 36u);
  const auto word = [&](size_t offset) {
    uint32_t value = 0;
    std::memcpy(&value, step.push.data() + offset, 4);
    return value;
  };
  uint64_t wide = 0;
  std::memcpy(&wide, step.push.data() + 8, 8);
  float real = 0;
  std::memcpy(&real, step.push.data() + 20, 4);
  EXPECT_EQ(word(0), 6u);
  EXPECT_EQ(word(4), 0u);
  EXPECT_EQ(wide, uint64_t{1} << 40);
  EXPECT_EQ(static_cast<int32_t>(word(16)), -3);
  EXPECT_EQ(real, 0.05f);
  EXPECT_THAT(step.addresses, ElementsAre(Pair(24u, 0)));
  EXPECT_EQ(word(24), 0u);
  EXPECT_EQ(word(32), 3000000000u);
}

TEST_F(CandidateResolve, ResolvesOperatorSteps) {
  const ResolvedCandidate r = run(R"yaml(temps:
  wt: {dtype: f32, shape: [4, 8]}
  t0: {dtype: f32, shape: [24]}
setup:
  - {op: relu, in: {name: fc.weight, shape: [4, 8]}, out: wt}
dispatch:
  - {op: matmul, in: [x, wt], out: {name: t0, shape: [rows, 4]}, attributes: {transpose_b: true}}
  - {op: relu, in: {name: t0, shape: [6, "2 + 2"]}, out: [output0]}
  - {op: sum, in: x, out: output1, attributes: {axis: 2 - 1}}
)yaml");
  EXPECT_TRUE(r.buffers[5].setup);
  ASSERT_EQ(r.dispatch.size(), 3u);
  const OperatorCall& call = r.dispatch[0].call;
  EXPECT_EQ(r.dispatch[0].kernel, -1);
  EXPECT_EQ(call.op->name, "matmul");
  EXPECT_THAT(r.dispatch[0].bind, ElementsAre(0, 5, 6));
  EXPECT_TRUE(call.attributes.flag("transpose_b"));
  EXPECT_FALSE(call.attributes.flag("transpose_a"));
  EXPECT_EQ(call.outputs[0], (TensorType{DType::f32, {6, 4}}));
  EXPECT_EQ(r.dispatch[2].call.attributes.integer("axis"), 1);
}

const char kOutputs[] = "  - {kernel: k, bind: [output0, output1], groups: 1}\n";

TEST_F(CandidateResolve, RefusesWhatDoesNotFit) {
  const std::string kernel = "kernels:\n  k: {source: x}\ndispatch:\n";  // lines 3 to 5
  const auto step = [&](const std::string& rest, int column, const std::string& message) {
    refuse(kernel + kOutputs + "  - {kernel: k, " + rest + "}\n", 7, column, message);
  };
  step("bind: [X], groups: 1", 24,
       "there is no buffer 'X'; did you mean 'x'? (buffers: x, fc.weight");
  step("groups: [rows - 6]", 26,
       "a number of workgroups must be 1 to 4294967295, but 'rows - 6' is 0");
  step("groups: [1, rws]", 29, "unknown name 'rws' in the expression 'rws'; did you mean 'rows'?");
  step("groups: [1, \"1 + rws\"]", 34, "unknown name 'rws'");
  step("groups: huge", 25, "must be 1 to 4294967295");
  step("groups: 1, push: [{u32: offset}]", 41, "a u32 must be 0 to 4294967295, but 'offset' is -3");
  step("groups: 1, push: [{i32: big}]", 41, "an i32 must be");
  step("groups: 1, push: [{f32: 1e39}]", 41, "does not fit a 32-bit float");
  step("groups: 1, push: [{u32: 0.5}]", 41, "must be an integer");
  step("groups: 1, push: [{address: y}]", 45, "there is no buffer 'y'");
  std::string many;
  for (int i = 0; i < 17; ++i) many += std::string(i ? ", " : "") + "{u64: 1}";
  step("groups: 1, push: [" + many + "]", 201, "take more than 128 bytes");

  refuse(kernel + "  - {kernel: k, bind: [output0], groups: 1}\n", 5, 1,
         "no step of dispatch binds the output 'output1'");
  refuse("kernels:\n  k: {source: x}\n  unused: {source: y}\ndispatch:\n" + std::string(kOutputs),
         5, 3, "no step uses the kernel 'unused'");
  refuse("temps: {t9: {dtype: f32, shape: [1]}}\n" + kernel + kOutputs, 3, 9,
         "no step uses the temporary 't9'");
  refuse("temps: {x: {dtype: f32, shape: [1]}}\n" + kernel + kOutputs, 3, 9,
         "temporary 'x' has the name of an input of the task");
  refuse("temps: {t: {dtype: f32, shape: [0]}}\n" + kernel + kOutputs, 3, 33,
         "an extent must be 1 to");
  refuse("temps: {t: {dtype: f32, shape: [huge, huge]}}\n" + kernel + kOutputs, 3, 9,
         "is larger than any memory");
  refuse("temps: {s: {dtype: f64, shape: [huge, 2]}, t: {dtype: f64, shape: [1]}}\n" + kernel +
             kOutputs,
         3, 44, "the temporaries together are larger than any memory");
  refuse("constants: {rows: 3}\n" + kernel + kOutputs, 3, 19,
         "constant 'rows' has the name of a shape variable");
  refuse("constants: {A: B, B: 1}\n" + kernel + kOutputs, 3, 16, "unknown name 'B'");
  refuse("setup:\n  - {kernel: k, bind: [x], groups: 1}\n" + kernel + kOutputs, 4, 24,
         "setup sees parameters, constants and temporaries only; 'x' is an input");
  refuse("setup:\n  - {kernel: k, push: [{address: output0}], groups: 1}\n" + kernel + kOutputs, 4,
         34, "'output0' is an output");
  refuse("kernels:\n  k: {source: x, specialization: {0: 5000000000}}\ndispatch:\n" +
             std::string(kOutputs),
         4, 38, "specialization constant 0 must be");
}

TEST_F(CandidateResolve, RefusesOperatorStepsThatDoNotFit) {
  const auto refuse_step = [&](const std::string& step, int column, const std::string& message) {
    refuse(
        "kernels: {k: {source: x}}\ntemps: {t0: {dtype: f32, shape: [rows, 4]}, "
        "s0: {dtype: f32, shape: [8, 4]}}\nsetup:\n  - {op: relu, in: fc.weight, out: s0}\n"
        "dispatch:\n" +
            std::string(kOutputs) + "  - " + step + "\n  - {kernel: k, bind: [t0], groups: 1}\n",
        9, column, message);
  };
  refuse_step("{op: matmul, in: [x, mask], out: t0}", 5, "matmul(f32 [6, 8], f32 [4]");
  refuse_step("{op: matmul, in: x, out: t0}", 5, "matmul takes 2 inputs, got 1");
  refuse_step("{op: matmul, in: [x, fc.weight], out: s0}", 43, "'s0' is written by setup");
  refuse_step("{op: matmul, in: [x, fc.weight], out: {name: t0, shape: [4, 6]}}", 50,
              "operator 'matmul' gives f32 [6, 4], but 't0' is f32 [4, 6]");
  refuse_step("{op: matmul, in: [x, fc.weight], out: {name: t0, shape: [4, 7]}}", 50,
              "'t0' is f32 [6, 4]; it cannot be read as [4, 7]");
  refuse_step("{op: matmul, in: [x, fc.weight], out: [t0, output0]}", 5,
              "operator 'matmul' has 1 output, but 'out' names 2");
  refuse_step("{op: relu, in: x, out: x}", 28, "a step cannot write to 'x'");
  refuse_step("{op: relu, in: t0, out: output0}", 20,
              "'t0' is read before any step has written it");
  refuse_step("{op: relu, in: output0, out: output0}", 34,
              "which it also reads or writes elsewhere");
  refuse_step("{op: relu, in: x, out: t0, attributes: {inplace: 1}}", 45,
              "operator 'relu' has no attribute 'inplace' (allowed: none)");
  refuse_step("{op: sum, in: x, out: output1, attributes: {axs: 1}}", 49,
              "no attribute 'axs'; did you mean 'axis'?");
  refuse_step("{op: sum, in: x, out: output1, attributes: {axis: [1]}}", 49,
              "takes one value, no list");
  refuse_step("{op: sum, in: x, out: output1, attributes: {axis: 5}}", 5, "sum(f32 [6, 8]");
}

}  // namespace
}  // namespace kbench
