// Floats stored as float16 and bfloat16: every operator, every kernel, and what becomes of each
// number on its way through a kernel.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/measure/eager/convolution.h"
#include "harness/measure/eager/winograd.h"
#include "harness/measure/vulkan/compiler.h"
#include "harness/measure/vulkan/embedded.h"
#include "kbench/task.h"
#include "tests/eager/eager_fixture.h"
#include "tests/operators/samples.h"

namespace kbench::eager {
namespace {

using List = std::vector<int64_t>;

constexpr DType kHalves[] = {DType::f16, DType::bf16};

// --- cases ---------------------------------------------------------------------------------------

/// A case and its plan.
struct Planned {
  Case c;
  OperatorCall call;
  CallPlan plan;
};

/// Collects cases, planned as plan_call() does or by hand.
struct Cases {
  DeviceTraits device, gpu;  ///< the limits of the device in use; and with a GPU's choices
  DType real;
  std::vector<Planned> list = {};

  void add(const Case& c) { add(c, device); }
  void add(const Case& c, const DeviceTraits& traits) {
    const OperatorCall call = call_of(c);
    list.push_back({c, call, plan_call(call, traits, real)});
  }
  void add(const Case& c, CallPlan plan) {
    const OperatorCall call = call_of(c);
    list.push_back({c, call, with_storage(std::move(plan), stored_call(call, real), device)});
  }
};

// Of each kernel rows that pieces of four fit and odd ones, whole blocks and what is left of them.

void elementwise(Cases& cases) {
  for (const int64_t n : {1, 6, 4099, 8192}) cases.add({"gelu", {{n}}, {}, normal(0, 3)});
  DeviceTraits few = cases.device;
  few.max_group_count[0] = 3;  // forces rows of workgroups
  cases.add({"relu", {{9, 4107}}}, few);
  cases.add({"add", {{3, 5, 7}, {7}}});
  cases.add({"sub", {{5, 12}, {5, 1}}});
  cases.add({"mul", {{}, {3, 5, 7}}});
  cases.add({"div", {{3, 1, 7, 1, 6}, {1, 5, 1, 9, 1}}, {}, uniform(0.5, 2)});
  cases.add({"maximum", {{4, 4096}, {4096}}});
  cases.add({"add", {{7, 4099}, {7, 4099}}}, few);
}

void reductions(Cases& cases) {
  const std::vector<std::pair<Shape, int64_t>> views = {
      {{7, 36}, 1}, {{3, 2051}, 1},  {{2, 40000}, 1},    {{3, 33333}, 1},
      {{3, 5}, 0},  {{3, 5, 12}, 1}, {{3, 130, 300}, 1}, {{3000, 7}, 0},
  };
  for (const auto& [shape, axis] : views) {
    for (const char* op : {"mean", "argmax", "max", "norm", "cumsum", "logsumexp", "softmax"}) {
      cases.add({op, {shape}, {{"axis", axis}}, normal(0, 2)});
    }
  }
  const Attributes last = {{"axis", int64_t{1}}};
  for (const int64_t n : {40001, 40004}) {
    cases.add({"log_softmax", {{3, n}}, last, normal(0, 5)});
  }
  cases.add({"cumprod", {{3, 2052}}, last, uniform(0.98, 1.02), 1e-4});
}

std::vector<Shape> affine(Shape x, Shape parameter) { return {std::move(x), parameter, parameter}; }

void norms(Cases& cases) {
  const Attributes groups = {{"groups", int64_t{3}}}, one = {{"dims", int64_t{1}}};
  cases.add({"batch_norm", affine({3, 5, 6, 7}, {5})});
  cases.add({"batch_norm", {{3, 5, 6, 10}}});
  cases.add({"batch_norm", affine({301, 36}, {36})});
  cases.add({"batch_norm", affine({1001, 7}, {7})});
  cases.add({"batch_norm", affine({3, 2, 90, 100}, {2})});
  cases.add({"instance_norm", affine({3, 5, 6, 7}, {5})});
  cases.add({"instance_norm", {{2, 3, 50004}}});
  cases.add({"group_norm", affine({3, 6, 5, 7}, {6}), groups});
  cases.add({"group_norm", affine({7, 15}, {15}), groups});
  cases.add({"group_norm", affine({2, 6, 91, 101}, {6}), groups});
  cases.add({"layer_norm", affine({5, 7}, {7}), one});
  cases.add({"layer_norm", affine({300, 12}, {12}), one});
  cases.add({"layer_norm", {{3, 9001}}, one});
  cases.add({"layer_norm", affine({3, 50001}, {50001}), one});
  cases.add({"layer_norm", affine({3, 50004}, {50004}), one});
}

void moves(Cases& cases) {
  for (const auto& [shape, axes] :
       std::vector<std::pair<Shape, List>>{{{70, 37}, {1, 0}},
                                           {{3, 4, 9, 10}, {3, 1, 0, 2}},
                                           {{3, 4, 5, 8}, {0, 2, 1, 3}},
                                           {{3, 4, 5, 7}, {2, 0, 1, 3}}}) {
    cases.add({"permute", {shape}, {{"axes", axes}}});
  }
  const auto slice = [](int64_t axis, int64_t start, int64_t stop, int64_t step) {
    return Attributes{{"axis", axis}, {"start", start}, {"stop", stop}, {"step", step}};
  };
  cases.add({"slice", {{3, 5, 8}}, slice(2, 4, 8, 1)});
  cases.add({"slice", {{3, 5, 8}}, slice(2, 1, 6, 1)});
  cases.add({"slice", {{3, 5, 8}}, slice(2, 1, 8, 3)});
  cases.add({"slice", {{9, 4099}}, slice(1, 0, 4098, 1)});
  for (const int64_t axis : {0, 2}) {
    std::vector<Shape> parts(3, Shape{3, 5, 8});
    parts[0][axis] = 1;
    parts[2][axis] = 7;
    cases.add({"cat", parts, {{"axis", axis}}});
    cases.add(
        {"pad", {{3, 5, 8}}, {{"axis", axis}, {"before", int64_t{1}}, {"after", int64_t{2}}}});
    cases.add({"roll", {{3, 5, 8}}, {{"axis", axis}, {"shift", int64_t{-9}}}});
    cases.add({"flip", {{3, 5, 7}}, {{"axis", axis}}});
  }
  cases.add({"cat", {{4, 3, 8}, {4, 1, 8}}, {{"axis", int64_t{1}}}});
  cases.add({"expand", {{3, 5, 1}}, {{"shape", List{3, 5, 7}}}});
  cases.add({"expand", {{1, 8}}, {{"shape", List{2, 3, 8}}}});
  cases.add({"triu", {{3, 8, 8}}});
  cases.add({"tril", {{7, 7}}});
}

Attributes window(List kernel, List stride, List padding) {
  return {{"kernel", kernel}, {"stride", stride}, {"padding", padding}};
}

void pooling(Cases& cases) {
  for (const DeviceTraits& traits : {cases.device, cases.gpu}) {
    cases.add({"max_pool2d", {{2, 3, 13, 17}}, window({3, 5}, {2, 1}, {1, 2})}, traits);
    cases.add({"avg_pool3d", {{2, 3, 7, 9, 11}}, window({3, 2, 3}, {2, 2, 1}, {1, 1, 0})}, traits);
  }
  cases.add({"max_pool1d", {{2, 3, 37}}, window({4}, {1}, {2})});
  cases.add({"adaptive_avg_pool2d", {{2, 3, 13, 17}}, {{"output", List{1, 1}}}});
  cases.add({"adaptive_avg_pool2d", {{1, 3, 13, 5}}, {{"output", List{3, 7}}}});
}

void losses(Cases& cases) {
  for (const Shape& shape : {Shape{7}, Shape{9, 5001}}) {
    cases.add({"smooth_l1_loss", {shape, shape}, {}, normal(0, 1.5)});
    cases.add({"kl_div_batchmean", {shape, shape}, {}, uniform(0.01, 1)});
  }
  for (const Shape& shape : {Shape{5, 3}, Shape{37, 12}, Shape{3, 4100}}) {
    cases.add({"triplet_margin_loss", {shape, shape, shape}, {{"margin", 0.7}}});
  }
}

void products(Cases& cases) {
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      for (const auto& [m, n, k] : {std::array{36, 44, 20}, std::array{33, 35, 51}}) {
        cases.add({"matmul",
                   {a ? Shape{k, m} : Shape{m, k}, b ? Shape{n, k} : Shape{k, n}},
                   {{"transpose_a", int64_t{a}}, {"transpose_b", int64_t{b}}}});
      }
    }
  }
  cases.add({"matmul", {{2, 1, 5, 7}, {1, 3, 7, 9}}});
  for (const auto& [m, k] : {std::array{37, 20}, std::array{3, 40000}, std::array{3, 33333}}) {
    cases.add({"matmul", {{m, k}, {k, 1}}});
  }
  for (const auto& [m, n, k] : {std::array{5, 36, 2100}, std::array{6, 35, 2051}}) {
    cases.add({"linear", {{m, k}, {n, k}, {n}}});  // split along the depth
  }
  const GemmTile& largest = tiles().front();
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{133, 151, 37}, {128, 128, 64}}) {
    GemmProblem problem;
    problem.m = m;
    problem.n = n;
    problem.k = k;
    problem.b_along_n = false;
    problem.a = input(0);
    problem.b = input(1);
    problem.bias = input(2);
    problem.c = output(0);
    cases.add({"linear", {{m, k}, {n, k}, {n}}},
              plan_gemm(problem, with_splits(largest, k, 1), cases.gpu));
  }
}

