#include "kbench/tensor.h"

#include <gtest/gtest.h>

#include "kbench/error.h"

namespace kbench {
namespace {

TEST(Shape, CountsAndRefusesOverflow) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({3, 5, 7}), 105);
  EXPECT_EQ(element_count({3, 0, 7}), 0);
  EXPECT_THROW(element_count({int64_t{1} << 40, int64_t{1} << 40}), Error);
  EXPECT_THROW(element_count({3, -1}), Error);
  EXPECT_EQ(strides_of({3, 5, 7}), (std::vector<int64_t>{35, 7, 1}));
}

TEST(DType, NamesRoundTrip) {
  for (DType dtype : {DType::f32, DType::f64, DType::i64, DType::boolean, DType::f16, DType::bf16,
                      DType::i32, DType::u32, DType::u8}) {
    EXPECT_EQ(dtype_from_name(name_of(dtype)), dtype);
  }
  EXPECT_THROW(dtype_from_name("float"), Error);
}

TEST(Tensor, ViewsShareAndClonesDoNot) {
  Tensor t(DType::f32, {2, 3});
  for (int i = 0; i < 6; ++i) t.data<float>()[i] = static_cast<float>(i);
  Tensor view = t.reshaped({3, 2}), copy = t.clone();
  t.data<float>()[4] = 40;
  EXPECT_EQ(view.at(4), 40);
  EXPECT_EQ(copy.at(4), 4);
  EXPECT_THROW(t.reshaped({4, 2}), Error);
}

TEST(Tensor, AccessIsTyped) {
  const Tensor t(DType::i64, {2});
  EXPECT_THROW(t.data<float>(), Error);
  EXPECT_THROW(t.at(2), Error);
  EXPECT_THROW(Tensor(DType::f16, {1}).data<float>(), Error);
}

TEST(Tensor, ConvertsElements) {
  Tensor t(DType::i64, {3});
  t.data<int64_t>()[0] = -2;
  t.data<int64_t>()[1] = 0;
  t.data<int64_t>()[2] = 5;
  const Tensor f = t.converted(DType::f64), b = t.converted(DType::boolean);
  EXPECT_EQ(f.at(0), -2.0);
  EXPECT_EQ(b.at(1), 0);
  EXPECT_EQ(b.at(2), 1);
  const Tensor i = t.converted(DType::i32), byte = t.converted(DType::u8);
  EXPECT_EQ(i.at(0), -2);
  EXPECT_EQ(i.bytes(), 12);
  EXPECT_EQ(byte.data<uint8_t>()[2], 5);
  EXPECT_EQ(byte.bytes(), 3);
  EXPECT_EQ(i.converted(DType::u32).at(0), 4294967294.0);
}

}  // namespace
}  // namespace kbench
