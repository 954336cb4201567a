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
  };
  const auto x = random_array<T>(50001);  // over several threads' shares
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
  std::vector<TypeParam> x(35, std::numeric_limits<TypeParam>::quiet_NaN());
  unary<TypeParam>(Unary::relu, 0, x.data(), x.data(), x.size());
  for (TypeParam v : x) EXPECT_TRUE(std::isnan(v));
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
      {Binary::div, [](double a, double b) { return a / b; }}};
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
