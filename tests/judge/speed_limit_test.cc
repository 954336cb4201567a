// Times below which a device cannot have done the work.
#include "harness/measure/judge/speed_limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kbench::judge {
namespace {

using ::testing::HasSubstr;

const Roofline kDevice = {4e12, 60e12};  // 4 TB/s, 60 TFLOP/s

TEST(SpeedLimit, IsAQuarterAboveTheCopysRateBeyondWhatCachesHold) {
  const LeastWork work = {8e9, 2e9, 0};
  EXPECT_DOUBLE_EQ(speed_limit(work, kDevice, DType::f32, 0).least_ms(), 1e3 * 10e9 / 5e12);
  EXPECT_DOUBLE_EQ(speed_limit(work, kDevice, DType::f32, 5'000'000'000).least_ms(), 1.0);
  EXPECT_EQ(speed_limit(work, kDevice, DType::f32, 20'000'000'000).least_ms(), 0);
}

TEST(SpeedLimit, OfProductsIsThatOfMatrixUnits) {
  const LeastWork work = {1e6, 1e6, 96e12};
  EXPECT_DOUBLE_EQ(speed_limit(work, kDevice, DType::f32, 0).least_ms(), 100);
  EXPECT_DOUBLE_EQ(speed_limit(work, kDevice, DType::f16, 0).least_ms(), 50);
}

TEST(SpeedLimit, IsZeroWhereTheDeviceWasNotMeasured) {
  EXPECT_EQ(speed_limit({8e9, 2e9, 1e12}, {}, DType::f32, 0).least_ms(), 0);
}

TEST(SpeedLimit, WhatIsBelowItIsImpossibleAndTheNumbersAreSaid) {
  const LeastWork work = {8e9, 2e9, 0};
  const SpeedLimit limit = speed_limit(work, kDevice, DType::f32, 0);
  EXPECT_FALSE(too_fast(2.0, work, limit));
  EXPECT_FALSE(too_fast(2.1, work, limit));
  const auto why = too_fast(1.5, work, limit);
  ASSERT_TRUE(why);
  EXPECT_THAT(*why, HasSubstr("took at most 1.5 ms; 10 GB that it has to read and write take this "
                              "device 2 ms"));
  const LeastWork product = {1e6, 1e6, 96e12};
  EXPECT_THAT(*too_fast(9, product, speed_limit(product, kDevice, DType::f32, 0)),
              HasSubstr("96000 GFLOP that it has to compute take this device 100 ms"));
}

}  // namespace
}  // namespace kbench::judge
