#include "reference/ops/elementwise.h"

#include "tests/reference/arrays.h"

namespace kbench::reference {
namespace {

template <class T>
class Elementwise : public ::testing::Test {};
TYPED_TEST_SUITE(Elementwise, RealTypes);

TYPED_TEST(Elementwise, UnaryOperatorsMatchTheirFormulas) {
  using T = TypeParam;
  struct Case {
    Unary op;
    double value;
    double (*truth)(double x);
  };
  const Case cases[] = {
      {Unary::relu, 0, [](double x) { return std::max(x, 0.0); }},
      {Unary::leaky_relu, 0.25, [](double x) { return x > 0 ? x : 0.25 * x; }},
      {Unary::sigmoid, 0, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {Unary::gelu, 0, [](double x) { return x * (1 + std::erf(x / std::sqrt(2.0))) / 2; }},
      {Unary::square, 0, [](double x) { return x * x; }},
      {Unary::add, 1.5, [](double x) { return x + 1.5; }},
      {Unary::sub, 1.5, [](double x) { return x - 1.5; }},
      {Unary::mul, 1.5, [](double x) { return x * 1.5; }},
      {Unary::div, 1.5, [](double x) { return x / 1.5; }},
      {Unary::tanh, 0, [](double x) { return std::tanh(x); }},
      {Unary::selu, 0,
       [](double x) {
         return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x));
       }},
      {Unary::elu, 1.5, [](double x) { return x > 0 ? x : 1.5 * std::expm1(x); }},
      {Unary::softplus, 0, [](double x) { return x > 20 ? x : std::log1p(std::exp(x)); }},
      {Unary::mish, 0, [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
      {Unary::hardsigmoid, 0, [](double x) { return std::clamp(x / 6 + 0.5, 0.0, 1.0); }},
      {Unary::hardswish, 0, [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }},
      {Unary::exp, 0, [](double x) { return std::exp(x); }},
      {Unary::abs, 0, [](double x) { return std::abs(x); }},
      {Unary::neg, 0, [](double x) { return -x; }},
      {Unary::clamp_min, 0.25, [](double x) { return std::max(x, 0.25); }},
      {Unary::clamp_max, 0.25, [](double x) { return std::min(x, 0.25); }},
  };
  auto x = random_array<T>(50001);  // over several threads' shares
  for (T& v : x) v *= 3;            // to both sides of every bend
  for (const Case& c : cases) {
    std::vector<double> truth;
    for (T v : x) truth.push_back(c.truth(v));
    std::vector<T> y(x.size());
    unary<T>(c.op, c.value, x.data(), y.data(), y.size());
    expect_close(y, truth, 4);
    std::vector<T> in_place = x;
    unary<T>(c.op, c.value, in_place.data(), in_place.data(), y.size());
    EXPECT_EQ(in_place, y) << static_cast<int>(c.op);
  }
}

TYPED_TEST(Elementwise, SqrtIsCorrectlyRounded) {
  const TypeParam x[] = {0, 2, 1e-30f, 7e30f};
  TypeParam y[4];
  unary<TypeParam>(Unary::sqrt, 0, x, y, 4);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(y[i], std::sqrt(x[i]));
}

TYPED_TEST(Elementwise, NanStaysNan) {
  for (Unary op :
       {Unary::relu, Unary::selu, Unary::elu, Unary::softplus, Unary::mish, Unary::hardsigmoid,
        Unary::hardswish, Unary::abs, Unary::neg, Unary::clamp_min, Unary::clamp_max}) {
    std::vector<TypeParam> x(35, std::numeric_limits<TypeParam>::quiet_NaN());
    unary<TypeParam>(op, 0, x.data(), x.data(), x.size());
    for (TypeParam v : x) EXPECT_TRUE(std::isnan(v)) << static_cast<int>(op);
  }
}

TYPED_TEST(Elementwise, LogOfPositiveValues) {
  auto x = random_array<TypeParam>(1001);
  std::vector<double> truth;
  for (TypeParam& v : x) {
    v = std::abs(v) + TypeParam(1e-3);
    truth.push_back(std::log(double(v)));
  }
  unary<TypeParam>(Unary::log, 0, x.data(), x.data(), x.size());
  expect_close(x, truth, 2);
}

TYPED_TEST(Elementwise, ActivationsReachTheirLimits) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity();
  const auto at = [](Unary op, T x) {
    T y;
    unary<T>(op, 1, &x, &y, 1);
    return y;
  };
  for (T far : {T(1000), inf}) {
    EXPECT_EQ(at(Unary::elu, -far), -1);
    EXPECT_NEAR(at(Unary::selu, -far), -1.7580993408473766, 1e-6);
    EXPECT_EQ(at(Unary::softplus, far), far);
    EXPECT_EQ(at(Unary::softplus, -far), 0);
    EXPECT_EQ(at(Unary::mish, far), far);
    EXPECT_EQ(at(Unary::hardsigmoid, -far), 0);
    EXPECT_EQ(at(Unary::hardsigmoid, far), 1);
  }
  // Differences from 0 that 1 + x would round away.
  const T tiny = std::numeric_limits<T>::epsilon() / 8;
  EXPECT_NEAR(at(Unary::elu, -tiny), -tiny, tiny / 8);
  EXPECT_NEAR(at(Unary::softplus, std::log(tiny)) / tiny, 1, 1e-4);
}

TYPED_TEST(Elementwise, ClampBoundsBothSidesAndKeepsNan) {
  auto x = random_array<TypeParam>(20011);
  x[4099] = std::numeric_limits<TypeParam>::quiet_NaN();
  std::vector<TypeParam> y(x.size());
  clamp<TypeParam>(-0.5, 0.75, x.data(), y.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    if (i == 4099) {
      EXPECT_TRUE(std::isnan(y[i]));
    } else {
      ASSERT_EQ(y[i], std::min(std::max(x[i], TypeParam(-0.5)), TypeParam(0.75)));
    }
  }
  clamp<TypeParam>(2, 1, x.data(), x.data(), 5);  // the upper bound is applied last
  for (int i = 0; i < 5; ++i) EXPECT_EQ(x[i], 1);
}

TYPED_TEST(Elementwise, MaskMultiplies) {
  const TypeParam x[] = {2, 3, std::numeric_limits<TypeParam>::infinity(), 5, 7};
  const bool mask[] = {true, false, false, true, false};
  TypeParam y[5];
  mul_mask<TypeParam>(x, mask, y, 5);
  EXPECT_EQ(y[0], 2);
  EXPECT_EQ(y[1], 0);
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_EQ(y[3], 5);
}

TYPED_TEST(Elementwise, MaximumAndMinimumSpreadNanFromEitherSide) {
  const TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  const TypeParam a[] = {1, nan, 2, nan, -3}, b[] = {2, 1, nan, nan, -4};
  for (Binary op : {Binary::maximum, Binary::minimum}) {
    TypeParam y[5];
    binary<TypeParam>(op, a, {5}, b, {5}, y, {5});
    for (int i = 1; i < 4; ++i) EXPECT_TRUE(std::isnan(y[i]));
    EXPECT_EQ(y[0], op == Binary::maximum ? 2 : 1);
    EXPECT_EQ(y[4], op == Binary::maximum ? -3 : -4);
  }
}

/// Element `index` of a broadcast tensor, by NumPy's rule.
template <class T>
T broadcast_at(const std::vector<T>& data, const Shape& shape, const std::vector<int64_t>& index) {
  int64_t at = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    at = at * shape[i] + (shape[i] == 1 ? 0 : index[index.size() - shape.size() + i]);
  }
  return data[at];
}

TYPED_TEST(Elementwise, BinaryBroadcastsAsNumPyDoes) {
  using T = TypeParam;
  struct Case {
    Shape a, b, out;
  };
  const Case cases[] = {
      {{3, 5, 7}, {3, 5, 7}, {3, 5, 7}},
      {{3, 5, 7}, {7}, {3, 5, 7}},
      {{3, 5, 7}, {5, 1}, {3, 5, 7}},
      {{3, 5, 7}, {3, 1, 1}, {3, 5, 7}},
      {{3, 1, 7}, {5, 1}, {3, 5, 7}},
      {{7}, {3, 5, 1}, {3, 5, 7}},
      {{1}, {3, 5}, {3, 5}},
      {{}, {3, 5}, {3, 5}},
      {{}, {}, {}},
      {{6, 1}, {6, 11}, {6, 11}},
      {{2, 3, 1, 5, 1}, {3, 7, 1, 9}, {2, 3, 7, 5, 9}},
      {{130, 1, 210}, {3, 1}, {130, 3, 210}},
  };
  const std::pair<Binary, double (*)(double, double)> operators[] = {
      {Binary::add, [](double a, double b) { return a + b; }},
      {Binary::sub, [](double a, double b) { return a - b; }},
      {Binary::mul, [](double a, double b) { return a * b; }},
      {Binary::div, [](double a, double b) { return a / b; }},
      {Binary::maximum, [](double a, double b) { return std::max(a, b); }},
      {Binary::minimum, [](double a, double b) { return std::min(a, b); }}};
  for (const Case& c : cases) {
    const auto a = random_array<T>(element_count(c.a), 1),
               b = random_array<T>(element_count(c.b), 2);
    for (const auto& [op, formula] : operators) {
      std::vector<T> y(element_count(c.out));
      binary<T>(op, a.data(), c.a, b.data(), c.b, y.data(), c.out);
      for (int64_t i = 0; i < static_cast<int64_t>(y.size()); ++i) {
        std::vector<int64_t> index(c.out.size());
        for (int64_t d = static_cast<int64_t>(index.size()) - 1, rest = i; d >= 0; --d) {
          index[d] = rest % c.out[d];
          rest /= c.out[d];
        }
        const T truth =
            static_cast<T>(formula(broadcast_at(a, c.a, index), broadcast_at(b, c.b, index)));
        ASSERT_EQ(y[i], truth) << to_string(c.a) << to_string(c.b) << " element " << i;
      }
    }
  }
}

}  // namespace
}  // namespace kbench::reference
