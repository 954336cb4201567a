#include "kbench/graph.h"
#include "tests/operators/formats.h"
#include "tests/reference/calls.h"

namespace kbench::reference {
namespace {

template <class T>
class Elementwise : public ::testing::Test {};
TYPED_TEST_SUITE(Elementwise, RealTypes);

/// A unary operator's values, in place too, with `value` for the number it carries.
template <class T>
std::vector<T> unary(const char* op, double value, const std::vector<T>& x) {
  Attributes attributes;
  for (const AttributeSpec& spec : find_operator(op).attributes) attributes.set(spec.name, value);
  return run_twice<T>(op, {tensor_of<T>({static_cast<int64_t>(x.size())}, x)}, attributes);
}

TYPED_TEST(Elementwise, UnaryOperatorsMatchTheirFormulas) {
  using T = TypeParam;
  struct Case {
    const char* op;
    double value;
    double (*truth)(double x);
  };
  const Case cases[] = {
      {"relu", 0, [](double x) { return std::max(x, 0.0); }},
      {"leaky_relu", 0.25, [](double x) { return x > 0 ? x : 0.25 * x; }},
      {"sigmoid", 0, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"gelu", 0, [](double x) { return x * (1 + std::erf(x / std::sqrt(2.0))) / 2; }},
      {"square", 0, [](double x) { return x * x; }},
      {"add_scalar", 1.5, [](double x) { return x + 1.5; }},
      {"sub_scalar", 1.5, [](double x) { return x - 1.5; }},
      {"mul_scalar", 1.5, [](double x) { return x * 1.5; }},
      {"div_scalar", 1.5, [](double x) { return x / 1.5; }},
      {"tanh", 0, [](double x) { return std::tanh(x); }},
      {"selu", 0,
       [](double x) {
         return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x));
       }},
      {"elu", 1.5, [](double x) { return x > 0 ? x : 1.5 * std::expm1(x); }},
      {"softplus", 0, [](double x) { return x > 20 ? x : std::log1p(std::exp(x)); }},
      {"mish", 0, [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
      {"hardsigmoid", 0, [](double x) { return std::clamp(x / 6 + 0.5, 0.0, 1.0); }},
      {"hardswish", 0, [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }},
      {"exp", 0, [](double x) { return std::exp(x); }},
      {"sin", 0, [](double x) { return std::sin(x); }},
      {"cos", 0, [](double x) { return std::cos(x); }},
      {"abs", 0, [](double x) { return std::abs(x); }},
      {"neg", 0, [](double x) { return -x; }},
      {"clamp_min", 0.25, [](double x) { return std::max(x, 0.25); }},
      {"clamp_max", 0.25, [](double x) { return std::min(x, 0.25); }},
  };
  auto x = random_array<T>(50001);  // over several threads' shares
  for (T& v : x) v *= 3;            // to both sides of every bend
  for (const Case& c : cases) {
    std::vector<double> truth;
    for (T v : x) truth.push_back(c.truth(v));
    SCOPED_TRACE(c.op);
    expect_close(unary<T>(c.op, c.value, x), truth, 4);
  }
}

TYPED_TEST(Elementwise, SqrtIsCorrectlyRounded) {
  const std::vector<TypeParam> x = {0, 2, 1e-30f, 7e30f};
  const auto y = unary<TypeParam>("sqrt", 0, x);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(y[i], std::sqrt(x[i]));
}

/// Every value of the formats, of both signs, and what lies between.
TYPED_TEST(Elementwise, RoundToIsCorrectlyRounded) {
  using T = TypeParam;
  for (const definitions::Format& format : definitions::formats()) {
    const auto roundings = definitions::roundings(format);
    std::vector<T> x;
    for (const auto& each : roundings) x.insert(x.end(), {T(each.from), -T(each.from)});
    const auto y =
        run_twice<T>("round_to", {tensor_of<T>({int64_t(x.size())}, x)}, {{"format", format.name}});
    for (size_t i = 0; i < x.size(); ++i) {
      const float to = roundings[i / 2].to;
      ASSERT_EQ(y[i], T(i % 2 == 0 ? to : -to)) << x[i] << " to " << format.name;
      ASSERT_EQ(std::signbit(y[i]), i % 2 == 1) << x[i] << " to " << format.name;
    }
    const T nan = std::numeric_limits<T>::quiet_NaN();
    EXPECT_TRUE(std::isnan(run_twice<T>("round_to", {tensor_of<T>({1}, std::vector<T>{nan})},
                                        {{"format", format.name}})[0]));
  }
}

TYPED_TEST(Elementwise, NanStaysNan) {
  const TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  for (const char* op :
       {"relu",        "leaky_relu", "sigmoid", "gelu", "tanh",      "exp",      "log",
        "sin",         "cos",        "sqrt",    "selu", "elu",       "softplus", "mish",
        "hardsigmoid", "hardswish",  "abs",     "neg",  "clamp_min", "clamp_max"}) {
    const Tensor x = tensor_of<TypeParam>({35}, std::vector<TypeParam>(35, nan));
    Attributes attributes;
    for (const AttributeSpec& spec : find_operator(op).attributes) attributes.set(spec.name, 0.5);
    for (TypeParam v : values_of<TypeParam>(run_call<TypeParam>(op, {x}, attributes)[0])) {
      EXPECT_TRUE(std::isnan(v)) << op;
    }
  }
}

TYPED_TEST(Elementwise, SineAndCosineOfLargeAngles) {
  auto x = random_array<TypeParam>(5001);
  for (size_t i = 0; i < x.size(); ++i) x[i] *= static_cast<TypeParam>(std::pow(10, i % 12));
  for (const bool sine : {true, false}) {
    std::vector<double> truth;
    for (const TypeParam v : x) truth.push_back(sine ? std::sin(double(v)) : std::cos(double(v)));
    expect_close(unary<TypeParam>(sine ? "sin" : "cos", 0, x), truth, 2);
  }
}

TYPED_TEST(Elementwise, LogOfPositiveValues) {
  auto x = random_array<TypeParam>(1001);
  std::vector<double> truth;
  for (TypeParam& v : x) {
    v = std::abs(v) + TypeParam(1e-3);
    truth.push_back(std::log(double(v)));
  }
  expect_close(unary<TypeParam>("log", 0, x), truth, 2);
}

TYPED_TEST(Elementwise, ActivationsReachTheirLimits) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity();
  const auto at = [](const char* op, T x) { return unary<T>(op, 1, {x})[0]; };
  for (T far : {T(1000), inf}) {
    EXPECT_EQ(at("elu", -far), -1);
    EXPECT_NEAR(at("selu", -far), -1.7580993408473766, 1e-6);
    EXPECT_EQ(at("softplus", far), far);
    EXPECT_EQ(at("softplus", -far), 0);
    EXPECT_EQ(at("mish", far), far);
    EXPECT_EQ(at("hardsigmoid", -far), 0);
    EXPECT_EQ(at("hardsigmoid", far), 1);
    EXPECT_EQ(at("exp", -far), 0);
    EXPECT_EQ(at("exp", far), inf);
    EXPECT_EQ(at("sigmoid", -far), 0);
    EXPECT_EQ(at("sigmoid", far), 1);
    EXPECT_EQ(at("tanh", -far), -1);
    EXPECT_EQ(at("tanh", far), 1);
    EXPECT_EQ(at("gelu", far), far);
    EXPECT_EQ(at("relu", far), far);
    EXPECT_EQ(at("leaky_relu", far), far);
    EXPECT_EQ(at("leaky_relu", -far), -far);
  }
  EXPECT_EQ(at("log", 0), -inf);
  EXPECT_EQ(at("log", inf), inf);
  EXPECT_TRUE(std::isnan(at("log", -1)));
  const T subnormal = std::numeric_limits<T>::min() / 1024;
  EXPECT_NEAR(at("log", subnormal), std::log(subnormal), 1e-4);
  EXPECT_NEAR(at("exp", std::log(subnormal)) / subnormal, 1, 0.02);
  // Differences from 0 that 1 + x would round away.
  const T tiny = std::numeric_limits<T>::epsilon() / 8;
  EXPECT_NEAR(at("elu", -tiny), -tiny, tiny / 8);
  EXPECT_NEAR(at("softplus", std::log(tiny)) / tiny, 1, 1e-4);
}

TYPED_TEST(Elementwise, ClampBoundsBothSidesAndKeepsNan) {
  auto x = random_array<TypeParam>(20011);
  x[4099] = std::numeric_limits<TypeParam>::quiet_NaN();
  const Tensor whole = tensor_of<TypeParam>({20011}, x);
  const auto y = run_twice<TypeParam>("clamp", {whole}, {{"lo", -0.5}, {"hi", 0.75}});
  for (size_t i = 0; i < x.size(); ++i) {
    if (i == 4099) {
      EXPECT_TRUE(std::isnan(y[i]));
    } else {
      ASSERT_EQ(y[i], std::min(std::max(x[i], TypeParam(-0.5)), TypeParam(0.75)));
    }
  }
  // The upper bound is applied last.
  const auto crossed = run_call<TypeParam>("clamp", {whole}, {{"lo", 2.0}, {"hi", 1.0}});
  EXPECT_EQ(crossed[0].at(0), 1);
}

TYPED_TEST(Elementwise, MaskMultiplies) {
  const std::vector<TypeParam> x = {2, 3, std::numeric_limits<TypeParam>::infinity(), 5, 7};
  const std::vector<bool> mask = {true, false, false, true, false};
  const Tensor inputs[] = {tensor_of<TypeParam>({5}, x), tensor_of<bool>({5}, mask)};
  const auto y = values_of<TypeParam>(run_call<TypeParam>("mul_mask", {inputs[0], inputs[1]})[0]);
  EXPECT_EQ(y[0], 2);
  EXPECT_EQ(y[1], 0);
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_EQ(y[3], 5);
}

TYPED_TEST(Elementwise, MaximumAndMinimumSpreadNanFromEitherSide) {
  const TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  const std::vector<TypeParam> a = {1, nan, 2, nan, -3}, b = {2, 1, nan, nan, -4};
  for (const std::string op : {"maximum", "minimum"}) {
    const std::vector<Tensor> inputs = {tensor_of<TypeParam>({5}, a), tensor_of<TypeParam>({5}, b)};
    const auto y = values_of<TypeParam>(run_call<TypeParam>(op, inputs)[0]);
    for (int i = 1; i < 4; ++i) EXPECT_TRUE(std::isnan(y[i]));
    EXPECT_EQ(y[0], op == "maximum" ? 2 : 1);
    EXPECT_EQ(y[4], op == "maximum" ? -3 : -4);
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
  const std::pair<const char*, double (*)(double, double)> operators[] = {
      {"add", [](double a, double b) { return a + b; }},
      {"sub", [](double a, double b) { return a - b; }},
      {"mul", [](double a, double b) { return a * b; }},
      {"div", [](double a, double b) { return a / b; }},
      {"maximum", [](double a, double b) { return std::max(a, b); }},
      {"minimum", [](double a, double b) { return std::min(a, b); }}};
  for (const Case& c : cases) {
    const auto a = random_array<T>(element_count(c.a), 1),
               b = random_array<T>(element_count(c.b), 2);
    for (const auto& [op, formula] : operators) {
      const auto y = values_of<T>(run_call<T>(op, {tensor_of<T>(c.a, a), tensor_of<T>(c.b, b)})[0]);
      ASSERT_EQ(static_cast<int64_t>(y.size()), element_count(c.out));
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
