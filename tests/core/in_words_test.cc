// Sizes and constants in words.
#include "libkbench/core/in_words.h"

#include <gtest/gtest.h>

#include <limits>

namespace kbench {
namespace {

const Task kSample = {{1, 1},  "Sample", "test", {{"rows", int64_t{3}, int64_t{5}, int64_t{9}}},
                      nullptr, {}};

TEST(InWords, ThePresetIsNamedAndWhatIsSetOtherwise) {
  EXPECT_EQ(sizes_of(kSample, {{"rows", int64_t{3}}}), "preset smoke");
  EXPECT_EQ(sizes_of(kSample, {{"rows", int64_t{9}}}), "preset v0.1");
  EXPECT_EQ(sizes_of(kSample, {{"rows", int64_t{4}}}), "preset v0.1 with rows=4");
  EXPECT_EQ(sizes_of(kSample, {{"rows", int64_t{9}}}, "smoke"), "preset smoke with rows=9");
}

TEST(InWords, ConstantsAreSummedUp) {
  const auto contents = [](const Shape& shape, const std::vector<float>& values) {
    Tensor tensor(DType::f32, shape);
    std::copy(values.begin(), values.end(), tensor.data<float>().begin());
    return contents_of(tensor);
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(contents({2, 2}, {0, -kInfinity, 0, 0}), "0 on and below the diagonal, -inf above");
  EXPECT_EQ(contents({2, 2}, {1, 0, 0, 0}), "0 at 3 places, 1 at 1 place");
  EXPECT_EQ(contents({4}, {1, 0, 0, 0}), "0 at 3 places, 1 at 1 place");
  EXPECT_EQ(contents({2, 2}, {7, 7, 7, 7}), "7 at 4 places");
  EXPECT_EQ(contents({5}, {3, -2, 0.5, 1, 0}), "values from -2 to 3");
}

}  // namespace
}  // namespace kbench
