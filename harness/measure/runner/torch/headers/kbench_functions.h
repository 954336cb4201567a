// Functions and operators of tensors.
#pragma once

#include "kbench_tensor.h"

namespace c10::kbench {

// Those that are methods too

#define KB_FUNCTION(NAME)                                             \
  template <class... A>                                               \
  decltype(auto) NAME(const Tensor& x, const A&... a) {               \
    return x.NAME(a...);                                              \
  }                                                                   \
  template <class... A>                                               \
  decltype(auto) NAME(const Tensor& x, IntList list, const A&... a) { \
    return x.NAME(list, a...);                                        \
  }
#define KB_OUT_FUNCTION(NAME)                                       \
  template <class... A>                                             \
  Tensor& NAME##_out(Tensor& out, const Tensor& x, const A&... a) { \
    x.NAME(a..., kb::Out{out});                                     \
    return out;                                                     \
  }
KB_TENSOR_OPERATORS(KB_FUNCTION)
KB_TENSOR_OPERATORS(KB_OUT_FUNCTION)
KB_PAIRS(KB_FUNCTION)
KB_LISTS(KB_FUNCTION)
KB_ANSWERS(KB_FUNCTION)
KB_IN_PLACE(KB_FUNCTION)
KB_FUNCTION(max)
KB_FUNCTION(min)
inline Tensor norm(const Tensor& x, const Scalar& p, IntList dims, bool keep = false) {
  return x.norm(p, dims, keep);
}
template <class A, class B>
Tensor where(const Tensor& condition, const A& a, const B& b) {
  KB_NAME(where);
  return kb::call<Tensor, Name>(condition, a, b);
}

// Those with overloads that templates would not choose among as PyTorch does: lists in braces,
// numbers in place of lists, types in place of options.

/// Calls aten::NAME with the arguments that follow the parameters.
#define KB_GIVEN(NAME, PARAMETERS, ...)         \
  inline Tensor NAME PARAMETERS {               \
    KB_NAME(NAME);                              \
    return kb::call<Tensor, Name>(__VA_ARGS__); \
  }
// clang-format off
KB_GIVEN(cat, (TensorList all, int64_t dim = 0), all, dim)
KB_GIVEN(stack, (TensorList all, int64_t dim = 0), all, dim)
KB_GIVEN(einsum, (const std::string& equation, TensorList all), equation, all)
KB_GIVEN(layer_norm, (const Tensor& x, IntArrayRef shape, const optional<Tensor>& weight = {},
         const optional<Tensor>& bias = {}, double eps = 1e-5, bool fast = true),
         x, shape, weight, bias, eps, fast)
KB_GIVEN(constant_pad_nd, (const Tensor& x, IntArrayRef padding, const Scalar& value = 0),
         x, padding, value)
KB_GIVEN(pad, (const Tensor& x, IntArrayRef padding, const std::string& mode = "constant",
         optional<double> value = {}), x, padding, mode, value)