Attributes conv(List stride, List padding, List dilation, int64_t groups) {
  return {{"stride", stride}, {"padding", padding}, {"dilation", dilation}, {"groups", groups}};
}
Attributes transposed(List stride, List padding, List extra, List dilation, int64_t groups) {
  Attributes attributes = conv(stride, padding, dilation, groups);
  attributes.set("output_padding", extra);
  return attributes;
}

void convolutions(Cases& cases) {
  cases.add({"conv2d", {{3, 10, 9, 11}, {38, 5, 3, 3}, {38}}, conv({1, 1}, {1, 1}, {1, 1}, 2)});
  cases.add({"conv2d", {{2, 4, 6, 10}, {36, 4, 1, 1}, {36}}, conv({1, 1}, {0, 0}, {1, 1}, 1)});
  cases.add({"conv2d", {{1, 3, 11, 13}, {5, 3, 5, 4}}, conv({3, 2}, {2, 1}, {2, 1}, 1)});
  for (const DeviceTraits& traits : {cases.device, cases.gpu}) {
    cases.add({"conv2d", {{1, 7, 19, 11}, {7, 1, 3, 3}, {7}}, conv({1, 1}, {1, 1}, {1, 1}, 7)},
              traits);
  }
  cases.add({"conv1d", {{2, 3, 31}, {20, 3, 5}, {20}}, conv({3}, {2}, {2}, 1)});
  cases.add({"conv3d",
             {{2, 3, 7, 6, 5}, {5, 3, 3, 2, 4}, {5}},
             conv({1, 2, 1}, {1, 0, 2}, {2, 1, 1}, 1)});
  cases.add(
      {"conv_transpose1d", {{2, 3, 11}, {3, 20, 3}, {20}}, transposed({4}, {2}, {3}, {2}, 1)});
  cases.add({"conv_transpose1d", {{2, 3, 10}, {3, 20, 3}}, transposed({2}, {1}, {1}, {2}, 1)});
  cases.add({"conv_transpose2d",
             {{2, 6, 6, 7}, {6, 18, 3, 5}, {36}},
             transposed({2, 3}, {1, 2}, {1, 0}, {2, 1}, 2)});
  cases.add({"conv_transpose2d",
             {{1, 3, 4, 5}, {3, 5, 3, 3}, {5}},
             transposed({5, 5}, {1, 1}, {0, 0}, {2, 2}, 1)});
  for (const Case& c :
       {Case{"conv2d", {{1, 9, 5, 7}, {38, 9, 3, 3}, {38}}, conv({1, 1}, {1, 1}, {1, 1}, 1)},
        Case{"conv2d", {{2, 18, 6, 6}, {36, 9, 3, 3}, {36}}, conv({1, 1}, {1, 1}, {1, 1}, 2)}}) {
    cases.add(c, plan_product(call_of(c), tiles().back(), 3, cases.device));
  }
  for (const Case& c : {
           Case{"conv2d", {{1, 6, 11, 13}, {21, 6, 3, 5}, {21}}, conv({1, 1}, {1, 2}, {1, 1}, 1)},
           Case{"conv2d", {{3, 10, 13, 12}, {38, 5, 4, 3}, {38}}, conv({1, 1}, {0, 1}, {1, 1}, 2)},
           Case{"conv_transpose2d",
                {{2, 6, 9, 7}, {6, 20, 3, 5}, {20}},
                transposed({1, 1}, {0, 0}, {0, 0}, {1, 1}, 1)},
       }) {
    cases.add(c, plan_winograd(describe_convolution(call_of(c)), cases.device)->plan);
  }
}

