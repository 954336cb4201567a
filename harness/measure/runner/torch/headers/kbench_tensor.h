// Tensors, with the methods that are operators of PyTorch.
#pragma once

#include "kbench_call.h"

// Each is a method and a function, with the overloads and the defaults of PyTorch's table of
// operators.
// clang-format off
#define KB_TENSOR_OPERATORS(_) \
  _(abs) _(exp) _(exp2) _(log) _(log2) _(log10) _(log1p) _(sqrt) _(rsqrt) _(sin) _(cos) _(tan) \
  _(asin) _(acos) _(atan) _(sinh) _(cosh) _(tanh) _(sigmoid) _(relu) _(selu) _(silu) _(gelu) \
  _(elu) _(mish) _(softplus) _(softsign) _(leaky_relu) _(hardtanh) _(relu6) _(hardsigmoid) \
  _(hardswish) _(erf) _(erfc) _(floor) _(ceil) _(round) _(trunc) _(neg) _(negative) _(sign) \
  _(square) _(reciprocal) _(add) _(sub) _(mul) _(div) _(multiply) _(subtract) _(divide) \
  _(true_divide) _(floor_divide) _(pow) _(remainder) _(fmod) _(atan2) _(addcmul) _(addcdiv) \
  _(lerp) _(clamp) _(clamp_min) _(clamp_max) _(clip) _(matmul) _(mm) _(bmm) _(mv) _(dot) _(outer) \
  _(addmm) _(baddbmm) _(linear) _(cross) _(cdist) _(batch_norm) _(group_norm) _(instance_norm) \
  _(dropout) _(embedding) _(cross_entropy_loss) _(mse_loss) _(l1_loss) _(smooth_l1_loss) \
  _(huber_loss) _(kl_div) _(cosine_similarity) _(triplet_margin_loss) _(sum) _(mean) _(prod) \
  _(std) _(var) _(norm) _(amax) _(amin) _(argmax) _(argmin) _(cumsum) _(cumprod) _(softmax) \
  _(log_softmax) _(logsumexp) _(all) _(any) _(eq) _(ne) _(lt) _(le) _(gt) _(ge) _(logical_and) \
  _(logical_or) _(logical_not) _(bitwise_and) _(bitwise_or) _(bitwise_xor) _(bitwise_not) \
  _(maximum) _(minimum) _(isnan) _(isinf) _(isfinite) _(nan_to_num) _(view) _(reshape) _(permute) \
  _(transpose) _(t) _(squeeze) _(unsqueeze) _(expand) _(repeat) _(repeat_interleave) _(flatten) \
  _(slice) _(select) _(narrow) _(index_select) _(gather) _(scatter) _(scatter_add) _(index_add) \
  _(masked_fill) _(flip) _(roll) _(tril) _(triu) _(diag) _(diagonal) _(unfold) _(contiguous) \
  _(clone) _(detach) _(expand_as) _(view_as) _(reshape_as) _(type_as) _(as_strided) _(nonzero) \
  _(new_empty) _(new_zeros) _(new_ones) _(new_full) _(empty_like) _(zeros_like) _(ones_like) \
  _(full_like) _(rand_like) _(randn_like)
#define KB_IN_PLACE(_) \
  _(abs_) _(exp_) _(log_) _(sqrt_) _(tanh_) _(sigmoid_) _(relu_) _(silu_) _(neg_) _(square_) \
  _(add_) _(sub_) _(mul_) _(div_) _(pow_) _(remainder_) _(clamp_) _(clamp_min_) _(clamp_max_) \
  _(addcmul_) _(addcdiv_) _(copy_) _(fill_) _(zero_) _(masked_fill_) _(index_add_) _(scatter_add_) \
  _(uniform_) _(normal_) _(unsqueeze_) _(squeeze_) _(leaky_relu_) _(requires_grad_) _(detach_)
#define KB_PAIRS(_) _(topk) _(sort) _(median) _(cummax) _(var_mean) _(aminmax)
#define KB_LISTS(_) _(split) _(chunk) _(unbind)
#define KB_ANSWERS(_) _(equal) _(allclose)
// clang-format on

namespace c10::kbench {

template <class T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;
};
template <class T>
struct DefaultPtrTraits {
  using PtrType = T*;
};
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class I = int64_t>
class TensorAccessor;
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class I = int64_t>
class GenericPackedTensorAccessor;

