#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <fstream>

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

/// Takes the header, a Python dictionary, apart.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  TensorType read() {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr") {
        read_type(quoted());
      } else if (key == "fortran_order") {
        if (!accept_word("False")) fail("it is not in C order");
      } else if (key == "shape") {
        read_shape();
      } else {
        fail("unknown header field '" + std::string(key) + "'");
      }
      accept(',');
    }
    if (!has_type_ || !has_shape_) fail("its header lacks 'descr' or 'shape'");
    return type_;
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorCode::kParse, Location{path_}, "not a readable .npy file: " + why);
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept_word(std::string_view word) {
    skip_space();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  bool accept(char c) { return accept_word({&c, 1}); }
  void expect(char c) {
    if (!accept(c)) fail(std::string("its header lacks '") + c + "'");
  }
  std::string_view quoted() {
    expect('\'');
    const size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) fail("its header has an open quote");
    const std::string_view word = text_.substr(at_, end - at_);
    at_ = end + 1;
    return word;
  }
  void read_type(std::string_view text) {
    const auto* found = std::ranges::find(kDescriptions, text, &Description::text);
    if (found == std::end(kDescriptions)) {
      fail("element type '" + std::string(text) + "'; supported: <f4, <f8, <i8, |b1");
    }
    type_.dtype = found->dtype;
    has_type_ = true;
  }
  void read_shape() {
    expect('(');
    while (!accept(')')) {
      skip_space();
      int64_t extent = 0;
      const char* end = text_.data() + text_.size();
      const auto [rest, error] = std::from_chars(text_.data() + at_, end, extent);
      if (error != std::errc() || extent < 0) fail("its shape is malformed");
      at_ = static_cast<size_t>(rest - text_.data());
      type_.shape.push_back(extent);
      accept(',');
    }
    has_shape_ = true;
  }

  std::string_view text_;
  const std::string& path_;
  size_t at_ = 0;
  TensorType type_;
  bool has_type_ = false;
  bool has_shape_ = false;
};

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

Tensor read_npy(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw_io("read", path);
  const HeaderReader bad({}, path);
  char prefix[kPrefix] = {};
  file.read(prefix, kPrefix);
  if (file.bad()) throw_io("read", path);
  if (!file || std::string_view(prefix, kMagic.size()) != kMagic) {
    bad.fail("it does not begin as format version 1.0 does");
  }
  const size_t length = static_cast<unsigned char>(prefix[kPrefix - 2]) |
                        static_cast<size_t>(static_cast<unsigned char>(prefix[kPrefix - 1])) << 8;
  std::string header(length, '\0');
  file.read(header.data(), static_cast<std::streamsize>(length));
  if (!file) bad.fail("it ends inside the header");

  const TensorType type = HeaderReader(header, path).read();
  const std::streamoff begin = file.tellg();
  const std::streamoff size = file.seekg(0, std::ios::end).tellg() - begin;
  // Before allocating: a header can ask for more than the file, or the machine, has.
  int64_t expected = 0;
  try {
    expected = type.bytes();
  } catch (const Error& e) {
    bad.fail(e.message());
  }
  if (size != expected) {
    bad.fail("a " + to_string(type) + " does not take " + std::to_string(size) + " bytes");
  }
  Tensor tensor(type);
  file.seekg(begin);
  file.read(reinterpret_cast<char*>(tensor.raw()), expected);
  if (!file) throw_io("read all of", path, file.bad() ? errno : EIO);
  if (type.dtype == DType::boolean && std::any_of(tensor.raw(), tensor.raw() + expected,
                                                  [](std::byte b) { return b > std::byte{1}; })) {
    bad.fail("a boolean is neither 0 nor 1");
  }
  return tensor;
}

}  // namespace kbench