void recurrent(Cases& cases) {
  DeviceTraits wide = cases.device;
  wide.subgroup_size = 64;  // two units a workgroup
  for (const std::string op : {"lstm", "gru"}) {
    const int64_t gates = op == "lstm" ? 4 : 3, states = op == "lstm" ? 2 : 1;
    for (const auto& [batch, steps, in, hidden, layers, bidirectional] :
         {std::array{3, 1, 5, 7, 1, 0}, std::array{3, 5, 5, 8, 2, 0}, std::array{2, 4, 3, 9, 2, 1},
          std::array{1, 6, 40, 36, 1, 0}}) {
      const int64_t directions = bidirectional ? 2 : 1;
      Case c{op,
             {{batch, steps, in}},
             {{"hidden", int64_t{hidden}},
              {"layers", int64_t{layers}},
              {"bidirectional", int64_t{bidirectional}},
              {"batch_first", int64_t{1}}},
             uniform(-0.6, 0.6)};
      for (int64_t i = 0; i < states; ++i) c.inputs.push_back({layers * directions, batch, hidden});
      for (int64_t cell = 0; cell < layers * directions; ++cell) {
        c.inputs.push_back({gates * hidden, cell < directions ? in : hidden * directions});
        c.inputs.push_back({gates * hidden, hidden});
        c.inputs.push_back({gates * hidden});
        c.inputs.push_back({gates * hidden});
      }
      cases.add(c, hidden % 2 == 0 ? wide : cases.device);
    }
  }
}

