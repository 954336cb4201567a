#include "kbench/tensor.h"

#include <cstdlib>
#include <cstring>

#include "kbench/error.h"
#include "libkbench/base/half.h"
#include "libkbench/base/text.h"

namespace kbench {
namespace {

struct DTypeInfo {
  DType dtype;
  std::string_view name;
  size_t size;
};

constexpr DTypeInfo kDTypes[] = {
    {DType::f32, "f32", 4},      {DType::f64, "f64", 8}, {DType::i64, "i64", 8},
    {DType::boolean, "bool", 1}, {DType::f16, "f16", 2}, {DType::bf16, "bf16", 2},
    {DType::i32, "i32", 4},      {DType::u32, "u32", 4}, {DType::u8, "u8", 1}};

/// Calls f with a typed span of the tensor's elements.
template <class AnyTensor, class F>
void visit(AnyTensor& tensor, F f) {
  switch (tensor.dtype()) {
    case DType::f32:
      return f(tensor.template data<float>());
    case DType::f64:
      return f(tensor.template data<double>());
    case DType::i64:
      return f(tensor.template data<int64_t>());
    case DType::boolean:
      return f(tensor.template data<bool>());
    case DType::i32:
      return f(tensor.template data<int32_t>());
    case DType::u32:
      return f(tensor.template data<uint32_t>());
    case DType::u8:
      return f(tensor.template data<uint8_t>());
    default:
      throw Error(ErrorCode::kUnsupported, "element type " + std::string(name_of(tensor.dtype())) +
                                               " has no host arithmetic");
  }
}

/// Halves as f32.
Tensor widened(const Tensor& halves) {
  Tensor result(DType::f32, halves.shape());
  const auto* from = reinterpret_cast<const uint16_t*>(halves.raw());
  for (float& to : result.data<float>()) to = from_half(*from++, halves.dtype());
  return result;
}

/// f32 as halves.
Tensor narrowed(const Tensor& floats, DType dtype) {
  Tensor result(dtype, floats.shape());
  auto* to = reinterpret_cast<uint16_t*>(result.raw());
  for (const float from : floats.data<float>()) *to++ = to_half(from, dtype);
  return result;
}

}  // namespace

size_t size_of(DType dtype) { return kDTypes[static_cast<size_t>(dtype)].size; }

std::string_view name_of(DType dtype) { return kDTypes[static_cast<size_t>(dtype)].name; }

std::string_view long_name_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "float32";
    case DType::f16:
      return "float16";
    case DType::bf16:
      return "bfloat16";
    default:
      return name_of(dtype);
  }
}

DType dtype_from_name(std::string_view name) {
  for (const auto& info : kDTypes) {
    if (info.name == name) return info.dtype;
  }
  throw Error(ErrorCode::kInvalidArgument,
              "unknown element type '" + std::string(name) +
                  "'; known: " + listed(kDTypes, [](const DTypeInfo& info) { return info.name; }));
}

DType task_dtype_from_name(std::string_view name) {
  for (const DType dtype : kTaskDTypes) {
    if (name_of(dtype) == name) return dtype;
  }
  throw Error(ErrorCode::kInvalidArgument,
              "unknown precision '" + std::string(name) +
                  "'; known: " + listed(kTaskDTypes, [](DType dtype) { return name_of(dtype); }));
}

uint16_t to_half(float value, DType half) {
  return half == DType::f16 ? to_f16(value) : to_bf16(value);
}

float from_half(uint16_t bits, DType half) {
  return half == DType::f16 ? from_f16(bits) : from_bf16(bits);
}

Tensor rounded_to(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() != DType::f32 || !is_half(dtype)) return tensor;
  return tensor.converted(dtype).converted(DType::f32);
}

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) {
    if (extent < 0) {
      throw Error(ErrorCode::kShape, "shape " + to_string(shape) + " has a negative extent");
    }
    if (__builtin_mul_overflow(count, extent, &count)) {
      throw Error(ErrorCode::kShape, "shape " + to_string(shape) + " has too many elements");
    }
  }
  return count;
}

int64_t TensorType::bytes() const {
  int64_t bytes = 0;
  if (__builtin_mul_overflow(elements(), static_cast<int64_t>(size_of(dtype)), &bytes)) {
    throw Error(ErrorCode::kShape, "shape " + to_string(shape) + " has too many elements");
  }
  return bytes;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  text += listed(shape, [](int64_t extent) { return std::to_string(extent); });
  return text + "]";
}

std::string to_string(const TensorType& type) {
  return std::string(name_of(type.dtype)) + " " + to_string(type.shape);
}

std::vector<int64_t> strides_of(const Shape& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

Tensor::Tensor(TensorType type) : type_(std::move(type)), elements_(element_count(type_.shape)) {
  constexpr size_t kAlignment = 64;
  const size_t size =
      (static_cast<size_t>(type_.bytes()) + kAlignment - 1) / kAlignment * kAlignment;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(kAlignment, size ? size : kAlignment));
  if (memory == nullptr) {
    throw Error(ErrorCode::kOutOfMemory, "no host memory for a tensor " + to_string(type_) + " (" +
                                             std::to_string(bytes()) + " bytes)");
  }
  storage_ = std::shared_ptr<std::byte>(memory, [](std::byte* p) { std::free(p); });
}

void Tensor::require(DType dtype) const {
  if (dtype != type_.dtype) {
    throw Error(ErrorCode::kInvalidArgument, "tensor holds " + std::string(name_of(type_.dtype)) +
                                                 ", asked for " + std::string(name_of(dtype)));
  }
}

Tensor Tensor::reshaped(Shape shape) const {
  if (element_count(shape) != elements_) {
    throw Error(ErrorCode::kShape,
                "cannot view " + to_string(type_.shape) + " as " + to_string(shape));
  }
  Tensor view = *this;
  view.type_.shape = std::move(shape);
  return view;
}

Tensor Tensor::clone() const {
  Tensor copy(type_);
  std::memcpy(copy.raw(), raw(), static_cast<size_t>(bytes()));
  return copy;
}

Tensor Tensor::converted(DType dtype) const {
  if (dtype == type_.dtype) return clone();
  if (is_half(type_.dtype)) {
    const Tensor wide = widened(*this);
    return dtype == DType::f32 ? wide : wide.converted(dtype);
  }
  if (is_half(dtype)) return narrowed(converted(DType::f32), dtype);
  Tensor result(dtype, type_.shape);
  visit(*this, [&](auto from) {
    visit(result, [&](auto to) {
      for (size_t i = 0; i < from.size(); ++i) {
        to[i] = static_cast<typename decltype(to)::value_type>(from[i]);
      }
    });
  });
  return result;
}

double Tensor::at(int64_t i) const {
  if (i < 0 || i >= elements_) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "element " + std::to_string(i) + " is outside a tensor of " + std::to_string(elements_));
  }
  if (is_half(type_.dtype)) {
    return from_half(reinterpret_cast<const uint16_t*>(raw())[i], type_.dtype);
  }
  double value = 0;
  visit(*this, [&](auto elements) { value = static_cast<double>(elements[i]); });
  return value;
}

}  // namespace kbench