class Tensor {
 public:
  using Pair = std::tuple<Tensor, Tensor>;
  Tensor() : impl_(kb_undefined()) {}
  Tensor(const Tensor& other) : impl_(other.impl_) { kb_retain(impl_); }
  Tensor(Tensor&& other) noexcept : impl_(std::exchange(other.impl_, kb_undefined())) {}
  ~Tensor() { kb_release(impl_); }
  Tensor& operator=(const Tensor& other) & { return *this = Tensor(other); }
  Tensor& operator=(Tensor&& other) & noexcept {
    std::swap(impl_, other.impl_);
    return *this;
  }
  Tensor& operator=(const Tensor& other) && { return copy_(other); }
  Tensor& operator=(Tensor&& other) && { return copy_(other); }
  Tensor& operator=(const Scalar& value) && { return fill_(value); }
  static Tensor taken(void* impl) {
    Tensor made;
    made.impl_ = impl;
    return made;
  }

  bool defined() const { return impl_ != kb_undefined(); }
  void reset() { *this = Tensor(); }
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }
#define KB_QUESTION_METHOD(TYPE, NAME) \
  TYPE NAME() const { return static_cast<TYPE>(kb_ask(this, KbQuestion::NAME)); }
  KB_QUESTIONS(KB_QUESTION_METHOD)
  int64_t size(int64_t d) const { return kb_size(this, d); }
  int64_t stride(int64_t d) const { return kb_stride(this, d); }
  IntArrayRef sizes() const { return {kb_sizes(this), static_cast<size_t>(dim())}; }
  IntArrayRef strides() const { return {kb_strides(this), static_cast<size_t>(dim())}; }
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
    return kb_is_contiguous(this, static_cast<int8_t>(format));
  }
  TypeMeta dtype() const { return scalar_type(); }
  TensorOptions options() const { return TensorOptions(kb_options(this)); }
  Device device() const { return options().device(); }
  Layout layout() const { return kStrided; }
  void* data_ptr() const { return kb_data(this, -1); }
  const void* const_data_ptr() const { return data_ptr(); }
  void* mutable_data_ptr() const { return data_ptr(); }
  template <class T>
  T* data_ptr() const {
    using Value = std::remove_const_t<T>;
    return static_cast<T*>(kb_data(this, static_cast<int8_t>(CppTypeToScalarType<Value>::value)));
  }
  template <class T>
  const T* const_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }
  Tensor data() const { return detach(); }
  const Tensor& set_requires_grad(bool set) const { return requires_grad_(set); }
  Scalar item() const {
    Scalar value;
    value.said = kb_item(this);
    return value;
  }
  template <class T>
  T item() const {
    return item().to<T>();
  }
  struct Type {  // Deprecated: what type() returns
    TensorOptions options;
    bool is_cuda() const { return options.device().is_cuda(); }
    ScalarType scalarType() const { return options.dtype().type; }
    operator TensorOptions() const { return options; }
    operator ScalarType() const { return scalarType(); }
  };
  Type type() const { return {options()}; }

  Tensor to(const TensorOptions& options, bool async = false, bool copy = false,
            optional<MemoryFormat> format = nullopt) const {
    KB_NAME(to);
    return kb::call<Tensor, Name>(*this, options, async, copy, format);
  }
  Tensor to(ScalarType type, bool async = false, bool copy = false,
            optional<MemoryFormat> format = nullopt) const {
    KB_NAME(to);
    return kb::call<Tensor, Name>(*this, type, async, copy, format);
  }
  Tensor to(TypeMeta type, bool async = false, bool copy = false) const {
    return to(type.type, async, copy);
  }
  Tensor to(Device device, ScalarType type, bool async = false, bool copy = false) const {
    return to(TensorOptions(device).dtype(type), async, copy);
  }
  Tensor to(const Tensor& like, bool async = false, bool copy = false) const {
    return to(like.options(), async, copy);
  }
  Tensor cuda() const { return to(kCUDA); }
  Tensor cpu() const { return to(kCPU); }
  Tensor toType(ScalarType type) const { return to(type); }