const std::vector<std::pair<const char*, void (*)(Cases&)>> kFamilies = {
    {"elementwise", elementwise},
    {"reductions", reductions},
    {"norms", norms},
    {"moves", moves},
    {"pooling", pooling},
    {"losses", losses},
    {"products", products},
    {"convolutions", convolutions},
    {"recurrent", recurrent},
};

using FamilyAndType = std::tuple<size_t, DType>;

class Stored : public EagerTest, public ::testing::WithParamInterface<FamilyAndType> {};

TEST_P(Stored, KernelsMatchTheReferenceOnRoundedInputs) {
  const auto [family, real] = GetParam();
  Cases cases{device_traits(), gpu_traits(), real};
  kFamilies[family].second(cases);
  for (const Planned& each : cases.list) check(each.c, each.call, each.plan, real);
}

INSTANTIATE_TEST_SUITE_P(Families, Stored,
                         ::testing::Combine(::testing::Range(size_t{0}, kFamilies.size()),
                                            ::testing::ValuesIn(kHalves)),
                         [](const auto& info) {
                           return std::string(kFamilies[std::get<0>(info.param)].first) + "_" +
                                  std::string(name_of(std::get<1>(info.param)));
                         });

// --- operators with other inputs -----------------------------------------------------------------

class StoredAs : public EagerTest, public ::testing::WithParamInterface<DType> {
 protected:
  DType real() const { return GetParam(); }