KB_GIVEN(convolution, (const Tensor& x, const Tensor& weight, const optional<Tensor>& bias,
         IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
         IntArrayRef output_padding, int64_t groups),
         x, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
#define KB_FOR_DIMENSIONS(ND)                                                                   \
  KB_GIVEN(conv##ND, (const Tensor& x, const Tensor& weight, const optional<Tensor>& bias = {}, \
           IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1,           \
           int64_t groups = 1), x, weight, bias, stride, padding, dilation, groups)             \
  KB_GIVEN(conv_transpose##ND, (const Tensor& x, const Tensor& weight,                          \
           const optional<Tensor>& bias = {}, IntArrayRef stride = 1, IntArrayRef padding = 0,  \
           IntArrayRef output_padding = 0, int64_t groups = 1, IntArrayRef dilation = 1),       \
           x, weight, bias, stride, padding, output_padding, groups, dilation)                  \
  KB_GIVEN(max_pool##ND, (const Tensor& x, IntArrayRef kernel, IntArrayRef stride = {},         \
           IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil = false),               \
           x, kernel, stride, padding, dilation, ceil)                                          \
  KB_GIVEN(avg_pool##ND, (const Tensor& x, IntArrayRef kernel, IntArrayRef stride = {},         \
           IntArrayRef padding = 0, bool ceil = false, bool count_padding = true),              \
           x, kernel, stride, padding, ceil, count_padding)                                     \
  KB_GIVEN(adaptive_avg_pool##ND, (const Tensor& x, IntArrayRef size), x, size)
KB_FOR_DIMENSIONS(1d)
KB_FOR_DIMENSIONS(2d)
KB_FOR_DIMENSIONS(3d)

// Those that make tensors

namespace kb {
inline Tensor with_grad(Tensor made, const TensorOptions& options) {
  if (options.requires_grad()) made.set_requires_grad(true);
  return made;
}
}  // namespace kb
/// Makes a tensor with options, which follow these parameters, by aten::NAME with these arguments.
#define KB_FACTORY(NAME, PARAMETERS, ...)                                              \
  inline Tensor NAME(KB_WITHOUT_PARENTHESES PARAMETERS, const TensorOptions& o = {}) { \
    KB_NAME(NAME);                                                                     \
    return kb::with_grad(kb::call<Tensor, Name>(__VA_ARGS__, o), o);                   \
  }
#define KB_WITHOUT_PARENTHESES(...) __VA_ARGS__
KB_FACTORY(zeros, (IntArrayRef size), size)
KB_FACTORY(ones, (IntArrayRef size), size)
KB_FACTORY(rand, (IntArrayRef size), size)
KB_FACTORY(randn, (IntArrayRef size), size)
KB_FACTORY(full, (IntArrayRef size, const Scalar& value), size, value)
KB_FACTORY(empty_strided, (IntArrayRef size, IntArrayRef stride), size, stride)
KB_FACTORY(eye, (int64_t n), n)
KB_FACTORY(arange, (const Scalar& end), end)
KB_FACTORY(arange, (const Scalar& start, const Scalar& end), start, end)
KB_FACTORY(arange, (const Scalar& start, const Scalar& end, const Scalar& step), start, end, step)
KB_FACTORY(linspace, (const Scalar& start, const Scalar& end, int64_t steps), start, end, steps)
KB_FACTORY(randint, (int64_t high, IntArrayRef size), high, size)
KB_FACTORY(randint, (int64_t low, int64_t high, IntArrayRef size), low, high, size)
// clang-format on
inline Tensor empty(IntArrayRef size, const TensorOptions& options = {},
                    optional<MemoryFormat> format = nullopt) {
  KB_NAME(empty);
  if (!format && options.said.memory_format >= 0) {
    format = static_cast<MemoryFormat>(options.said.memory_format);
  }
  return kb::with_grad(kb::call<Tensor, Name>(size, options, format), options);
}
inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                        const TensorOptions& options = {}) {
  Tensor result;
  kb_from_blob(&result, data, kb::values(sizes), kb::values(strides), options.said);
  return result;
}
inline Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {}) {
  return from_blob(data, sizes, IntArrayRef(), options);
}
namespace kb {
template <class T>
Tensor tensor_of(ArrayRef<T> all, char kind, const TensorOptions& options) {
  std::vector<KbValue> given(1, pointer(kind, nullptr, all.size()));
  given[0].i = static_cast<int64_t>(CppTypeToScalarType<T>::value);
  for (const T each : all) given.push_back(Scalar(each).said);
  Tensor result;
  kb_tensor_of(&result, given.data(), options.said);
  return with_grad(result, options);
}
}  // namespace kb
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
Tensor tensor(T value, const TensorOptions& options = {}) {
  return kb::tensor_of(ArrayRef<T>(value), 's', options);
}
template <class T>
Tensor tensor(ArrayRef<T> all, const TensorOptions& options = {}) {
  return kb::tensor_of(all, 'l', options);
}
template <class T>
Tensor tensor(std::initializer_list<T> all, const TensorOptions& options = {}) {
  return tensor(ArrayRef<T>(all), options);
}
template <class T>
Tensor tensor(const std::vector<T>& all, const TensorOptions& options = {}) {
  return tensor(ArrayRef<T>(all), options);
}
inline Tensor scalar_tensor(const Scalar& value, const TensorOptions& options = {}) {
  return full({}, value, options);
}

#define KB_OPERATOR(OP, NAME, SWAPPED)                                              \
  inline Tensor operator OP(const Tensor& x, const Tensor& y) { return x.NAME(y); } \
  inline Tensor operator OP(const Tensor& x, const Scalar& y) { return x.NAME(y); } \
  inline Tensor operator OP(const Scalar& x, const Tensor& y) { return SWAPPED; }
KB_OPERATOR(+, add, y.add(x))
KB_OPERATOR(*, mul, y.mul(x))
KB_OPERATOR(-, sub, empty_like(y, MemoryFormat::Preserve).fill_(x).sub_(y))
KB_OPERATOR(/, div, empty_like(y, MemoryFormat::Preserve).fill_(x).div_(y))
KB_OPERATOR(%, remainder, empty_like(y, MemoryFormat::Preserve).fill_(x).remainder_(y))
KB_OPERATOR(&, bitwise_and, y.bitwise_and(x))
KB_OPERATOR(|, bitwise_or, y.bitwise_or(x))
KB_OPERATOR(^, bitwise_xor, y.bitwise_xor(x))
KB_OPERATOR(<, lt, y.gt(x))
KB_OPERATOR(<=, le, y.ge(x))
KB_OPERATOR(>, gt, y.lt(x))
KB_OPERATOR(>=, ge, y.le(x))
KB_OPERATOR(==, eq, y.eq(x))
KB_OPERATOR(!=, ne, y.ne(x))

}  // namespace c10::kbench
