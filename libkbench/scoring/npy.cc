#include <algorithm>
#include <bit>

#include "kbench/error.h"
#include "kbench/golden.h"
#include "libkbench/base/files.h"

static_assert(std::endian::native == std::endian::little, ".npy files are written as memory holds");

namespace kbench {
namespace {

constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);
constexpr size_t kPrefix = kMagic.size() + 2;  // then the header's length, 16 bits
constexpr size_t kAlignment = 64;

struct Description {
  DType dtype;
  std::string_view text;
};
constexpr Description kDescriptions[] = {{DType::f32, "<f4"},
                                         {DType::f64, "<f8"},
                                         {DType::i64, "<i8"},
                                         {DType::u8, "|u1"},
                                         {DType::boolean, "|b1"}};

std::string header_of(const TensorType& type) {
  const auto* found = std::ranges::find(kDescriptions, type.dtype, &Description::dtype);
  if (found == std::end(kDescriptions)) {
    throw Error(ErrorCode::kUnsupported, ".npy files hold f32, f64, i64, u8 or bool, not " +
                                             std::string(name_of(type.dtype)));
  }
  std::string shape;
  for (int64_t extent : type.shape) shape += std::to_string(extent) + ", ";
  if (type.shape.size() > 1) shape.resize(shape.size() - 2);
  if (type.shape.size() == 1) shape.pop_back();  // a tuple of one ends in a comma
  std::string header = "{'descr': '" + std::string(found->text) +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  const size_t used = kPrefix + header.size() + 1;
  header.append((kAlignment - used % kAlignment) % kAlignment, ' ');
  return header + '\n';
}

}  // namespace

void write_npy(const std::string& path, const Tensor& tensor) {
  const std::string header = header_of(tensor.type());
  std::string prefix(kMagic);
  prefix += static_cast<char>(header.size() & 0xff);
  prefix += static_cast<char>(header.size() >> 8);
  NewFile file(path);
  file.write(prefix + header);
  file.write({reinterpret_cast<const char*>(tensor.raw()), static_cast<size_t>(tensor.bytes())});
  file.commit();
}

}  // namespace kbench