  void check_call(const OperatorCall& call, std::vector<Tensor> inputs, double relative = 1e-5) {
    inputs = rounded(std::move(inputs), real());
    SCOPED_TRACE(definitions::text_of(call));
    expect_close(run(call, plan_call(call, device_traits(), real()), inputs, real()),
                 truth_of(call, inputs), relative, real());
  }
};

TEST_P(StoredAs, OperatorsThatTakeIntegersAndMasksToo) {
  for (const int64_t n : {1, 3, 6, 4099}) {
    const OperatorCall call =
        make_call(find_operator("mul_mask"), {{DType::f32, {n}}, {DType::boolean, {n}}}, {});
    Tensor mask(call.inputs[1]);
    for (int64_t i = 0; i < n; ++i) mask.raw()[i] = std::byte{i % 3 != 1};
    check_call(call, {draw(normal(), {1, 2, "x"}, call.inputs[0]), mask});
  }
  for (const auto& [rows, classes] : {std::pair{5, 3}, {37, 12}, {7, 5001}}) {
    const OperatorCall call = make_call(find_operator("cross_entropy"),
                                        {{DType::f32, {rows, classes}}, {DType::i64, {rows}}}, {});
    check_call(call, {draw(normal(0, 4), {1, 2, "x"}, call.inputs[0]),
                      draw(randint(0, classes), {1, 2, "target"}, call.inputs[1])});
  }
  for (const int64_t columns : {5, 8}) {
    const OperatorCall call =
        make_call(find_operator("index_rows"), {{DType::f32, {9, columns}}, {DType::i64, {3}}}, {});
    const Tensor table = rounded(draw(normal(), {1, 2, "table"}, call.inputs[0]), real());
    Tensor index = draw(randint(0, 9), {1, 2, "index"}, call.inputs[1]);
    check_call(call, {table, index});
    index.data<int64_t>()[1] = 9;  // outside: NaN
    const Tensor y = run(call, plan_call(call, device_traits(), real()), {table, index}, real())[0];
    for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(std::isnan(y.data<float>()[i * columns]), i == 1);
  }
}

TEST_P(StoredAs, CastsStartAndEndInStorage) {
  const auto cast = [](const TensorType& type, DType to) {
    return make_call(find_operator("cast"), {type}, {{"dtype", std::string(name_of(to))}});
  };
  for (const int64_t n : {1, 2, 3, 4, 5, 4097}) {
    const OperatorCall to = cast({DType::f32, {n}}, DType::i64);
    const Tensor x = rounded(draw(normal(0, 90), {1, 2, "x"}, to.inputs[0]), real());
    const Tensor whole = run(to, plan_call(to, device_traits(), real()), {x}, real())[0];
    for (int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(whole.data<int64_t>()[i], static_cast<int64_t>(x.data<float>()[i]));
    }
    const OperatorCall back = cast({DType::i64, {n}}, DType::f32);
    const Tensor y = run(back, plan_call(back, device_traits(), real()), {whole}, real())[0];
    for (int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(y.data<float>()[i], std::trunc(x.data<float>()[i]));
    }
  }
}

/// All operators by their definitions, which share no code with the reference.
TEST_P(StoredAs, EveryOperatorMatchesItsDefinition) {
  for (const definitions::Family& family : definitions::families()) {
    for (const definitions::Definition& definition : family.definitions()) {
      if (find_operator(definition.op).is_view) continue;
      definitions::Example example = definitions::example_of(definition, 3000);
      SCOPED_TRACE(definitions::text_of(example.call));
      std::vector<Tensor> inputs;
      for (definitions::Array& input : example.inputs) {
        inputs.push_back(rounded(definitions::tensor_of(input), real()));
        for (size_t i = 0; i < input.values.size(); ++i) {
          input.values[i] = inputs.back().at(static_cast<int64_t>(i));
        }
      }
      std::vector<Tensor> truth;
      for (const auto& output : definition.work_out(example.call, example.inputs).outputs) {
        truth.emplace_back(output.dtype == DType::f32 ? DType::f64 : output.dtype, output.shape);
        for (size_t i = 0; i < output.values.size(); ++i) {
          if (output.dtype == DType::f32) truth.back().data<double>()[i] = output.values[i];
          if (output.dtype == DType::i64) {
            truth.back().data<int64_t>()[i] = static_cast<int64_t>(output.values[i]);
          }
        }
      }
      expect_close(
          run(example.call, plan_call(example.call, device_traits(), real()), inputs, real()),
          truth, definition.float_error, real());
    }
  }
}