#define KB_METHOD(R, NAME)                    \
  template <class... A>                       \
  R NAME(const A&... a) const {               \
    KB_NAME(NAME);                            \
    return kb::call<R, Name>(*this, a...);    \
  }                                           \
  template <class... A>                       \
  R NAME(IntList list, const A&... a) const { \
    return NAME<IntList, A...>(list, a...);   \
  }
#define KB_TENSOR_METHOD(NAME) KB_METHOD(Tensor, NAME)
#define KB_PAIR_METHOD(NAME) KB_METHOD(Pair, NAME)
#define KB_LIST_METHOD(NAME) KB_METHOD(std::vector<Tensor>, NAME)
#define KB_ANSWER_METHOD(NAME) KB_METHOD(bool, NAME)
#define KB_IN_PLACE_METHOD(NAME)       \
  template <class... A>                \
  Tensor& NAME(const A&... a) const {  \
    KB_NAME(NAME);                     \
    kb::call<bool, Name>(*this, a...); \
    return const_cast<Tensor&>(*this); \
  }
#define KB_EXTREME_METHODS(NAME)                    \
  Tensor NAME() const {                             \
    KB_NAME(NAME);                                  \
    return kb::call<Tensor, Name>(*this);           \
  }                                                 \
  Tensor NAME(const Tensor& other) const {          \
    KB_NAME(NAME);                                  \
    return kb::call<Tensor, Name>(*this, other);    \
  }                                                 \
  Pair NAME(int64_t dim, bool keep = false) const { \
    KB_NAME(NAME);                                  \
    return kb::call<Pair, Name>(*this, dim, keep);  \
  }
  KB_TENSOR_OPERATORS(KB_TENSOR_METHOD)
  KB_PAIRS(KB_PAIR_METHOD)
  KB_LISTS(KB_LIST_METHOD)
  KB_ANSWERS(KB_ANSWER_METHOD)
  KB_IN_PLACE(KB_IN_PLACE_METHOD)
  KB_EXTREME_METHODS(max)
  KB_EXTREME_METHODS(min)
  Tensor norm(const Scalar& p, IntList dims, bool keep = false) const {
    return norm<Scalar, IntList, bool>(p, dims, keep);
  }
  template <class T>
  Tensor where(const Tensor& condition, const T& other) const {
    KB_NAME(where);
    return kb::call<Tensor, Name>(condition, *this, other);
  }
  Tensor operator[](int64_t i) const { return select(int64_t{0}, i); }
  Tensor operator-() const { return neg(); }
  Tensor operator~() const { return bitwise_not(); }
#define KB_ASSIGN(OP, NAME)                   \
  template <class T>                          \
  Tensor& operator OP(const T& other) const { \
    return NAME(other);                       \
  }
  KB_ASSIGN(+=, add_)
  KB_ASSIGN(-=, sub_)
  KB_ASSIGN(*=, mul_)
  KB_ASSIGN(/=, div_)

  template <class T, size_t N>
  TensorAccessor<T, N> accessor() const;
  template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class I = int64_t>
  GenericPackedTensorAccessor<T, N, Traits, I> generic_packed_accessor() const;
  template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
  auto packed_accessor32() const {
    return generic_packed_accessor<T, N, Traits, int32_t>();
  }
  template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
  auto packed_accessor64() const {
    return generic_packed_accessor<T, N, Traits, int64_t>();
  }

 private:
  void* impl_;
};
using TensorList = ArrayRef<Tensor>;

namespace kb {
inline void add_result(Tensor& to, Tensor made) { to = std::move(made); }
inline void add_result(std::vector<Tensor>& to, Tensor made) { to.push_back(std::move(made)); }
inline void add_result(Tensor::Pair& to, Tensor made) {
  (std::get<0>(to).defined() ? std::get<1>(to) : std::get<0>(to)) = std::move(made);
}
inline void add_result(bool&, const Tensor&) {}
template <class R>
R result_of(void* op, const KbValue* values) {
  R result{};
  const auto take_tensor = [](void* to, void* impl) {
    add_result(*static_cast<R*>(to), Tensor::taken(impl));
  };
  const KbValue plain = kb_call(op, values, take_tensor, &result);
  if constexpr (std::is_same_v<R, bool>) result = plain.i != 0;
  return result;
}
}  // namespace kb

}  // namespace c10::kbench
