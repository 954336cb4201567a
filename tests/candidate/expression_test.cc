#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>

#include "tests/candidate/support.h"

namespace kbench {
namespace {

using testing_support::expect_error;

const std::map<std::string, double> kNames = {
    {"height", 65}, {"width", 33}, {"TILE", 16}, {"slope", 0.25}, {"pad_0", -3}};

int64_t eval(const std::string& text) {
  return evaluate_integer({text, {"f.yaml", 7, 10}}, kNames);
}

TEST(Expression, ComputesWithIntegers) {
  const std::pair<const char*, int64_t> cases[] = {
      {"16", 16},
      {"-4", -4},
      {"+3 - -2", 5},
      {"2 + 3 * 4", 14},
      {"(2 + 3) * 4", 20},
      {"10 - 3 - 2", 5},
      {"100 / 10 / 5", 2},
      {"7 / 2", 3},
      {"-7 / 2", -4},
      {"7 / -2", -4},
      {"-7 % 3", 2},
      {"7 % -3", -2},
      {"height - width + 1", 33},
      {"ceil_div(height, TILE)", 5},
      {"ceil_div(-7, 2)", -3},
      {"align(height, TILE)", 80},
      {"pow2(65)", 128},
      {"pow2(64)", 64},
      {"pow2(1)", 1},
      {"log2(1)", 0},
      {"log2(64)", 6},
      {"log2(65)", 6},
      {"log2(9007199254740991)", 52},
      {"ceil_log2(1)", 0},
      {"ceil_log2(64)", 6},
      {"ceil_log2(65)", 7},
      {"sqrt(49)", 7},
      {"sqrt(0)", 0},
      {"pad[0] * -2", 6},
      {"height - pad[0]", 68},
      {"min(height, width) + max(height, width)", 98},
      {"(height > width) * 5 + (height <= width)", 5},
      {"(3 == 3) + (3 != 3) + (3 >= 4) + (3 < 4)", 2},
      {"pad_0*pad_0", 9},
      {"9007199254740991", 9007199254740991},
      {"9007199254740991 / 2 * 2", 9007199254740990},
      {"1e3", 1000},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(eval(text), expected) << text;
  }
}

TEST(Expression, SaysWhereItIsWrong) {
  expect_error([] { eval("height + widht"); }, 7, 19, "unknown name 'widht'");
  expect_error([] { eval("heigth"); }, 7, 10, "did you mean 'height'?");
  expect_error([] { eval("1 / 0"); }, 7, 10, "divides by zero");
  expect_error([] { eval("height % (width - 33)"); }, 7, 10, "divides by zero");
  expect_error([] { eval("ceil_div(1, 0)"); }, 7, 10, "divides by zero");
  expect_error([] { eval("0.5"); }, 7, 10, "must be an integer, but is 0.5");
  expect_error([] { eval("slope * 2"); }, 7, 10, "is not an integer");
  expect_error([] { eval("pow2(0)"); }, 7, 10, "pow2");
  expect_error([] { eval("log2(0)"); }, 7, 10, "log2 of a number below 1");
  expect_error([] { eval("log2(slope)"); }, 7, 10, "is not an integer");
  expect_error([] { eval("ceil_log2(-4)"); }, 7, 10, "ceil_log2 of a number below 1");
  expect_error([] { eval("sqrt(2)"); }, 7, 10, "is not an integer");
  expect_error([] { eval("sqrt(-4)"); }, 7, 10, "sqrt of a negative number");
  expect_error([] { eval("ceil_div(height"); }, 7, 10, "quote it, as in \"ceil_div(a, b)\"");
  expect_error([] { eval("64)"); }, 7, 10, "quote it, as in \"ceil_div(a, b)\"");
  expect_error([] { eval("9007199254740992"); }, 7, 10, "must be an integer");
  expect_error([] { eval("4294967296 * 4294967296"); }, 7, 10, "2^53");
  expect_error([] { eval("9007199254740991 + 1 - 1"); }, 7, 10, "2^53");
  expect_error([] { eval(""); }, 7, 10, "empty");
  expect_error([] { eval("  "); }, 7, 10, "empty");
  expect_error([] { eval("1; 2"); }, 7, 11, "';' cannot stand in an expression");
  expect_error([] { eval("a ? 1 : 2"); }, 7, 12, "'?' cannot stand");
  expect_error([] { eval(std::string(2000, '1')); }, 7, 10, "longer than");
  for (const char* text :
       {"1 +", "* 2", "(1", "1)", "1 2", "min(1)", "min(1, 2, 3)", "1, 2", "a = 3", "height(2)",
        "1 =< 2", "0x10", "1..2", "()", "min", "2 ** 3", "1 && 1"}) {
    EXPECT_THROW(eval(text), Error) << text;
  }
}

TEST(Expression, RealsDivideAsReals) {
  const auto real = [](const std::string& text) { return evaluate_real({text, {}}, kNames); };
  EXPECT_EQ(real("1.0 / 4"), 0.25);
  EXPECT_EQ(real("slope * 3"), 0.75);
  EXPECT_EQ(real("1e-05"), 1e-05);
  EXPECT_EQ(real("5.5 % 2"), 1.5);
  EXPECT_EQ(real("log2(slope)"), -2);
  EXPECT_EQ(real("1 / sqrt(slope)"), 2);
  EXPECT_EQ(real("log2(8) / 2"), 1.5);
  EXPECT_THROW(real("log2(slope - 0.25)"), Error);
  EXPECT_THROW(real("sqrt(0 - slope)"), Error);
  EXPECT_THROW(real("1 / (slope - 0.25)"), Error);
  EXPECT_THROW(real("1e308 * 10"), Error);
}

TEST(Expression, NamesListsByElement) {
  const Variables variables = {
      {"n", int64_t{4}}, {"alpha", 0.5}, {"bias_shape", std::vector<int64_t>{16, 1, 1}}};
  const std::map<std::string, double> expected = {
      {"n", 4}, {"alpha", 0.5}, {"bias_shape_0", 16}, {"bias_shape_1", 1}, {"bias_shape_2", 1}};
  EXPECT_EQ(expression_names(variables), expected);
}

/// A random expression with its value by C++ integers, or nothing where it divides by zero or
/// leaves the exact range.
struct Sample {
  std::string text;
  std::optional<__int128> value;
};

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  Sample make(int depth) {
    if (depth == 0 || pick(5) == 0) {
      if (pick(2) == 0) {
        const auto& [name, value] =
            *std::next(names_.begin(), pick(static_cast<int>(names_.size())));
        return {name, static_cast<__int128>(value)};
      }
      const int64_t value = pick(3) == 0 ? pick(3) : pick(1 << 20);
      return {std::to_string(value), value};
    }
    if (pick(8) == 0) {
      const Sample inner = make(depth - 1);
      Sample result{"(-" + wrapped(inner) + ")", inner.value};
      if (result.value) result.value = -*result.value;
      return result;
    }
    return binary(make(depth - 1), make(depth - 1));
  }