// --- numbers -------------------------------------------------------------------------------------

/// Through a kernel that computes `op` with a number: every value that can be stored.
TEST_P(StoredAs, EveryValueIsReadAndRoundedBitForBit) {
  std::vector<float> values;
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    values.push_back(from_half(static_cast<uint16_t>(bits), real()));
  }
  values.push_back(1);  // odd
  Tensor x(DType::f32, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), x.data<float>().begin());
  // Exact in float32 or rounded there first as here; to ties, to subnormal numbers, past the ends.
  const std::vector<std::pair<const char*, float>> steps = {
      {"mul_scalar", 1.0f},           {"mul_scalar", 0.5f},        {"mul_scalar", 0x1p-5f},
      {"mul_scalar", 1 + 0x1p-11f},   {"mul_scalar", 1 + 0x1p-8f}, {"mul_scalar", 3.0f},
      {"mul_scalar", 1 - 0x1p-12f},   {"mul_scalar", 0x1p-14f},    {"add_scalar", 16.0f},
      {"add_scalar", 15.998046875f},  {"add_scalar", 0x1p-25f},    {"add_scalar", 0x1.8p-24f},
      {"mul_scalar", -0x1.fffffep9f},
  };
  for (const auto& [op, number] : steps) {
    const OperatorCall call =
        make_call(find_operator(op), {x.type()}, {{"value", static_cast<double>(number)}});
    const Tensor y = run(call, plan_call(call, device_traits(), real()), {x}, real())[0];
    int wrong = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const float exact = std::string(op) == "mul_scalar" ? values[i] * number : values[i] + number;
      // A device may take float32's own subnormal numbers for zero.
      const float least = 2 * std::numeric_limits<float>::min();
      if (exact != 0 && std::abs(exact) < least) continue;
      if (values[i] != 0 && std::abs(values[i]) < least) continue;
      const float got = y.data<float>()[i];
      const bool same =
          std::isnan(exact) ? std::isnan(got) : to_half(got, real()) == to_half(exact, real());
      if (!same && ++wrong < 5) {
        ADD_FAILURE() << op << " " << number << " of " << values[i] << ": " << got << ", not "
                      << from_half(to_half(exact, real()), real());
      }
    }
    EXPECT_EQ(wrong, 0) << op << " " << number;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, StoredAs, ::testing::ValuesIn(kHalves),
                         [](const auto& info) { return std::string(name_of(info.param)); });

// --- plans ---------------------------------------------------------------------------------------

TEST(Storage, LaunchesAreToldOfOperandsAndNotOfScratch) {
  const auto plan = [](DType real) {
    return plan_call(call_of({"sum", {{2, 400000}}, {{"axis", int64_t{1}}}}), large_gpu(), real);
  };
  for (const DType real : kHalves) {
    const CallPlan halves = plan(real);
    ASSERT_EQ(halves.launches.size(), 2u);
    EXPECT_EQ(macro(halves.launches[0], "STORED_0"), name_of(real));
    EXPECT_EQ(macro(halves.launches[0], "STORED_1"), "");
    EXPECT_EQ(macro(halves.launches[1], "STORED_0"), "");
    EXPECT_EQ(macro(halves.launches[1], "STORED_1"), name_of(real));
    EXPECT_EQ(halves.scratch_bytes, plan(DType::f32).scratch_bytes);
  }
  for (const Launch& launch : plan(DType::f32).launches) {
    EXPECT_EQ(macro(launch, "STORED_0") + macro(launch, "STORED_1"), "");
  }
}

TEST(Storage, IntegersStayAsTheyAre) {
  EXPECT_EQ(stored_dtype(DType::i64, DType::f16), DType::i64);
  EXPECT_EQ(stored_dtype(DType::boolean, DType::bf16), DType::boolean);
  EXPECT_EQ(stored_type({DType::f32, {3, 5}}, DType::bf16), (TensorType{DType::bf16, {3, 5}}));
  EXPECT_EQ(error_of([] { stored_dtype(DType::f32, DType::i32); }).code(),
            ErrorCode::kInvalidArgument);
}

