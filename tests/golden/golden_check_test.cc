#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/error_of.h"
#include "tests/golden/golden_data.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kSeed = 24301;
const TaskId kTask = {1, 1};

/// Sum of value[i] * w[i] in one plain loop.
double plain_checksum(const Tensor& tensor, const std::string& name) {
  const Tensor w =
      draw(uniform(-1, 1), {kSeed, kTask.draw_word(), name}, {DType::f32, {tensor.elements()}});
  double sum = 0;
  for (int64_t i = 0; i < tensor.elements(); ++i) sum += tensor.at(i) * w.at(i);
  return sum;
}

/// A record that these outputs fit.
GoldenRecord record_of(const std::vector<Tensor>& outputs) {
  GoldenRecord record;
  record.task = kTask;
  record.seed = kSeed;
  for (size_t i = 0; i < outputs.size(); ++i) {
    GoldenOutput& output = record.outputs.emplace_back();
    output.type = outputs[i].type();
    output.rms = 1;
    output.float32_error = 1e-6;
    output.checksum = plain_checksum(outputs[i], "checksum" + std::to_string(i));
    output.checksum_scale = 0.5 * static_cast<double>(outputs[i].elements());
    for (int64_t at : {int64_t{0}, outputs[i].elements() / 2, outputs[i].elements() - 1}) {
      output.index.push_back(at);
      output.value.push_back(outputs[i].at(at));
    }
  }
  return record;
}

Tensor random_output(Shape shape) {
  return draw(normal(), {3, 3, "y"}, {DType::f32, std::move(shape)});
}

TEST(CheckGolden, PassesWhatTheRecordWasMadeFrom) {
  const std::vector<Tensor> outputs = {random_output({7, 11}), random_output({3, 100001})};
  const GoldenRecord record = record_of(outputs);
  for (const Precision precision : {Precision::f32, Precision::f64}) {
    const GoldenCheck check = check_golden(record, outputs, precision);
    EXPECT_TRUE(check.passed) << check.message;
    EXPECT_LT(check.worst, 1e-6);
  }
  const std::vector<Tensor> wide = {outputs[0].converted(DType::f64),
                                    outputs[1].converted(DType::f64)};
  EXPECT_TRUE(check_golden(record, wide, Precision::f64).passed);
}

TEST(CheckGolden, HoldsListedElementsToTheirBound) {
  const std::vector<Tensor> outputs = {random_output({1000}).converted(DType::f64)};
  const GoldenRecord record = record_of(outputs);
  const auto with_error = [&](double error, Precision precision) {
    std::vector<Tensor> off = {outputs[0].clone()};
    off[0].data<double>()[500] += error;
    return check_golden(record, off, precision);
  };
  // float32: 32 * max(1e-6, 2e-6) * rms; float64: 32 * 1e-7 * rms.
  EXPECT_TRUE(with_error(6.3e-5, Precision::f32).passed);
  EXPECT_NEAR(with_error(6.3e-5, Precision::f32).worst, 6.3 / 6.4, 1e-6);
  EXPECT_FALSE(with_error(6.5e-5, Precision::f32).passed);
  EXPECT_TRUE(with_error(-3.1e-6, Precision::f64).passed);
  EXPECT_FALSE(with_error(-3.3e-6, Precision::f64).passed);
  const GoldenCheck bad = with_error(std::nan(""), Precision::f32);
  EXPECT_FALSE(bad.passed);
  EXPECT_THAT(bad.message, HasSubstr("output 0 element 500: got nan, expected "));

  GoldenRecord rough = record;
  rough.outputs[0].float32_error = 1e-3;
  std::vector<Tensor> off = {outputs[0].clone()};
  off[0].data<double>()[500] += 0.03;
  EXPECT_TRUE(check_golden(rough, off, Precision::f32).passed) << "32 * 1e-3";
  EXPECT_FALSE(check_golden(rough, off, Precision::f64).passed);
}

TEST(CheckGolden, ChecksumSeesElementsThatAreNotListed) {
  const std::vector<Tensor> outputs = {random_output({300, 1000})};
  const GoldenRecord record = record_of(outputs);
  Tensor off = outputs[0].clone();
  // A row that went wrong between two listed elements.
  for (size_t i = 1000; i < 2000; ++i) off.data<float>()[i] = 9;
  const GoldenCheck check = check_golden(record, {off}, Precision::f32);
  EXPECT_FALSE(check.passed);
  EXPECT_THAT(check.message, HasSubstr("output 0 checksum"));
  EXPECT_GT(check.worst, 1);
}

TEST(CheckGolden, IntegersMatchExactly) {
  const std::vector<Tensor> outputs = {draw(randint(0, 50), {3, 3, "y"}, {DType::i64, {5000}})};
  GoldenRecord record = record_of(outputs);
  record.outputs[0].rms = 1e9;  // no excuse for an integer
  EXPECT_TRUE(check_golden(record, outputs, Precision::f32).passed);
  Tensor listed = outputs[0].clone();
  listed.data<int64_t>()[2500] += 1;
  EXPECT_THAT(check_golden(record, {listed}, Precision::f32).message, HasSubstr("element 2500"));
  Tensor unlisted = outputs[0].clone();
  unlisted.data<int64_t>()[2501] += 1;
  EXPECT_THAT(check_golden(record, {unlisted}, Precision::f32).message, HasSubstr("checksum"));
}