  const std::map<std::string, double>& names() const { return names_; }

 private:
  static std::string wrapped(const Sample& s) { return "(" + s.text + ")"; }

  static __int128 floor_div(__int128 a, __int128 b) {
    const __int128 quotient = a / b;
    return quotient - ((a % b != 0) && ((a < 0) != (b < 0)) ? 1 : 0);
  }

  Sample binary(const Sample& a, const Sample& b) {
    static const char* const kOperators[] = {"+", "-", "*", "/", "%", "<", "==", ">="};
    static const char* const kFunctions[] = {"min", "max", "ceil_div", "align"};
    const int which = pick(12);
    const std::string text =
        which < 8 ? wrapped(a) + " " + kOperators[which] + " " + wrapped(b)
                  : std::string(kFunctions[which - 8]) + "(" + a.text + ", " + b.text + ")";
    if (!a.value || !b.value) return {text, std::nullopt};
    return {text, exact(which, *a.value, *b.value)};
  }

  static std::optional<__int128> exact(int which, __int128 x, __int128 y) {
    const bool divides = which == 3 || which == 4 || which == 10 || which == 11;
    if (divides && y == 0) return std::nullopt;
    const __int128 down = y == 0 ? 0 : floor_div(x, y), up = y == 0 ? 0 : -floor_div(-x, y);
    const __int128 results[] = {x + y,          x - y,          x * y,  down,
                                x - down * y,   x < y,          x == y, x >= y,
                                std::min(x, y), std::max(x, y), up,     up * y};
    const __int128 result = results[which];
    const __int128 limit = __int128{1} << 53;
    if (result >= limit || result <= -limit) return std::nullopt;
    return result;
  }

