// Errors that were put in are named; errors without a pattern are not given one.
#include "harness/evaluate/diagnose/error_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "kbench/random.h"

namespace kbench::diagnose {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A right output of drawn values.
Compared right(const Shape& shape) {
  const Tensor drawn = draw(normal(), {11, 1, "x"}, {DType::f32, shape});
  Compared compared;
  compared.shape = shape;
  for (int64_t i = 0; i < drawn.elements(); ++i) compared.expected.push_back(drawn.at(i));
  compared.got = compared.expected;
  return compared;
}

using Spoil = std::function<double(int64_t i, const std::vector<double>& right)>;

std::string pattern(const Shape& shape, const Spoil& spoil) {
  Compared compared = right(shape);
  for (size_t i = 0; i < compared.got.size(); ++i) {
    compared.got[i] = spoil(static_cast<int64_t>(i), compared.expected);
  }
  return error_pattern(compared);
}

double at(const std::vector<double>& values, int64_t i) { return values[static_cast<size_t>(i)]; }

TEST(ErrorPattern, OfARightOutputIsNone) {
  EXPECT_EQ(error_pattern(right({8, 9})), "");
  EXPECT_EQ(pattern({8, 9}, [](int64_t i, const auto& r) { return at(r, i) * (1 + 1e-6); }), "");
}

TEST(ErrorPattern, NamesTails) {
  EXPECT_THAT(
      pattern({20, 67}, [](int64_t i, const auto& r) { return i % 67 >= 64 ? 0.0 : at(r, i); }),
      HasSubstr("wrong only in the last 3 of 67 along axis 1 (all 60 elements there): they "
                "hold 0 at each of them"));
  EXPECT_THAT(
      pattern({65, 10},
              [](int64_t i, const auto& r) { return i / 10 == 64 ? 2 * at(r, i) : at(r, i); }),
      HasSubstr("index 64 of 65 along axis 0 (all 10 elements there): they hold the right "
                "value times 2"));
  EXPECT_THAT(pattern({33, 35},
                      [](int64_t i, const auto& r) {
                        return i / 35 >= 32 || i % 35 >= 32 ? at(r, i) + 1 : at(r, i);
                      }),
              HasSubstr("index 32 of 33 along axis 0, and the last 3 of 35 along axis 1"));
  EXPECT_THAT(pattern({4, 7, 11}, [](int64_t i, const auto& r) { return i >= 256 ? 0 : at(r, i); }),
              HasSubstr("the last 52 of 308 along the flat index"));
}

TEST(ErrorPattern, NamesResidues) {
  EXPECT_THAT(
      pattern({10, 40}, [](int64_t i, const auto& r) { return i % 40 % 8 == 5 ? 9 : at(r, i); }),
      HasSubstr("where the index along axis 1 % 8 is 5"));
  EXPECT_THAT(
      pattern({10, 40}, [](int64_t i, const auto& r) { return i % 40 % 16 >= 12 ? 9 : at(r, i); }),
      HasSubstr("% 16 is 12 to 15"));
  EXPECT_THAT(pattern({9, 37}, [](int64_t i, const auto& r) { return i % 4 == 3 ? 9 : at(r, i); }),
              HasSubstr("where the flat index % 4 is 3"));
  EXPECT_THAT(pattern({24, 8}, [](int64_t i, const auto& r) { return i / 8 % 2 ? 9 : at(r, i); }),
              HasSubstr("where the index along axis 0 % 2 is 1"));
}

TEST(ErrorPattern, NamesTrianglesAndValues) {
  EXPECT_THAT(
      pattern({20, 20}, [](int64_t i, const auto& r) { return i % 20 > i / 20 ? 0 : at(r, i); }),
      HasSubstr("above the diagonal"));
  EXPECT_THAT(
      pattern({20, 20}, [](int64_t i, const auto& r) { return at(r, i) < 0 ? 0 : at(r, i); }),
      HasSubstr("where the right value is negative"));
}

TEST(ErrorPattern, NamesFactorsAndOffsets) {
  const Shape shape = {6, 5, 7};
  EXPECT_THAT(pattern(shape, [](int64_t i, const auto& r) { return -at(r, i); }),
              HasSubstr("every element is wrong: they hold the right value times -1"));
  EXPECT_THAT(pattern(shape, [](int64_t i, const auto& r) { return at(r, i) + 0.25; }),
              HasSubstr("the right value plus 0.25"));
  EXPECT_THAT(pattern(shape, [](int64_t i, const auto& r) { return 3 * at(r, i) - 1; }),
              HasSubstr("the right value times 3 plus -1"));
}

TEST(ErrorPattern, NamesWhatWasMoved) {
  EXPECT_THAT(pattern({6, 9}, [](int64_t i, const auto& r) { return at(r, i % 6 * 9 + i / 6); }),
              HasSubstr("the right values transposed (axes 0 and 1)"));
  EXPECT_THAT(
      pattern({5, 8, 8},
              [](int64_t i, const auto& r) { return at(r, i / 64 * 64 + i % 8 * 8 + i / 8 % 8); }),
      HasSubstr("the right values transposed (axes 1 and 2)"));
  EXPECT_THAT(
      pattern({4, 30}, [](int64_t i, const auto& r) { return i % 30 == 29 ? 5 : at(r, i + 1); }),
      HasSubstr("the right value of the element 1 further on along axis 1"));
  EXPECT_THAT(pattern({30, 4}, [](int64_t i, const auto& r) { return i < 8 ? 0 : at(r, i - 8); }),
              HasSubstr("the right value of the element 2 before along axis 0"));
  EXPECT_THAT(
      pattern({4, 30}, [](int64_t i, const auto& r) { return at(r, i / 30 * 30 + 29 - i % 30); }),
      HasSubstr("in reverse order along axis 1"));
  EXPECT_THAT(pattern({4, 30}, [](int64_t i, const auto& r) { return at(r, i % 30); }),
              HasSubstr("wrong only in the last 3 of 4 along axis 0"));
  EXPECT_THAT(pattern({4, 30}, [](int64_t i, const auto& r) { return at(r, i * 7 % 120); }),
              HasSubstr("the right values, in other places"));
}

TEST(ErrorPattern, NamesWhatWasNotWrittenAndWhatChanges) {
  Compared compared = right({4, 32});
  compared.written.assign(128, 1);
  for (size_t i = 96; i < 128; ++i) compared.written[i] = 0, compared.got[i] = 1e3 + double(i);
  EXPECT_EQ(error_pattern(compared),
            "never written: index 3 of 4 along axis 0 (all 32 elements there)");
  compared.got[5] = 7;
  EXPECT_THAT(error_pattern(compared), HasSubstr("1 of 128 elements are wrong"));

  Compared racy = right({4, 32});
  racy.again = racy.got;
  for (size_t i = 0; i < 128; i += 3) racy.got[i] += 1, racy.again[i] -= 1;
  EXPECT_THAT(error_pattern(racy), StartsWith("not the same in two runs on the same inputs, in 43 "
                                              "of 128 elements"));
}

TEST(ErrorPattern, OfNaNIsTold) {
  EXPECT_THAT(
      pattern({8, 32}, [](int64_t i, const auto& r) { return i / 32 == 2 ? NAN : at(r, i); }),
      HasSubstr("index 2 of 8 along axis 0 (all 32 elements there): they hold 32 NaN and 0 "
                "infinite values"));
}

TEST(ErrorPattern, ANaNThatComesAgainIsNoDifference) {
  Compared compared = right({400});
  compared.got[7] = NAN;
  compared.again = compared.got;
  EXPECT_THAT(error_pattern(compared), Not(HasSubstr("not the same in two runs")));
  compared.again[7] = 1;
  EXPECT_THAT(error_pattern(compared), HasSubstr("not the same in two runs"));
}

TEST(ErrorPattern, OfScatteredErrorsIsNoPattern) {
  const Tensor where = draw(uniform(0, 1), {5, 2, "w"}, {DType::f32, {40, 40}});
  const std::string text = pattern({40, 40}, [&](int64_t i, const auto& r) {
    return where.at(i) < 0.3 ? at(r, i) + where.at(i) + 1 : at(r, i);
  });
  EXPECT_THAT(text, HasSubstr("in no simple pattern of places"));
  EXPECT_THAT(text, Not(HasSubstr("they hold")));
  // So few that they lie in some set or other by chance.
  EXPECT_THAT(pattern({40, 40}, [](int64_t i, const auto& r) { return i == 77 ? 9 : at(r, i); }),
              HasSubstr("1 of 1600 elements are wrong"));
}

}  // namespace
}  // namespace kbench::diagnose