TEST(CheckGolden, WantsOutputsOfTheRightNumberAndType) {
  const std::vector<Tensor> outputs = {random_output({4, 5})};
  const GoldenRecord record = record_of(outputs);
  EXPECT_THAT(check_golden(record, {}, Precision::f32).message, HasSubstr("got 0 outputs"));
  EXPECT_THAT(check_golden(record, {outputs[0].reshaped({5, 4})}, Precision::f32).message,
              HasSubstr("output 0 is f32 [5, 4], expected f32 [4, 5]"));
  EXPECT_FALSE(check_golden(record, {outputs[0].converted(DType::i64)}, Precision::f32).passed);
  EXPECT_FALSE(check_golden(record, {Tensor()}, Precision::f32).passed);
}

class DrawGolden : public ::testing::Test {
 protected:
  DrawGolden() : graph_(Variables{{"s", 3.14}}) {
    graph_.input("x", {2, 3}, uniform(-1, 1));
    graph_.parameter("w", {3});
    record_.task = kTask;
    record_.seed = kSeed;
    add("x", "input", {DType::f32, {2, 3}}, uniform(-1, 1));
    add("w", "param", {DType::f32, {3}}, normal());
    add("s", "scalar", {}, {}, 3.14);
  }

  void add(const std::string& name, const std::string& kind, const TensorType& type,
           const Distribution& distribution, double value = 0) {
    GoldenTensor& tensor = record_.tensors.emplace_back();
    tensor.name = name;
    tensor.kind = kind;
    tensor.type = type;
    tensor.distribution = distribution;
    tensor.value = value;
  }

  std::string refusal() const {
    const Error e = error_of([&] { draw_golden(record_, graph_); });
    EXPECT_EQ(e.code(), ErrorCode::kShape);
    return e.message();
  }

  Graph graph_;
  GoldenRecord record_;
};

TEST_F(DrawGolden, DrawsByTheRecordsDistributions) {
  const NamedTensors tensors = draw_golden(record_, graph_);
  ASSERT_EQ(tensors.size(), 2u);
  const Tensor& x = tensors.at("x");
  EXPECT_EQ(x.shape(), (Shape{2, 3}));
  // The generator's published values for this task, name and seed.
  EXPECT_FLOAT_EQ(x.data<float>()[0], -0.42922199f);
  EXPECT_FLOAT_EQ(x.data<float>()[3], 0.08903313f);
  // The record's distribution, not the graph's.
  const Tensor w = draw(normal(), {kSeed, kTask.draw_word(), "w"}, {DType::f32, {3}});
  EXPECT_EQ(tensors.at("w").data<float>()[2], w.data<float>()[2]);
}

TEST_F(DrawGolden, DrawsBooleansAndScalarInputs) {
  graph_.input("mask", {64}, randint(0, 2), DType::boolean);
  graph_.input("k", {}, normal());
  add("mask", "input", {DType::boolean, {64}}, randint(0, 2));
  add("k", "scalar", {}, {}, 0.5);
  const NamedTensors tensors = draw_golden(record_, graph_);
  const auto mask = tensors.at("mask").data<bool>();
  const auto ones = std::count(mask.begin(), mask.end(), true);
  EXPECT_GT(ones, 16);
  EXPECT_LT(ones, 48);
  EXPECT_EQ(tensors.at("k").data<float>()[0], 0.5f);
}  // namespace

TEST_F(DrawGolden, RefusesAGraphThatDiffers) {
  record_.tensors[0].type.shape = {3, 2};
  EXPECT_EQ(refusal(),
            "golden record of level1/1 does not fit the graph: input 'x' is f32 [2, 3] in the "
            "graph and f32 [3, 2] in the record");
  record_.tensors[0].type = {DType::i64, {2, 3}};
  EXPECT_THAT(refusal(), HasSubstr("i64 [2, 3] in the record"));
  record_.tensors[0].name = "y";
  EXPECT_THAT(refusal(), HasSubstr("the record has no input 'x'"));
}

TEST_F(DrawGolden, RefusesTensorsTheGraphLacks) {
  add("b", "param", {DType::f32, {3}}, normal());
  EXPECT_THAT(refusal(), HasSubstr("the graph has no parameter 'b'"));
}

TEST_F(DrawGolden, RefusesAParameterInAnInputsPlace) {
  record_.tensors[1].kind = "input";
  EXPECT_THAT(refusal(), HasSubstr("parameter 'w' is of kind 'input' in the record"));
}

TEST_F(DrawGolden, RefusesAScalarOfAnotherValue) {
  record_.tensors[2].value = 2;
  EXPECT_THAT(refusal(), HasSubstr("variable 's' is 3.14 in the graph and 2 in the record"));
}

}  // namespace
}  // namespace kbench
