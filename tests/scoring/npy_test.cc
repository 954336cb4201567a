#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "kbench/error.h"
#include "kbench/golden.h"
#include "tests/error_of.h"

namespace kbench {
namespace {

class Npy : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const {
    return ::testing::TempDir() + "kbench_" + name;
  }

  std::string write_bytes(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

  static std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// The message with which a file of these bytes is refused.
  std::string refusal(const std::string& bytes) const {
    const std::string file = write_bytes("bad.npy", bytes);
    try {
      read_npy(file);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kParse);
      EXPECT_EQ(e.location().file, file);
      return e.what();
    }
    return "";
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
      const Tensor back = read_npy(file);
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

TEST_F(Npy, RefusesWhatItCannotRead) {
  const auto with_header = [](std::string header, const std::string& data) {
    header += '\n';
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header +
           data;
  };
  const std::string f4 = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  EXPECT_EQ(refusal(with_header(f4, "12345678")), "") << "the form itself is right";
  EXPECT_NE(refusal("PK").find("version 1.0"), std::string::npos);
  EXPECT_NE(refusal(with_header(f4, "1234567")).find("does not take 7 bytes"), std::string::npos);
  EXPECT_NE(refusal(with_header(f4, "123456789")).find("9 bytes"), std::string::npos);
  EXPECT_NE(refusal(with_header("{'descr': '>f4', 'fortran_order': False, 'shape': (), }", "1234"))
                .find(">f4"),
            std::string::npos);
  EXPECT_NE(
      refusal(with_header("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1), }", "1234"))
          .find("C order"),
      std::string::npos);
  EXPECT_NE(refusal(with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", ""))
                .find("shape"),
            std::string::npos);
  for (const char* shape : {"9223372036854775808", "3037000500, 3037000500",
                            "4611686018427387904, 1", "99999999999999999999999"}) {
    EXPECT_NE(refusal(with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                                      std::string(shape) + ",), }",
                                  ""))
                  .find("not a readable .npy file"),
              std::string::npos)
        << shape;
  }
  EXPECT_NE(
      refusal(with_header("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", "\x01\x02"))
          .find("boolean"),
      std::string::npos);
  EXPECT_NE(refusal(std::string("\x93NUMPY\x01\x00\xff\x00{'descr'", 18)).find("inside the header"),
            std::string::npos);
}

TEST_F(Npy, AFailedWriteLeavesTheOldFile) {
  const std::string file = path("old.npy");
  write_npy(file, counting(DType::f32, {2}));
  EXPECT_THROW(write_npy(file, Tensor(DType::f16, {2})), Error);
  EXPECT_EQ(read_npy(file).shape(), Shape{2});
}

TEST_F(Npy, NamesThePathItCannotUse) {
  const std::string nowhere = path("no_such_folder") + "/x.npy";
  for (const bool writing : {true, false}) {
    const Error e = error_of(
        [&] { writing ? write_npy(nowhere, counting(DType::f32, {2})) : void(read_npy(nowhere)); });
    EXPECT_EQ(e.code(), ErrorCode::kIo);
    EXPECT_NE(std::string(e.what()).find(nowhere), std::string::npos);
  }
  EXPECT_THROW(write_npy("/dev/full", counting(DType::f64, {100000})), Error);
  EXPECT_THROW(write_npy(path("half.npy"), Tensor(DType::f16, {2})), Error);
}

}  // namespace
}  // namespace kbench
