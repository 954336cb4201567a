// What the table of operators (tests/operators) does not show of the reference: every value of a
// format, the ends of a type, indices outside, long sums, and where a row lies.

#include "kbench/error.h"
#include "reference/call.h"
#include "reference/ops/convolution.h"
#include "tests/error_of.h"
#include "tests/operators/formats.h"
#include "tests/reference/calls.h"

namespace kbench::reference {
namespace {

TEST(Registry, EveryOperatorThatIsNoViewHasAnImplementation) {
  for (const Operator* op : operators()) {
    if (op->is_view) continue;
    EXPECT_EQ(find_implementation(op->name).name, op->name);
  }
  const Error error = error_of([] { find_implementation("no_such_operator"); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_NE(error.message().find("no_such_operator"), std::string::npos);
}

template <class T>
class OperatorsOf : public ::testing::Test {
 protected:
  static Tensor row(const std::vector<T>& x) {
    return tensor_of<T>({static_cast<int64_t>(x.size())}, x);
  }
  static std::vector<T> run(const std::string& op, const std::vector<T>& x, Attributes a = {}) {
    return values_of<T>(run_call<T>(op, {row(x)}, std::move(a))[0]);
  }
};
TYPED_TEST_SUITE(OperatorsOf, RealTypes);

/// Every value of the formats, of both signs, and what lies between.
TYPED_TEST(OperatorsOf, RoundToIsCorrectlyRounded) {
  using T = TypeParam;
  for (const definitions::Format& format : definitions::formats()) {
    const auto roundings = definitions::roundings(format);
    std::vector<T> x = {std::numeric_limits<T>::quiet_NaN()};
    for (const auto& each : roundings) x.insert(x.end(), {T(each.from), -T(each.from)});
    const auto y = TestFixture::run("round_to", x, {{"format", format.name}});
    EXPECT_TRUE(std::isnan(y[0]));
    for (size_t i = 1; i < x.size(); ++i) {
      const float to = roundings[(i - 1) / 2].to;
      ASSERT_EQ(y[i], T(i % 2 == 1 ? to : -to)) << x[i] << " to " << format.name;
      ASSERT_EQ(std::signbit(y[i]), i % 2 == 0) << x[i] << " to " << format.name;
    }
  }
}

TYPED_TEST(OperatorsOf, ActivationsOfTheSmallestNumbersKeepThem) {
  using T = TypeParam;
  const auto at = [](const char* op, T x, Attributes a = {}) {
    return TestFixture::run(op, {x}, std::move(a))[0];
  };
  const T subnormal = std::numeric_limits<T>::min() / 1024;
  EXPECT_NEAR(at("log", subnormal), std::log(subnormal), 1e-4);
  EXPECT_NEAR(at("exp", std::log(subnormal)) / subnormal, 1, 0.02);
  // Differences from 0 that 1 + x would round away.
  const T tiny = std::numeric_limits<T>::epsilon() / 8;
  EXPECT_NEAR(at("elu", -tiny, {{"alpha", 1.0}}), -tiny, tiny / 8);
  EXPECT_NEAR(at("softplus", std::log(tiny)) / tiny, 1, 1e-4);
}

TYPED_TEST(OperatorsOf, IndicesOutsideAreRefused) {
  using T = TypeParam;
  const Tensor x = tensor_of<T>({2, 3}, std::vector<T>(6));
  for (const int64_t beyond : {3, -1}) {
    const std::vector<int64_t> index = {0, beyond};
    const Tensor indices = tensor_of<int64_t>({2}, index);
    EXPECT_THROW(run_call<T>("cross_entropy", {x, indices}), Error);
    EXPECT_THROW(run_call<T>("index_rows", {x, indices}), Error);
    EXPECT_THROW(run_call<T>("gather", {tensor_of<T>({2}, std::vector<T>(2)), indices}), Error);
  }
}

TYPED_TEST(OperatorsOf, SumOfSixteenMillionIsAccurate) {
  using T = TypeParam;
  const T y = TestFixture::run("sum", std::vector<T>(1 << 24, T(0.1)), {{"axis", int64_t{0}}})[0];
  // The accumulator is double for both: its 2^24 / 64 additions of one sign may drift by as much.
  EXPECT_NEAR(y / (static_cast<double>(T(0.1)) * (1 << 24)), 1,
              std::max<double>(2 * std::numeric_limits<T>::epsilon(), 6e-11));
}

/// What is computed from equal rows is equal, though they begin at every distance from an aligned
/// address.
TYPED_TEST(OperatorsOf, AddressesDoNotChangeARowsBits) {
  using T = TypeParam;
  constexpr int64_t kRows = 9, kExtent = 1501;
  const auto row = random_array<T>(kExtent);
  std::vector<T> x;
  for (int64_t i = 0; i < kRows; ++i) x.insert(x.end(), row.begin(), row.end());
  const auto expect_same_rows = [&](const std::string& op, const Attributes& attributes) {
    const Tensor y = run_call<T>(op, {tensor_of<T>({kRows, kExtent}, x)}, attributes)[0];
    const int64_t bytes = y.bytes() / kRows;
    for (int64_t i = 1; i < kRows; ++i) {
      EXPECT_EQ(std::memcmp(y.raw(), y.raw() + i * bytes, static_cast<size_t>(bytes)), 0) << op;
    }
  };
  for (const char* op : {"exp", "gelu", "log", "mish", "selu", "sigmoid", "softplus", "sqrt",
                         "tanh", "layer_norm"}) {
    expect_same_rows(op, {});
  }
  for (const char* op : {"sum", "mean", "norm", "max", "logsumexp", "softmax", "log_softmax"}) {
    expect_same_rows(op, {{"axis", int64_t{1}}});
  }
}

TEST(Convolution, OfChannelsByThemselvesIsDepthwise) {
  ConvExtents extents = {.channels = 21, .out_channels = 21, .groups = 21, .kernel = {1, 3, 3}};
  EXPECT_TRUE(is_depthwise(extents));
  extents.groups = 3;
  EXPECT_FALSE(is_depthwise(extents));
}

TEST(Inside, AgreesWithTryingEveryOutput) {
  for (int64_t offset = -7; offset <= 7; ++offset) {
    for (int64_t stride : {1, 2, 3, 5}) {
      for (int64_t in : {1, 4, 9}) {
        for (int64_t out : {1, 3, 8}) {
          const Range range = inside(offset, stride, in, out);
          for (int64_t o = 0; o < out; ++o) {
            const int64_t at = o * stride + offset;
            EXPECT_EQ(o >= range.begin && o < range.end, at >= 0 && at < in)
                << offset << " " << stride << " " << in << " " << o;
          }
          EXPECT_LE(range.begin, range.end);
        }
      }
    }
  }
}

}  // namespace
}  // namespace kbench::reference