  int pick(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  std::mt19937 random_;
  std::map<std::string, double> names_ = {{"batch_size", 16}, {"height", 4095}, {"x_0", -7}};
};

TEST(Expression, AgreesWithCppIntegersOnRandomExpressions) {
  Generator generator(20240517);
  int valued = 0, refused = 0;
  for (int i = 0; i < 3000; ++i) {
    const Sample sample = generator.make(4);
    if (sample.text.size() > 1000) continue;
    if (sample.value) {
      ++valued;
      ASSERT_EQ(evaluate_integer({sample.text, {}}, generator.names()),
                static_cast<int64_t>(*sample.value))
          << sample.text;
    } else {
      ++refused;
      ASSERT_THROW(evaluate_integer({sample.text, {}}, generator.names()), Error) << sample.text;
    }
  }
  EXPECT_GT(valued, 1000);
  EXPECT_GT(refused, 100);
}

TEST(Expression, HugeAndMissingNumbersAreErrorsAtThePlace) {
  const std::string most = "9007199254740991";
  for (const std::string& text :
       {most + " + 1", most + " * " + most, "0 - " + most + " - 2", "align(" + most + ", 1000)",
        "pow2(" + most + ")", most + " * " + most + " - " + most + " * " + most}) {
    expect_error([&] { eval(text); }, 7, 10, "is not an integer below 2^53");
  }
  for (const char* text : {"1 / 0", "1 % (2 - 2)", "ceil_div(1, 0)", "align(4, 0)"}) {
    expect_error([&] { eval(text); }, 7, 10, "divides by zero");
  }
  EXPECT_EQ(eval("-" + most + " / -1"), 9007199254740991);
  expect_error([] { eval("1e999"); }, 7, 10, "holds a number that is out of range");
  expect_error([] { eval("1e300"); }, 7, 10, "must be an integer, but is 1e+300");
  const auto real = [](const std::string& text) {
    return evaluate_real({text, {"f.yaml", 7, 10}},
                         {{"nan", std::nan("")}, {"inf", std::numeric_limits<double>::infinity()}});
  };
  expect_error([&] { real("1e308 * 1e308"); }, 7, 10, "is not finite");
  expect_error([&] { real("1.5 / 0"); }, 7, 10, "divides by zero");
  for (const char* text : {"nan", "inf", "-inf", "max(nan, 1)", "inf - inf"}) {
    expect_error([&] { real(text); }, 7, 10, "is not finite");
  }
}

TEST(Expression, NestsOnlySoDeep) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '(') + "1" + std::string(depth, ')');
  };
  EXPECT_EQ(eval(nested(64)), 1);
  expect_error([&] { eval(nested(65)); }, 7, 74, "more than 64 parentheses stand in each other");
  EXPECT_THROW(eval(std::string(1000, '-')), Error);
  EXPECT_THROW(eval(std::string(999, '-') + "1"), Error);
  EXPECT_THROW(eval(std::string(1000, ')')), Error);
}

}  // namespace
}  // namespace kbench
