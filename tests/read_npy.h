// The tensors of NumPy files, as kbench, NumPy and PyTorch write them.
#pragma once

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>

#include "kbench/tensor.h"

namespace kbench::test {

/// Throws where it is another file, or not as long as its header says.
inline Tensor read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  constexpr size_t kPrefix = 10;
  if (!bytes.starts_with("\x93NUMPY\x01")) throw std::runtime_error(path + " is no .npy file");
  const size_t length = static_cast<unsigned char>(bytes[8]) |
                        static_cast<size_t>(static_cast<unsigned char>(bytes[9])) << 8;
  const std::string header = bytes.substr(kPrefix, length), data = bytes.substr(kPrefix + length);
  const auto says = [&](const char* word) { return header.find(word) != std::string::npos; };
  if (!says("'fortran_order': False")) throw std::runtime_error(path + " is not in C order");
  const DType dtype = says("'<f4'")   ? DType::f32
                      : says("'<f8'") ? DType::f64
                      : says("'<i8'") ? DType::i64
                      : says("'|u1'") ? DType::u8
                                      : DType::boolean;
  std::string extents = header.substr(header.find('(') + 1);
  extents.resize(extents.find(')'));
  std::ranges::replace(extents, ',', ' ');
  Shape shape;
  std::istringstream numbers(extents);
  for (int64_t extent = 0; numbers >> extent;) shape.push_back(extent);
  Tensor tensor(dtype, shape);
  if (data.size() != static_cast<size_t>(tensor.bytes())) {
    throw std::runtime_error(path + " is not of " + to_string(tensor.type()));
  }
  std::memcpy(tensor.raw(), data.data(), data.size());
  return tensor;
}

}  // namespace kbench::test
