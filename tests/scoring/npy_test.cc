#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "kbench/error.h"
#include "kbench/golden.h"
#include "tests/error_of.h"
#include "tests/read_npy.h"

namespace kbench {
namespace {

class Npy : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const {
    return ::testing::TempDir() + "kbench_" + name;
  }

  static std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

Tensor counting(DType dtype, Shape shape) {
  Tensor tensor(DType::i64, std::move(shape));
  int64_t next = 0;
  for (int64_t& value : tensor.data<int64_t>()) value = next++;
  return tensor.converted(dtype);
}

TEST_F(Npy, ReadsBackEveryTypeAndRank) {
  for (DType dtype : {DType::f32, DType::f64, DType::i64, DType::u8, DType::boolean}) {
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{0}, Shape{3, 4}, Shape{2, 1, 3, 2}}) {
      const Tensor tensor = counting(dtype, shape);
      const std::string file = path("tensor.npy");
      write_npy(file, tensor);
      const Tensor back = test::read_npy(file);
      ASSERT_EQ(back.type(), tensor.type());
      EXPECT_EQ(std::memcmp(back.raw(), tensor.raw(), static_cast<size_t>(tensor.bytes())), 0);
    }
  }
}

TEST_F(Npy, WritesTheFormatByteForByte) {
  Tensor tensor(DType::f32, {3});
  const float values[] = {1, -2, 0.5f};
  std::memcpy(tensor.raw(), values, sizeof values);
  const std::string file = path("three.npy");
  write_npy(file, tensor);
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
  header.resize(117, ' ');
  std::string expected("\x93NUMPY\x01\x00\x76\x00", 10);
  expected.append(header).append("\n");
  expected.append("\0\0\x80\x3f\0\0\0\xc0\0\0\0\x3f", 12);
  EXPECT_EQ(bytes_of(file), expected);
}

TEST_F(Npy, AFailedWriteLeavesTheOldFile) {
  const std::string file = path("old.npy");
  write_npy(file, counting(DType::f32, {2}));
  EXPECT_THROW(write_npy(file, Tensor(DType::f16, {2})), Error);
  EXPECT_EQ(test::read_npy(file).shape(), Shape{2});
}

TEST_F(Npy, NamesThePathItCannotUse) {
  const std::string nowhere = path("no_such_folder") + "/x.npy";
  const Error e = error_of([&] { write_npy(nowhere, counting(DType::f32, {2})); });
  EXPECT_EQ(e.code(), ErrorCode::kIo);
  EXPECT_NE(std::string(e.what()).find(nowhere), std::string::npos);
  EXPECT_THROW(write_npy("/dev/full", counting(DType::f64, {100000})), Error);
  EXPECT_THROW(write_npy(path("half.npy"), Tensor(DType::f16, {2})), Error);
}

}  // namespace
}  // namespace kbench
