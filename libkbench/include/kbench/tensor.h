// Element types, shapes and dense row-major host tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kbench {

/// Element types. Tasks have f32, f16 or bf16, i64, and boolean and u8, which are one byte; f64 is
/// the oracle's; the others are those of candidates' temporaries.
enum class DType { f32, f64, i64, boolean, f16, bf16, i32, u32, u8 };

size_t size_of(DType dtype);            ///< bytes of one element
std::string_view name_of(DType dtype);  ///< the enumerator's, "bool" for boolean
std::string_view long_name_of(
    DType dtype);  ///< "float32", "float16", "bfloat16", else as name_of()
DType dtype_from_name(std::string_view name);  ///< throws kInvalidArgument for an unknown name

/// The precisions of a task (TaskAt::dtype): f32, f16 (IEEE 754 binary16), bf16 (bfloat16).
inline constexpr DType kTaskDTypes[] = {DType::f32, DType::f16, DType::bf16};
/// The same for such a name; throws kInvalidArgument for any other.
DType task_dtype_from_name(std::string_view name);
/// f16 and bf16.
constexpr bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

/// Of a half: its smallest normal number; 0 of other types.
constexpr double smallest_normal(DType dtype) {
  return dtype == DType::f16 ? 0x1p-14 : dtype == DType::bf16 ? 0x1p-126 : 0;
}
/// Of a half: the distance from 1 to the next larger number, its ULP there; 0 of other types.
constexpr double half_epsilon(DType dtype) {
  return dtype == DType::f16 ? 0x1p-10 : dtype == DType::bf16 ? 0x1p-7 : 0;
}

/// A half's bits, and the float32 that they are. From float32 to nearest, ties to even
/// (libkbench/base/half.h).
uint16_t to_half(float value, DType half);
float from_half(uint16_t bits, DType half);

/// The C++ type's DType: dtype_of<float>() is f32. Defined for all but f16 and bf16.
template <class T>
constexpr DType dtype_of();
template <>
constexpr DType dtype_of<float>() {
  return DType::f32;
}
template <>
constexpr DType dtype_of<double>() {
  return DType::f64;
}
template <>
constexpr DType dtype_of<int64_t>() {
  return DType::i64;
}
template <>
constexpr DType dtype_of<bool>() {
  return DType::boolean;
}
template <>
constexpr DType dtype_of<int32_t>() {
  return DType::i32;
}
template <>
constexpr DType dtype_of<uint32_t>() {
  return DType::u32;
}
template <>
constexpr DType dtype_of<uint8_t>() {
  return DType::u8;
}

/// Extents, outermost first. An empty shape is a scalar with one element.
using Shape = std::vector<int64_t>;

/// Number of elements. Throws kShape when an extent is negative or the product overflows int64.
int64_t element_count(const Shape& shape);
std::string to_string(const Shape& shape);  ///< "[2, 3, 4]"
/// Row-major strides in elements.
std::vector<int64_t> strides_of(const Shape& shape);

/// Element type and shape of a value, without its data.
struct TensorType {
  DType dtype = DType::f32;
  Shape shape;

  int64_t elements() const { return element_count(shape); }
  int64_t bytes() const;  ///< throws kShape as element_count does
  bool operator==(const TensorType&) const = default;
};
std::string to_string(const TensorType& type);  ///< "f32 [2, 3, 4]"

/// A dense row-major tensor in host memory. Copies share the elements (as PyTorch's handles do);
/// use clone() for an independent one. Not synchronised: share between threads for reading only.
class Tensor {
 public:
  Tensor() = default;
  /// Uninitialised elements, 64-byte aligned. Throws kOutOfMemory when the host has no room.
  explicit Tensor(TensorType type);
  Tensor(DType dtype, Shape shape) : Tensor(TensorType{dtype, std::move(shape)}) {}

  const TensorType& type() const { return type_; }
  DType dtype() const { return type_.dtype; }
  const Shape& shape() const { return type_.shape; }
  int64_t elements() const { return elements_; }
  int64_t bytes() const { return elements_ * static_cast<int64_t>(size_of(type_.dtype)); }
  bool empty() const { return storage_ == nullptr; }

  std::byte* raw() { return storage_.get(); }
  const std::byte* raw() const { return storage_.get(); }

  /// The elements; throws kInvalidArgument when T is not the tensor's element type.
  template <class T>
  std::span<T> data() {
    require(dtype_of<T>());
    return {reinterpret_cast<T*>(storage_.get()), static_cast<size_t>(elements_)};
  }
  template <class T>
  std::span<const T> data() const {
    require(dtype_of<T>());
    return {reinterpret_cast<const T*>(storage_.get()), static_cast<size_t>(elements_)};
  }

  /// The same elements under another shape of the same size.
  Tensor reshaped(Shape shape) const;
  Tensor clone() const;
  /// A copy with elements converted, as C++ does. To f16 and bf16 by way of f32, each step rounded
  /// to nearest, ties to even.
  Tensor converted(DType dtype) const;
  /// Element i of the flat tensor, as a double.
  double at(int64_t i) const;

 private:
  void require(DType dtype) const;

  TensorType type_;
  int64_t elements_ = 0;
  std::shared_ptr<std::byte> storage_;
};

/// A tensor of f32 with the values that the half can hold, still of f32; any other as it is.
Tensor rounded_to(const Tensor& tensor, DType dtype);

}  // namespace kbench
