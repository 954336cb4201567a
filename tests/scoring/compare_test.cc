#include "kbench/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>

#include "kbench/error.h"
#include "kbench/random.h"
#include "tests/error_of.h"

namespace kbench {
namespace {

constexpr double kTolerance = 1e-4;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class T>
Tensor tensor_of(std::initializer_list<T> values) {
  Tensor tensor(dtype_of<T>(), {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.data<T>().begin());
  return tensor;
}

Tensor random_tensor(Shape shape) {
  return draw(normal(), {7, 1, "x"}, {DType::f32, std::move(shape)});
}

Verdict verdict_of(const Tensor& got, const Tensor& truth) {
  return classify(compare(got, truth, kTolerance), kTolerance);
}

TEST(Compare, EqualTensorsPass) {
  const Tensor truth = random_tensor({300, 400});
  const Comparison found = compare(truth.clone(), truth, kTolerance);
  EXPECT_TRUE(found.passed());
  EXPECT_EQ(found.elements, 120000);
  EXPECT_EQ(found.first_wrong, -1);
  EXPECT_EQ(found.max_error, 0);
  EXPECT_NEAR(found.truth_rms, 1, 0.02);
  EXPECT_EQ(classify(found, kTolerance), Verdict::passed);
}

TEST(Compare, ToleranceIsRelativeToScalePlusMagnitude) {
  // RMS of {3, 4, 0, 0} is 2.5: the bounds are 1e-4 * 5.5 at the 3 and 1e-4 * 2.5 at a zero.
  const Tensor truth = tensor_of<double>({3, 4, 0, 0});
  EXPECT_TRUE(compare(tensor_of<double>({3.00054, 4, 0.000249, 0}), truth, kTolerance).passed());
  EXPECT_FALSE(compare(tensor_of<double>({3.00056, 4, 0, 0}), truth, kTolerance).passed());
  const Comparison found = compare(tensor_of<double>({3, 4, 0.000251, 0}), truth, kTolerance);
  EXPECT_EQ(found.wrong, 1);
  EXPECT_EQ(found.first_wrong, 2);
  EXPECT_EQ(found.first_got, 0.000251);
  EXPECT_EQ(found.first_expected, 0);
  EXPECT_DOUBLE_EQ(found.truth_rms, 2.5);
  EXPECT_DOUBLE_EQ(found.max_error, 0.000251 / 2.5);
}

TEST(Compare, KernelBenchRuleAddsAnAbsoluteTolerance) {
  const Tensor truth = tensor_of<double>({0, 1e-6, 100});
  const Tensor zeros = tensor_of<double>({5e-5, 0, 100.009});
  EXPECT_TRUE(compare(zeros, truth, 1e-4, ToleranceRule::kernelbench).passed());
  EXPECT_FALSE(compare(tensor_of<double>({0, 0, 100.011}), truth, 1e-4, ToleranceRule::kernelbench)
                   .passed());
  EXPECT_TRUE(
      compare(tensor_of<double>({0, 0, 100.9}), truth, 1e-2, ToleranceRule::kernelbench).passed());
  // A softmax over many values is below that absolute tolerance throughout, and zeros pass there.
  const Tensor tiny = tensor_of<double>({2e-6, 3e-6});
  const Tensor nothing = tensor_of<double>({0, 0});
  EXPECT_TRUE(compare(nothing, tiny, 1e-4, ToleranceRule::kernelbench).passed());
  EXPECT_FALSE(compare(nothing, tiny, 1e-4).passed());
}

TEST(Compare, NanNeverPasses) {
  const Tensor truth = tensor_of<float>({1, 2, 3});
  const Comparison found = compare(tensor_of<float>({1, kNan, 3}), truth, kTolerance);
  EXPECT_EQ(found.wrong, 1);
  EXPECT_EQ(found.not_finite, 1);
  EXPECT_EQ(found.first_wrong, 1);
  EXPECT_EQ(found.max_error, 0) << "a NaN has no size";
  EXPECT_EQ(classify(found, kTolerance), Verdict::not_finite);
  EXPECT_FALSE(
      compare(tensor_of<float>({1, kNan, 3}), truth, 1e-2, ToleranceRule::kernelbench).passed());
}

TEST(Compare, NanInTheTruthIsNobodysFault) {
  const Tensor truth = tensor_of<float>({1, kNan, 3});
  for (const float got : {kNan, 2.0f, kInfinity}) {
    const Comparison found = compare(tensor_of<float>({1, got, 3}), truth, kTolerance);
    EXPECT_EQ(found.wrong, 1);
    EXPECT_EQ(found.truth_nan, 1);
    EXPECT_EQ(classify(found, kTolerance), Verdict::harness_error);
    EXPECT_NE(describe(found, {3}, kTolerance).find("the truth is not finite"), std::string::npos);
  }
  EXPECT_EQ(verdict_of(tensor_of<float>({1, 2, 4}), truth), Verdict::wrong_values);
}

TEST(Compare, EqualInfinitiesPassAndOthersDoNot) {
  const Tensor truth = tensor_of<float>({kInfinity, -kInfinity, 1, 2});
  EXPECT_TRUE(compare(truth.clone(), truth, kTolerance).passed());
  EXPECT_DOUBLE_EQ(compare(truth.clone(), truth, kTolerance).truth_rms, std::sqrt(2.5));

  const Comparison swapped =
      compare(tensor_of<float>({-kInfinity, kInfinity, 1, 2}), truth, kTolerance);
  EXPECT_EQ(swapped.wrong, 2);
  EXPECT_EQ(swapped.not_finite, 0) << "the truth is infinite there";
  const Comparison finite = compare(tensor_of<float>({3e38f, -kInfinity, 1, 2}), truth, kTolerance);
  EXPECT_EQ(finite.wrong, 1);
  const Comparison extra =
      compare(tensor_of<float>({kInfinity, -kInfinity, kInfinity, 2}), truth, kTolerance);
  EXPECT_EQ(extra.wrong, 1);
  EXPECT_EQ(extra.not_finite, 1);
  EXPECT_EQ(classify(extra, kTolerance), Verdict::not_finite);
}

TEST(Compare, IntegersAndBooleansMatchExactly) {
  constexpr int64_t kBig = (int64_t{1} << 53) + 1;  // not a double
  EXPECT_TRUE(compare(tensor_of<int64_t>({kBig}), tensor_of<int64_t>({kBig}), 1).passed());
  const Comparison found =
      compare(tensor_of<int64_t>({kBig, 5}), tensor_of<int64_t>({kBig - 1, 5}), 1);
  EXPECT_EQ(found.wrong, 1);
  EXPECT_EQ(found.first_wrong, 0);
  EXPECT_EQ(classify(found, 1), Verdict::wrong_values);
  EXPECT_EQ(compare(tensor_of<bool>({true, false}), tensor_of<bool>({true, true}), 1).wrong, 1);
}

TEST(Compare, FloatsAreHeldToFloat64Truth) {
  const Tensor single = random_tensor({1000});
  Tensor truth = single.converted(DType::f64);
  EXPECT_TRUE(compare(single, truth, kTolerance).passed());
  truth.data<double>()[999] += 0.01;
  EXPECT_EQ(compare(single, truth, kTolerance).first_wrong, 999);
}

TEST(Compare, RefusesOtherShapesAndTypes) {
  const auto code_of = [](const Tensor& got, const Tensor& truth) {
    return error_of([&] { compare(got, truth, kTolerance); }).code();
  };
  EXPECT_EQ(code_of(random_tensor({2, 3}), random_tensor({3, 2})), ErrorCode::kShape);
  EXPECT_EQ(code_of(tensor_of<double>({1}), tensor_of<float>({1})), ErrorCode::kShape);
  EXPECT_EQ(code_of(tensor_of<int64_t>({1}), tensor_of<double>({1})), ErrorCode::kShape);
}

TEST(Compare, FindsTheFirstWrongElementAcrossChunks) {
  const Tensor truth = random_tensor({1 << 20});
  Tensor got = truth.clone();
  for (size_t i : {size_t{1000003}, size_t{700001}, size_t{999999}}) got.data<float>()[i] += 9;
  const Comparison found = compare(got, truth, kTolerance);
  EXPECT_EQ(found.wrong, 3);
  EXPECT_EQ(found.first_wrong, 700001);
}

TEST(Classify, ZerosAreTheirOwnVerdict) {
  const Tensor truth = random_tensor({50, 20});
  Tensor zeros(DType::f32, {50, 20});
  for (float& v : zeros.data<float>()) v = 0;
  const Comparison found = compare(zeros, truth, kTolerance);
  EXPECT_EQ(found.zero, 1000);
  EXPECT_EQ(classify(found, kTolerance), Verdict::all_zero);
  EXPECT_TRUE(compare(zeros.clone(), zeros, kTolerance).passed());
}

TEST(Classify, ReducedPrecisionIsToldFromWrongValues) {
  const Tensor truth = random_tensor({100, 100});
  Tensor rounded = truth.clone();
  for (float& v : rounded.data<float>()) v *= 1 + 0x1p-10f;  // as a float16's rounding would
  EXPECT_EQ(verdict_of(rounded, truth), Verdict::low_precision);

  Tensor doubled = truth.clone();
  for (float& v : doubled.data<float>()) v *= 2;
  EXPECT_EQ(verdict_of(doubled, truth), Verdict::wrong_values);
  // At the loosest tolerance too: a hundred times that would be anything.
  EXPECT_EQ(classify(compare(doubled, truth, 1e-2, ToleranceRule::kernelbench), 1e-2),
            Verdict::wrong_values);

  Tensor few = truth.clone();
  for (int i = 0; i < 100; ++i) few.data<float>()[static_cast<size_t>(i)] += 0.002f;
  EXPECT_EQ(verdict_of(few, truth), Verdict::wrong_values) << "1% wrong is not everywhere";
}

TEST(Classify, UnwrittenElementsComeFirst) {
  Comparison found{.elements = 100, .wrong = 100, .not_finite = 3, .untouched = 100};
  EXPECT_EQ(classify(found, kTolerance), Verdict::not_written);
  found.untouched = 40;
  EXPECT_EQ(classify(found, kTolerance), Verdict::partly_written);
  // Of half a million unwritten elements some hold a fill that is near enough.
  found = {.elements = 1000000, .wrong = 499900, .untouched = 500000, .max_error = 2};
  EXPECT_EQ(classify(found, kTolerance), Verdict::partly_written);
  // Two elements hold the fill and only one is wrong: the fill was right there by chance.
  found = {.elements = 100, .wrong = 1, .untouched = 2, .max_error = 0.5};
  EXPECT_EQ(classify(found, kTolerance), Verdict::wrong_values);
}

TEST(Describe, GivesCoordinatesAndValues) {
  const Tensor truth = random_tensor({5, 8}).converted(DType::f64);
  Tensor got = truth.clone();
  got.data<double>()[10] = 0.5;
  got.data<double>()[30] = kNan;
  const Comparison found = compare(got, truth, kTolerance);
  const std::string text = describe(found, {5, 8}, kTolerance);
  EXPECT_TRUE(text.starts_with("2 of 40 elements wrong, the first at [1, 2]: got 0.5, expected "))
      << text;
  EXPECT_NE(text.find("1 not finite"), std::string::npos) << text;
  EXPECT_NE(text.find("times the tolerated 0.0001"), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(Describe, SaysWhereOneElementIsAtTheEdge) {
  const Tensor truth = random_tensor({5, 8}).converted(DType::f64);
  const double rms = compare(truth, truth, kTolerance).truth_rms, r = truth.data<double>()[10];
  const auto text_of = [&](double times) {
    Tensor got = truth.clone();
    got.data<double>()[10] += times * kTolerance * (rms + std::abs(r));
    return describe(compare(got, truth, kTolerance), {5, 8}, kTolerance);
  };
  EXPECT_NE(text_of(1.01).find("; at the edge: few elements"), std::string::npos) << text_of(1.01);
  EXPECT_EQ(text_of(2).find("at the edge"), std::string::npos) << text_of(2);
}

TEST(Describe, HandlesAScalar) {
  Tensor got(DType::f32, {}), truth(DType::f32, {});
  got.data<float>()[0] = 2;
  truth.data<float>()[0] = 1;
  const std::string text = describe(compare(got, truth, kTolerance), {}, kTolerance);
  EXPECT_TRUE(text.starts_with("1 of 1 elements wrong, the first at []: got 2, expected 1"))
      << text;
}

// --- halves --------------------------------------------------------------------------------------

class CompareHalves : public ::testing::TestWithParam<DType> {
 protected:
  static double step() { return half_epsilon(GetParam()); }
  static Tensor rounded(const Tensor& truth) { return truth.converted(GetParam()); }
};

TEST_P(CompareHalves, TheTruthRoundedPassesWithAStepOfTheType) {
  const Tensor truth = random_tensor({300, 400});
  const Comparison found = compare(rounded(truth), truth, {step(), step() / 4});
  EXPECT_TRUE(found.passed());
  EXPECT_LE(found.max_error, step() / 2);
  EXPECT_GT(found.rms_error, step() / 40);
}

TEST_P(CompareHalves, NumbersBelowTheNormalOnesMayBeAStepOff) {
  const auto tiny = static_cast<float>(smallest_normal(GetParam()));
  const Tensor truth = tensor_of<float>({tiny / 3, -tiny / 7, tiny / 11, 0});
  EXPECT_TRUE(compare(rounded(truth), truth, {step(), step() / 2}).passed());
}

TEST_P(CompareHalves, ErrorsEverywhereFailByTheirMeanThoughEachIsSmall) {
  const Tensor truth = random_tensor({300, 400});
  Tensor off = truth.clone();
  for (float& each : off.data<float>()) each *= static_cast<float>(1 + 0.8 * step());
  const Bounds bounds = {2 * step(), step() / 5};
  const Comparison found = compare(rounded(off), truth, bounds);
  EXPECT_EQ(found.wrong, 0);
  EXPECT_FALSE(found.passed());
  EXPECT_EQ(classify(found, bounds), Verdict::low_precision);
  const std::string text = describe(found, truth.shape(), bounds);
  EXPECT_NE(text.find("the root mean square of all errors is"), std::string::npos) << text;
  EXPECT_EQ(classify(found, {0.5, bounds.rms}), Verdict::low_precision)
      << "of a wide tolerance too";
  EXPECT_TRUE(compare(rounded(off), truth, {2 * step()}).passed());
  EXPECT_TRUE(compare(rounded(off), truth, bounds, ToleranceRule::kernelbench).passed())
      << "which has no such bound";
}

TEST_P(CompareHalves, InfinityIsNotALargeNumber) {
  const Tensor truth = tensor_of<float>({3.4e38f, 1, 2});
  EXPECT_EQ(compare(rounded(truth), truth, {step()}).not_finite, 1);
}

INSTANTIATE_TEST_SUITE_P(Types, CompareHalves, ::testing::Values(DType::f16, DType::bf16),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST(Bounds, AreTwiceTheHonestErrorAndAStepOfTheTypeAtLeast) {
  const Bounds large =
      bounds_from({.relative = 0.01, .rms = 1e-3, .elements = 1 << 20}, DType::f16);
  EXPECT_DOUBLE_EQ(large.relative, 0.02);
  EXPECT_NEAR(large.rms, 2e-3, 1e-6);
  const Bounds small = bounds_from({.relative = 1e-5, .rms = 0, .elements = 1}, DType::bf16);
  EXPECT_EQ(small.relative, half_epsilon(DType::bf16));
  EXPECT_EQ(small.rms, half_epsilon(DType::bf16) / 2) << "one element may be right by chance";
}

}  // namespace
}  // namespace kbench