TEST(Storage, ADeviceWithout16BitStorageIsRefused) {
  DeviceTraits traits = large_gpu();
  traits.storage_16bit = false;
  const OperatorCall call = call_of({"relu", {{3, 5}}});
  EXPECT_EQ(plan_call(call, traits).launches.size(), 1u);
  const Error error = error_of([&] { plan_call(call, traits, DType::f16); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_NE(error.message().find("storageBuffer16BitAccess"), std::string::npos);
}

/// What a launch shows of its kernel: how many elements it takes at a time, and which of its
/// addresses are halves. Nothing where none is: that is float32's kernel.
std::set<std::string> forms_of(const Launch& launch) {
  std::set<std::string> forms = {launch.shader};
  bool stored = false;
  for (const auto& [name, value] : launch.macros) {
    if (name == "WIDTH" || name.ends_with("_QUADS")) {
      forms.insert(launch.shader + " " + name + "=" + value);
    }
    stored = stored || name.starts_with("STORED_");
  }
  if (!stored) return {};
  // The second direction of a recurrent layer is stored as the first.
  for (size_t i = 0; i < std::min<size_t>(launch.addresses.size(), 7); ++i) {
    const std::string name = "STORED_" + std::to_string(i);
    forms.insert(launch.shader + " " + name + "=" + macro(launch, name));
  }
  return forms;
}

TEST(Storage, CasesCoverWhatTasksUseOfEveryKernel) {
  std::set<std::string> covered;
  DeviceTraits software;
  software.software = true;
  Cases cases{software, DeviceTraits{}, DType::f16};
  for (const auto& [name, add] : kFamilies) add(cases);
  for (const Planned& each : cases.list) {
    for (const Launch& launch : each.plan.launches) covered.merge(forms_of(launch));
  }
  // Run by tests of their own above.
  const std::set<std::string> others = {"mask.comp", "cross_entropy.comp", "index_rows.comp",
                                        "cast.comp"};
  for (const Task& task : tasks()) {
    const auto graph = build_graph(task, Preset::smoke);
    for (const Graph::Node& node : graph->nodes()) {
      if (node.call.op->is_view) continue;
      for (const Launch& launch : plan_call(node.call, large_gpu(), DType::f16).launches) {
        if (others.contains(launch.shader)) continue;
        for (const std::string& form : forms_of(launch)) {
          EXPECT_TRUE(covered.contains(form)) << form << " of " << to_string(task.id);
        }
      }
    }
  }
}

/// With the device's own conversions, which software devices do not promise, and without.
TEST(Storage, KernelsOfHalvesCompile) {
  vulkan::ShaderCompiler compiler;
  for (const bool converts : {true, false}) {
    std::set<std::string> seen;
    DeviceTraits traits = large_gpu();
    traits.float16_conversions = converts;
    for (const DType real : kHalves) {
      if (converts && real != DType::f16) continue;  // the same again
      Cases cases{traits, traits, real};
      for (const auto& [name, add] : kFamilies) add(cases);
      for (const Planned& each : cases.list) {
        for (const Launch& launch : each.plan.launches) {
          if (!seen.insert(launch.shader + macro(launch, "WIDTH")).second) continue;
          SCOPED_TRACE(launch.shader + " " + std::string(name_of(real)));
          vulkan::ShaderSource source;
          source.text = vulkan::embedded_shader(launch.shader).value();
          source.file = launch.shader;
          source.macros = launch.macros;
          source.include = vulkan::embedded_include;
          const vulkan::CompileOutcome outcome = compiler.compile(source);
          for (const Diagnostic& diagnostic : outcome.diagnostics) {
            ADD_FAILURE() << diagnostic.message;
          }
          EXPECT_EQ(vulkan::validate_spirv(outcome.spirv), "");
        }
      }
    }
  }
}

}  // namespace
}  // namespace kbench::eager
