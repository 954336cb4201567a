// The part of PyTorch's C++ interface that extensions of models use, as declarations that compile
// in a fraction of the time of PyTorch's own headers. All names are in an inline namespace, so that
// their symbols never meet libtorch's. What an extension uses beyond this does not compile, and is
// then compiled with PyTorch's headers.
#pragma once

#include <array>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#ifdef KBENCH_STD  // The text names more of the standard library, which PyTorch's headers bring.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <sstream>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#endif
#if defined(KBENCH_HALF) && defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#include "kbench_abi.h"

#ifdef __CUDACC__
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#else
#define C10_HOST_DEVICE
#define C10_DEVICE
#define C10_HOST
#endif
#define C10_UNUSED __attribute__((__unused__))
#define C10_LIKELY(x) (__builtin_expect(static_cast<bool>(x), 1))
#define C10_UNLIKELY(x) (__builtin_expect(static_cast<bool>(x), 0))
#define C10_RESTRICT __restrict
#define C10_ALWAYS_INLINE inline __attribute__((always_inline))

namespace c10 {

class Error : public std::exception {  // PyTorch's own: only to be caught.
 public:
  const char* what() const noexcept override;
};

inline namespace kbench {

using std::in_place;
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;

// Sixteen bits

namespace kb {
union Bits32 {
  float f;
  uint32_t u;
};

C10_HOST_DEVICE inline float half_to_float(uint16_t h) {
#if defined(__CUDA_ARCH__) && defined(KBENCH_HALF)
  return __half2float(__ushort_as_half(h));
#else
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000) << 16, rest = h & 0x7fff;
  Bits32 bits{};
  if (rest >= 0x7c00) {
    bits.u = sign | 0x7f800000 | (rest & 0x3ff) << 13;
  } else if (rest >= 0x400) {
    bits.u = sign | ((rest << 13) + 0x38000000);
  } else {
    bits.f = static_cast<float>(rest) * 5.9604644775390625e-8f;  // 2^-24
    bits.u |= sign;
  }
  return bits.f;
#endif
}

C10_HOST_DEVICE inline uint16_t float_to_half(float f) {
#if defined(__CUDA_ARCH__) && defined(KBENCH_HALF)
  return __half_as_ushort(__float2half(f));
#else
  Bits32 bits{f};
  const uint32_t sign = bits.u >> 16 & 0x8000, rest = bits.u & 0x7fffffff;
  if (rest > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);
  if (rest >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);
  if (rest < 0x38800000) {  // Its unit is 2^-24; 0.5 + |f| has its last bit there.
    Bits32 small{};
    small.u = rest;
    small.f += 0.5f;
    return static_cast<uint16_t>(sign | (small.u - 0x3f000000));
  }
  return static_cast<uint16_t>(sign | ((rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13));
#endif
}

C10_HOST_DEVICE inline float bfloat16_to_float(uint16_t b) {
  Bits32 bits{};
  bits.u = static_cast<uint32_t>(b) << 16;
  return bits.f;
}

C10_HOST_DEVICE inline uint16_t float_to_bfloat16(float f) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && defined(KBENCH_HALF)
  return __bfloat16_as_ushort(__float2bfloat16(f));
#else
  Bits32 bits{f};
  if (f != f) return 0x7fc0;
  return static_cast<uint16_t>((bits.u + 0x7fff + (bits.u >> 16 & 1)) >> 16);
#endif
}
}  // namespace kb

struct from_bits_t {};

#if defined(KBENCH_HALF) && defined(__CUDACC__)
#define KB_NATIVE(NAME, NATIVE)                                                                \
  C10_HOST_DEVICE NAME(const NATIVE& value) : x(*reinterpret_cast<const uint16_t*>(&value)) {} \
  C10_HOST_DEVICE operator NATIVE() const { return *reinterpret_cast<const NATIVE*>(&x); }
#define KB_LDG(NAME)                                                     \
  __device__ inline NAME __ldg(const NAME* pointer) {                    \
    NAME value;                                                          \
    value.x = ::__ldg(reinterpret_cast<const unsigned short*>(pointer)); \
    return value;                                                        \
  }
#else
#define KB_NATIVE(NAME, NATIVE)
#define KB_LDG(NAME)
#endif
#define KB_BINARY_16(NAME, OP)                                                                     \
  C10_HOST_DEVICE inline NAME operator OP(const NAME& a, const NAME& b) {                          \
    return static_cast<float>(a) OP static_cast<float>(b);                                         \
  }                                                                                                \
  C10_HOST_DEVICE inline float operator OP(NAME a, float b) { return static_cast<float>(a) OP b; } \
  C10_HOST_DEVICE inline float operator OP(float a, NAME b) { return a OP static_cast<float>(b); } \
  C10_HOST_DEVICE inline double operator OP(NAME a, double b) {                                    \
    return static_cast<double>(a) OP b;                                                            \
  }                                                                                                \
  C10_HOST_DEVICE inline double operator OP(double a, NAME b) {                                    \
    return a OP static_cast<double>(b);                                                            \
  }                                                                                                \
  C10_HOST_DEVICE inline NAME operator OP(NAME a, int b) { return a OP static_cast<NAME>(b); }     \
  C10_HOST_DEVICE inline NAME operator OP(int a, NAME b) { return static_cast<NAME>(a) OP b; }     \
  C10_HOST_DEVICE inline NAME operator OP(NAME a, int64_t b) { return a OP static_cast<NAME>(b); } \
  C10_HOST_DEVICE inline NAME operator OP(int64_t a, NAME b) { return static_cast<NAME>(a) OP b; } \
  C10_HOST_DEVICE inline NAME& operator OP##=(NAME& a, const NAME& b) { return a = a OP b; }       \
  C10_HOST_DEVICE inline float& operator OP##=(float& a, const NAME& b) {                          \
    return a = a OP static_cast<float>(b);                                                         \
  }
#define KB_FLOAT_16(NAME, CONVERT, NATIVE)                                                \
  struct alignas(2) NAME {                                                                \
    unsigned short x;                                                                     \
    static constexpr C10_HOST_DEVICE from_bits_t from_bits() { return {}; }               \
    NAME() = default;                                                                     \
    constexpr C10_HOST_DEVICE NAME(unsigned short bits, from_bits_t) : x(bits) {}         \
    C10_HOST_DEVICE NAME(float value) : x(kb::float_to_##CONVERT(value)) {}               \
    C10_HOST_DEVICE operator float() const { return kb::CONVERT##_to_float(x); }          \
    KB_NATIVE(NAME, NATIVE)                                                               \
  };                                                                                      \
  KB_BINARY_16(NAME, +)                                                                   \
  KB_BINARY_16(NAME, -)                                                                   \
  KB_BINARY_16(NAME, *)                                                                   \
  KB_BINARY_16(NAME, /)                                                                   \
  C10_HOST_DEVICE inline NAME operator-(const NAME& a) { return -static_cast<float>(a); } \
  KB_LDG(NAME)
KB_FLOAT_16(Half, half, __half)
KB_FLOAT_16(BFloat16, bfloat16, __nv_bfloat16)
#undef KB_FLOAT_16
#undef KB_BINARY_16
#undef KB_LDG
#undef KB_NATIVE

// Types, devices, options

enum class ScalarType : int8_t {
  Byte,
  Char,
  Short,
  Int,
  Long,
  Half,
  Float,
  Double,
  ComplexHalf,
  ComplexFloat,
  ComplexDouble,
  Bool,
  QInt8,
  QUInt8,
  QInt32,
  BFloat16,
  Undefined = -1  // PyTorch's own number changes from version to version.
};
#define KB_FOR_TYPES(_) \
  _(uint8_t, Byte)      \
  _(int8_t, Char)       \
  _(int16_t, Short)     \
  _(int, Int)           \
  _(int64_t, Long)      \
  _(Half, Half) _(float, Float) _(double, Double) _(bool, Bool) _(BFloat16, BFloat16)
#define KB_CONSTANT(TYPE, NAME) constexpr ScalarType k##NAME = ScalarType::NAME;
KB_FOR_TYPES(KB_CONSTANT)
constexpr auto kUInt8 = kByte, kInt8 = kChar, kInt16 = kShort, kInt32 = kInt, kInt64 = kLong,
               kFloat16 = kHalf, kFloat32 = kFloat, kFloat64 = kDouble;
namespace impl {
template <ScalarType>
struct ScalarTypeToCPPType;
template <ScalarType t>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<t>::type;
}  // namespace impl
template <class T>
struct CppTypeToScalarType;
#define KB_MAP(TYPE, NAME)                                \
  template <>                                             \
  struct impl::ScalarTypeToCPPType<ScalarType::NAME> {    \
    using type = TYPE;                                    \
  };                                                      \
  template <>                                             \
  struct CppTypeToScalarType<TYPE> {                      \
    static constexpr ScalarType value = ScalarType::NAME; \
  };
KB_FOR_TYPES(KB_MAP)
#undef KB_MAP
#undef KB_CONSTANT
template <>
struct CppTypeToScalarType<long long> {
  static constexpr ScalarType value = ScalarType::Long;
};
inline const char* toString(ScalarType type) { return kb_dtype_name(static_cast<int8_t>(type)); }
inline size_t elementSize(ScalarType type) { return kb_dtype_bytes(static_cast<int8_t>(type)); }
inline bool isFloatingType(ScalarType t) {
  return t == kHalf || t == kFloat || t == kDouble || t == kBFloat16;
}
inline bool isIntegralType(ScalarType t, bool with_bool = false) {
  return t <= kLong || (with_bool && t == kBool);
}

enum class DeviceType : int8_t { CPU = 0, CUDA = 1, Meta = 14 };
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA, kMeta = DeviceType::Meta;
enum class Layout : int8_t { Strided };
constexpr Layout kStrided = Layout::Strided;
enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
using DeviceIndex = int8_t;

class Device {
 public:
  using Type = DeviceType;
  Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {}
  Device(const std::string& text)
      : Device(text.compare(0, 4, "cuda") == 0 ? kCUDA : kCPU,
               static_cast<DeviceIndex>(text.size() > 5 ? std::atoi(text.c_str() + 5) : -1)) {
    if (text != "cpu" && text.compare(0, 4, "cuda") != 0) throw std::invalid_argument(text);
  }
  Device(const char* text) : Device(std::string(text)) {}
  DeviceType type() const { return type_; }
  DeviceIndex index() const { return index_; }
  bool has_index() const { return index_ != -1; }
  bool is_cuda() const { return type_ == kCUDA; }
  bool is_cpu() const { return type_ == kCPU; }
  bool operator==(const Device& other) const {
    return type_ == other.type_ && index_ == other.index_;
  }
  bool operator!=(const Device& other) const { return !(*this == other); }
  std::string str() const {
    const char* name = is_cuda() ? "cuda" : is_cpu() ? "cpu" : "meta";
    return has_index() ? name + (":" + std::to_string(index_)) : name;
  }

 private:
  DeviceType type_;
  DeviceIndex index_;
};

struct TypeMeta {  // caffe2's: what dtype() returns
  ScalarType type = ScalarType::Undefined;
  TypeMeta() = default;
  TypeMeta(ScalarType t) : type(t) {}
  size_t itemsize() const { return elementSize(type); }
  ScalarType toScalarType() const { return type; }
  operator ScalarType() const { return type; }
};
inline bool operator==(TypeMeta a, TypeMeta b) { return a.type == b.type; }
inline bool operator!=(TypeMeta a, TypeMeta b) { return a.type != b.type; }
inline bool operator==(TypeMeta a, ScalarType b) { return a.type == b; }
inline bool operator!=(TypeMeta a, ScalarType b) { return a.type != b; }
inline bool operator==(ScalarType a, TypeMeta b) { return a == b.type; }
inline bool operator!=(ScalarType a, TypeMeta b) { return a != b.type; }
inline ScalarType typeMetaToScalarType(TypeMeta meta) { return meta.type; }

struct TensorOptions {
  KbOptions said;
  TensorOptions() = default;
  explicit TensorOptions(KbOptions options) : said(options) {}
  TensorOptions(ScalarType type) { said.dtype = static_cast<int8_t>(type); }
  TensorOptions(TypeMeta meta) : TensorOptions(meta.type) {}
  TensorOptions(Device device) { *this = TensorOptions().device(device); }
  TensorOptions(DeviceType type) : TensorOptions(Device(type)) {}
  TensorOptions(const char* device) : TensorOptions(Device(device)) {}
  TensorOptions(MemoryFormat format) { said.memory_format = static_cast<int8_t>(format); }
  TensorOptions(Layout) { said.layout = 0; }
  TensorOptions dtype(optional<ScalarType> type) const {
    return with(&KbOptions::dtype, type ? static_cast<int8_t>(*type) : -1);
  }
  template <class T>
  TensorOptions dtype() const {
    return dtype(CppTypeToScalarType<T>::value);
  }
  TensorOptions device(optional<Device> device) const {
    const int8_t type = device ? static_cast<int8_t>(device->type()) : -1;
    return with(&KbOptions::device, type).with(&KbOptions::index, device ? device->index() : -1);
  }
  TensorOptions device(DeviceType type, DeviceIndex index = -1) const {
    return device(Device(type, index));
  }
  TensorOptions device_index(DeviceIndex index) const { return device(kCUDA, index); }
  TensorOptions layout(Layout) const { return with(&KbOptions::layout, 0); }
  TensorOptions requires_grad(bool set) const { return with(&KbOptions::requires_grad, set); }
  TensorOptions pinned_memory(bool set = true) const { return with(&KbOptions::pinned, set); }
  TensorOptions memory_format(MemoryFormat format) const {
    return with(&KbOptions::memory_format, static_cast<int8_t>(format));
  }
  TypeMeta dtype() const {
    return static_cast<ScalarType>(said.dtype < 0 ? kb_default_dtype() : said.dtype);
  }
  Device device() const {
    return said.device < 0 ? Device(kCPU)
                           : Device(static_cast<DeviceType>(said.device), said.index);
  }
  bool requires_grad() const { return said.requires_grad > 0; }

 private:
  TensorOptions with(int8_t KbOptions::*field, int value) const {
    TensorOptions copy = *this;
    copy.said.*field = static_cast<int8_t>(value);
    return copy;
  }
};
template <class... A>
TensorOptions dtype(A... a) {
  return TensorOptions().dtype(a...);
}
template <class T>
TensorOptions dtype() {
  return TensorOptions().dtype<T>();
}
template <class... A>
TensorOptions device(A... a) {
  return TensorOptions().device(a...);
}
inline TensorOptions layout(Layout l) { return TensorOptions().layout(l); }
inline TensorOptions requires_grad(bool set = true) { return TensorOptions().requires_grad(set); }

// Lists

template <class T>
class ArrayRef {
 public:
  using value_type = T;
  using iterator = const T*;
  ArrayRef() = default;
  ArrayRef(const T& one) : data_(&one), size_(1) {}
  ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  ArrayRef(const T* begin, const T* end) : data_(begin), size_(static_cast<size_t>(end - begin)) {}
  template <class A>
  ArrayRef(const std::vector<T, A>& all) : data_(all.data()), size_(all.size()) {}
  template <class C, class = decltype(std::tuple_size<C>::value),
            class = std::enable_if_t<std::is_same_v<typename C::value_type, T>>>
  ArrayRef(const C& array) : data_(array.data()), size_(array.size()) {}
  template <size_t n>
  ArrayRef(const T (&all)[n]) : data_(all), size_(n) {}
  ArrayRef(const std::initializer_list<T>& all) : data_(all.begin()), size_(all.size()) {}
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& front() const { return data_[0]; }
  const T& back() const { return data_[size_ - 1]; }
  const T& operator[](size_t i) const { return data_[i]; }
  const T& at(size_t i) const {
    if (i >= size_) kb_fail("at", __FILE__, __LINE__, 'e', "ArrayRef: invalid index");
    return data_[i];
  }
  ArrayRef slice(size_t from, size_t count) const { return {data_ + from, count}; }
  ArrayRef slice(size_t from) const { return slice(from, size_ - from); }
  bool equals(ArrayRef other) const {
    bool same = size_ == other.size_;
    for (size_t i = 0; same && i < size_; ++i) same = data_[i] == other.data_[i];
    return same;
  }
  std::vector<T> vec() const { return {begin(), end()}; }
  operator std::vector<T>() const { return vec(); }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};
template <class T>
bool operator==(ArrayRef<T> a, ArrayRef<T> b) {
  return a.equals(b);
}
template <class T>
bool operator!=(ArrayRef<T> a, ArrayRef<T> b) {
  return !a.equals(b);
}
template <class T>
bool operator==(ArrayRef<T> a, const std::vector<T>& b) {
  return a.equals(b);
}
using IntArrayRef = ArrayRef<int64_t>;

// Numbers

class Tensor;
class Scalar {
 public:
  KbValue said;
  Scalar() : Scalar(int64_t{0}) {}
  template <class T, std::enable_if_t<std::is_arithmetic_v<T> || std::is_same_v<T, Half> ||
                                          std::is_same_v<T, BFloat16>,
                                      int> = 0>
  Scalar(T value) {
    said.kind = std::is_same_v<T, bool> ? 'b' : std::is_integral_v<T> ? 'i' : 'd';
    if constexpr (std::is_integral_v<T>) {
      said.i = static_cast<int64_t>(value);
    } else {
      said.d = static_cast<double>(value);
    }
  }
  bool isFloatingPoint() const { return said.kind == 'd'; }
  bool isIntegral(bool with_bool) const {
    return said.kind == 'i' || (with_bool && said.kind == 'b');
  }
  bool isBoolean() const { return said.kind == 'b'; }
  template <class T>
  T to() const {
    return isFloatingPoint() ? static_cast<T>(said.d) : static_cast<T>(said.i);
  }
  double toDouble() const { return to<double>(); }
  float toFloat() const { return to<float>(); }
  int64_t toLong() const { return to<int64_t>(); }
  int toInt() const { return to<int>(); }
  bool toBool() const { return to<bool>(); }
  Scalar operator-() const { return isFloatingPoint() ? Scalar(-said.d) : Scalar(-said.i); }
};

// Calls of operators

template <class T, size_t N>
class TensorAccessor;
template <class T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;
};
template <class T>
struct DefaultPtrTraits {
  using PtrType = T*;
};
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class I = int64_t>
class GenericPackedTensorAccessor;

namespace kb {
/// How a C++ type is told to bridge.cc.
template <class T, class = void>
struct Kind;
template <class T>
constexpr char kind_of = Kind<std::decay_t<const T>>::kind;
template <class T>
KbValue value_of(const T& value) {
  return Kind<std::decay_t<const T>>::of(value);
}
inline KbValue pointer(char kind, const void* data, size_t count = 0) {
  KbValue value;
  value.kind = kind;
  value.count = static_cast<int64_t>(count);
  value.data = data;
  return value;
}
inline KbValue integer(char kind, int64_t number) {
  KbValue value;
  value.kind = kind;
  value.i = number;
  return value;
}
inline KbValue values(IntArrayRef all) { return pointer('l', all.data(), all.size()); }

template <char k>
struct Plain {
  static constexpr char kind = k;
  template <class T>
  static KbValue of(const T& value) {
    return integer(k, static_cast<int64_t>(value));
  }
};
template <class T>
struct Kind<T, std::enable_if_t<std::is_integral_v<T>>>
    : Plain<std::is_same_v<T, bool> ? 'b' : 'i'> {};
template <class T>
struct Kind<T, std::enable_if_t<std::is_floating_point_v<T>>> {
  static constexpr char kind = 'd';
  static KbValue of(double value) { return Scalar(value).said; }
};
template <>
struct Kind<Scalar> {
  static constexpr char kind = 's';
  static KbValue of(const Scalar& value) { return value.said; }
};
template <>
struct Kind<ScalarType> : Plain<'y'> {};
template <>
struct Kind<TypeMeta> {
  static constexpr char kind = 'y';
  static KbValue of(TypeMeta meta) { return value_of(meta.type); }
};
template <>
struct Kind<MemoryFormat> : Plain<'f'> {};
template <>
struct Kind<TensorOptions> {
  static constexpr char kind = 'O';
  static KbValue of(const TensorOptions& options) { return pointer('O', &options.said); }
};
template <>
struct Kind<IntArrayRef> {
  static constexpr char kind = 'l';
  static KbValue of(IntArrayRef all) { return values(all); }
};
template <>
struct Kind<std::vector<int64_t>> : Kind<IntArrayRef> {};
template <>
struct Kind<std::initializer_list<int64_t>> : Kind<IntArrayRef> {};
template <size_t n>
struct Kind<std::array<int64_t, n>> : Kind<IntArrayRef> {};
template <>
struct Kind<ArrayRef<Tensor>> {
  static constexpr char kind = 'L';
  static KbValue of(ArrayRef<Tensor> all) { return pointer('L', all.data(), all.size()); }
};
template <>
struct Kind<std::vector<Tensor>> : Kind<ArrayRef<Tensor>> {};
template <>
struct Kind<Tensor> {
  static constexpr char kind = 't';
  static KbValue of(const Tensor& tensor) { return pointer('t', &tensor); }
};
template <>
struct Kind<std::string> {
  static constexpr char kind = 'z';
  static KbValue of(const std::string& text) { return pointer('z', text.data(), text.size()); }
};
template <>
struct Kind<const char*> {
  static constexpr char kind = 'z';
  static KbValue of(const char* text) { return pointer('z', text, std::strlen(text)); }
};
template <>
struct Kind<nullopt_t> {
  static constexpr char kind = 'n';
  static KbValue of(nullopt_t) { return {}; }
};
template <class T>
struct Kind<optional<T>> {
  static constexpr char kind = kind_of<T>;
  static KbValue of(const optional<T>& value) { return value ? value_of(*value) : KbValue(); }
};

/// An operator called with arguments of these types, found when the library is loaded.
template <class Name, class... A>
struct Site {
  static constexpr char kinds[] = {kind_of<A>..., '\0'};
  static inline void* const op = kb_find(Name::text, kinds);
};
template <class R>
struct Result;
template <>
struct Result<KbValue> {
  static KbValue of(void* op, const KbValue* values, size_t count) {
    return kb_call(
        op, values, count, [](void*, void* impl) { kb_release(impl); }, nullptr);
  }
};
template <class R, class Name, class... A>
R call(const A&... a) {
  const KbValue values[] = {value_of(a)...};
  return Result<R>::of(Site<Name, A...>::op, values, sizeof...(A));
}

/// The text that PyTorch's str() makes of values.
inline void append(std::string& to, const std::string& text) { to += text; }
inline void append(std::string& to, const char* text) { to += text; }
inline void append(std::string& to, char c) { to += c; }
template <class T>
std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, char>> append(std::string& to,
                                                                           T value) {
  if constexpr (sizeof(T) == 1 && !std::is_same_v<T, bool>) {
    to += static_cast<char>(value);
  } else {
    to += std::to_string(value);
  }
}
inline void append(std::string& to, double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%g", value);
  to += text;
}
inline void append(std::string& to, ScalarType type) { to += toString(type); }
inline void append(std::string& to, const Device& device) { to += device.str(); }
inline void append(std::string& to, DeviceType type) { to += Device(type).str(); }
inline void append(std::string& to, IntArrayRef all) {
  to += '[';
  for (size_t i = 0; i < all.size(); ++i) to += (i ? ", " : "") + std::to_string(all[i]);
  to += ']';
}
inline void append(std::string& to, TypeMeta meta);
inline void append(std::string& to, const Tensor& tensor);
template <class... A>
std::string text_of(const A&... a) {
  std::string text;
  (append(text, a), ...);
  return text;
}
template <class... A>
std::string message(const char* condition, const A&... a) {
  if constexpr (sizeof...(A) == 0) {
    return std::string("Expected ") + condition +
           " to be true, but got false.  (Could this error message be improved?  If so, please "
           "report an enhancement request to PyTorch.)";
  } else {
    return text_of(a...);
  }
}
inline ScalarType scalar_type(ScalarType type) { return type; }
}  // namespace kb

template <class... A>
std::string str(const A&... a) {
  return kb::text_of(a...);
}
template <class C>
std::basic_ostream<C>& operator<<(std::basic_ostream<C>& to, ScalarType type) {
  return to << toString(type);
}
template <class C>
std::basic_ostream<C>& operator<<(std::basic_ostream<C>& to, const Device& device) {
  return to << device.str().c_str();
}
template <class C>
std::basic_ostream<C>& operator<<(std::basic_ostream<C>& to, IntArrayRef all) {
  return to << kb::text_of(all).c_str();
}

#define KB_CHECK(KIND, CONDITION, ...)                               \
  if (C10_UNLIKELY(!(CONDITION)))                                    \
  kb_fail(__func__, __FILE__, static_cast<unsigned>(__LINE__), KIND, \
          ::c10::kb::message(#CONDITION, ##__VA_ARGS__).c_str())
#define TORCH_CHECK(CONDITION, ...) KB_CHECK('e', CONDITION, ##__VA_ARGS__)
#define TORCH_CHECK_VALUE(CONDITION, ...) KB_CHECK('v', CONDITION, ##__VA_ARGS__)
#define TORCH_CHECK_TYPE(CONDITION, ...) KB_CHECK('t', CONDITION, ##__VA_ARGS__)
#define TORCH_CHECK_INDEX(CONDITION, ...) KB_CHECK('i', CONDITION, ##__VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(CONDITION, ...) KB_CHECK('n', CONDITION, ##__VA_ARGS__)
#define AT_ERROR(...) \
  kb_fail(__func__, __FILE__, static_cast<unsigned>(__LINE__), 'e', ::c10::str(__VA_ARGS__).c_str())
#define AT_ASSERT(CONDITION)      \
  if (C10_UNLIKELY(!(CONDITION))) \
  kb_fail(__func__, __FILE__, static_cast<unsigned>(__LINE__), 'a', #CONDITION)
#define TORCH_INTERNAL_ASSERT(CONDITION, ...)                       \
  if (C10_UNLIKELY(!(CONDITION)))                                   \
  kb_fail(__func__, __FILE__, static_cast<unsigned>(__LINE__), 'a', \
          (#CONDITION "\n" + ::c10::str(__VA_ARGS__)).c_str())
#define AT_ASSERTM(CONDITION, ...) TORCH_CHECK(CONDITION, ##__VA_ARGS__)
#define TORCH_WARN(...) kb_warn(::c10::str(__VA_ARGS__).c_str())
#define TORCH_WARN_ONCE(...)                             \
  do {                                                   \
    [[maybe_unused]] static const bool kb_warned = [&] { \
      TORCH_WARN(__VA_ARGS__);                           \
      return true;                                       \
    }();                                                 \
  } while (false)

// Each is a method and a function, with the overloads and the defaults of PyTorch's table of
// operators.
// clang-format off
#define KB_TENSOR_OPERATORS(_) \
  _(abs) _(exp) _(exp2) _(expm1) _(log) _(log2) _(log10) _(log1p) _(sqrt) _(rsqrt) _(sin) _(cos) \
  _(tan) _(asin) _(acos) _(atan) _(sinh) _(cosh) _(tanh) _(sigmoid) _(relu) _(selu) _(silu) \
  _(gelu) _(elu) _(celu) _(mish) _(softplus) _(softsign) _(leaky_relu) _(hardtanh) _(relu6) \
  _(hardsigmoid) _(hardswish) _(log_sigmoid) _(prelu) _(erf) _(erfc) _(floor) _(ceil) _(round) \
  _(trunc) _(frac) _(neg) _(negative) _(sign) _(square) _(reciprocal) _(add) _(sub) _(mul) \
  _(div) _(multiply) _(subtract) _(divide) _(true_divide) _(floor_divide) _(pow) _(remainder) \
  _(fmod) _(atan2) _(addcmul) _(addcdiv) _(lerp) _(clamp) _(clamp_min) _(clamp_max) _(clip) \
  _(matmul) _(mm) _(bmm) _(mv) _(dot) _(outer) _(ger) _(addmm) _(addmv) _(baddbmm) _(sum) \
  _(nansum) _(mean) _(prod) _(std) _(var) _(norm) _(amax) _(amin) _(argmax) _(argmin) _(cumsum) \
  _(cumprod) _(softmax) _(log_softmax) _(logsumexp) _(all) _(any) _(eq) _(ne) _(lt) _(le) _(gt) \
  _(ge) _(logical_and) _(logical_or) _(logical_not) _(bitwise_and) _(bitwise_or) _(bitwise_xor) \
  _(bitwise_not) _(maximum) _(minimum) _(isnan) _(isinf) _(isfinite) _(nan_to_num) _(view) \
  _(reshape) _(permute) _(transpose) _(t) _(swapaxes) _(movedim) _(squeeze) _(unsqueeze) \
  _(expand) _(repeat) _(repeat_interleave) _(flatten) _(unflatten) _(ravel) _(slice) _(select) \
  _(narrow) _(index_select) _(gather) _(scatter) _(scatter_add) _(index_add) _(masked_fill) \
  _(masked_select) _(take) _(flip) _(roll) _(rot90) _(tril) _(triu) _(diag) _(diagonal) _(trace) \
  _(unfold) _(contiguous) _(clone) _(detach) _(expand_as) _(view_as) _(reshape_as) _(type_as) \
  _(as_strided) _(alias) _(nonzero) _(new_empty) _(new_zeros) _(new_ones) _(new_full) \
  _(empty_like) _(zeros_like) _(ones_like) _(full_like) _(rand_like) _(randn_like)
#define KB_FUNCTIONS(_) \
  _(linear) _(batch_norm) _(native_batch_norm) _(group_norm) _(instance_norm) _(where) \
  _(dropout) _(embedding) _(bilinear) _(cross_entropy_loss) _(nll_loss) _(mse_loss) _(l1_loss) \
  _(smooth_l1_loss) _(huber_loss) _(kl_div) _(binary_cross_entropy) _(cosine_similarity) \
  _(pairwise_distance) _(cosine_embedding_loss) _(triplet_margin_loss) _(hinge_embedding_loss) \
  _(glu) _(addbmm) _(cdist) _(tensordot) _(einsum) _(kron) _(cross) _(hypot) _(bincount)
#define KB_IN_PLACE(_) \
  _(abs_) _(exp_) _(log_) _(sqrt_) _(rsqrt_) _(sin_) _(cos_) _(tanh_) _(sigmoid_) _(relu_) \
  _(silu_) _(neg_) _(square_) _(reciprocal_) _(floor_) _(ceil_) _(round_) _(add_) _(sub_) \
  _(mul_) _(div_) _(pow_) _(remainder_) _(clamp_) _(clamp_min_) _(clamp_max_) _(addmm_) \
  _(addcmul_) _(addcdiv_) _(copy_) _(fill_) _(zero_) _(masked_fill_) _(index_copy_) \
  _(index_add_) _(scatter_) _(scatter_add_) _(uniform_) _(normal_) _(unsqueeze_) _(squeeze_) \
  _(transpose_) _(t_) _(resize_) _(leaky_relu_) _(hardtanh_) _(elu_) _(requires_grad_) \
  _(baddbmm_) _(erf_) _(exponential_) _(bernoulli_) _(random_) _(detach_) _(bitwise_and_)
#define KB_PAIRS(_) \
  _(topk) _(sort) _(kthvalue) _(mode) _(median) _(cummax) _(cummin) _(std_mean) _(var_mean) \
  _(aminmax)
#define KB_LISTS(_) \
  _(split) _(split_with_sizes) _(chunk) _(unbind) _(tensor_split)
#define KB_ANSWERS(_) \
  _(equal) _(allclose) _(is_nonzero)
#define KB_OTHERS(_) \
  _(adaptive_avg_pool1d) _(adaptive_avg_pool2d) _(adaptive_avg_pool3d) _(arange) _(avg_pool1d) \
  _(avg_pool2d) _(avg_pool3d) _(cat) _(constant_pad_nd) _(conv1d) _(conv2d) _(conv3d) \
  _(conv_transpose1d) _(conv_transpose2d) _(conv_transpose3d) _(convolution) _(empty) \
  _(empty_strided) _(eye) _(full) _(layer_norm) _(linspace) _(max) _(max_pool1d) _(max_pool2d) \
  _(max_pool3d) _(min) _(ones) _(pad) _(rand) _(randint) _(randn) _(randperm) _(stack) _(to) \
  _(zeros)
// clang-format on
namespace kb::names {
#define KB_NAME(NAME)                          \
  struct NAME##_n {                            \
    static constexpr const char* text = #NAME; \
  };
KB_TENSOR_OPERATORS(KB_NAME)
KB_FUNCTIONS(KB_NAME)
KB_IN_PLACE(KB_NAME)
KB_PAIRS(KB_NAME)
KB_LISTS(KB_NAME)
KB_ANSWERS(KB_NAME)
KB_OTHERS(KB_NAME)
}  // namespace kb::names

using IntList = std::initializer_list<int64_t>;

class Tensor {
 public:
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
  static Tensor taken(void* impl) { return Tensor(impl, 0); }

  bool defined() const { return impl_ != kb_undefined(); }
  void reset() { *this = Tensor(); }
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }
  int64_t size(int64_t d) const { return kb_ask(this, 'S', d); }
  int64_t stride(int64_t d) const { return kb_ask(this, 'T', d); }
  int64_t dim() const { return kb_ask(this, 'd', 0); }
  int64_t ndimension() const { return dim(); }
  int64_t numel() const { return kb_ask(this, 'n', 0); }
  IntArrayRef sizes() const { return {kb_numbers(this, 's'), static_cast<size_t>(dim())}; }
  IntArrayRef strides() const { return {kb_numbers(this, 't'), static_cast<size_t>(dim())}; }
  int64_t storage_offset() const { return kb_ask(this, 'o', 0); }
  int64_t element_size() const { return kb_ask(this, 'e', 0); }
  int64_t itemsize() const { return element_size(); }
  size_t nbytes() const { return static_cast<size_t>(kb_ask(this, 'N', 0)); }
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
    return kb_ask(this, 'c', static_cast<int64_t>(format)) != 0;
  }
  bool is_non_overlapping_and_dense() const { return kb_ask(this, 'D', 0) != 0; }
  bool is_cuda() const { return kb_ask(this, 'g', 0) != 0; }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_sparse() const { return kb_ask(this, 'p', 0) != 0; }
  bool is_floating_point() const { return isFloatingType(scalar_type()); }
  bool requires_grad() const { return kb_ask(this, 'r', 0) != 0; }
  int64_t use_count() const { return kb_ask(this, 'u', 0); }
  int64_t get_device() const { return kb_ask(this, 'G', 0); }
  ScalarType scalar_type() const { return static_cast<ScalarType>(kb_ask(this, 'y', 0)); }
  TypeMeta dtype() const { return scalar_type(); }
  Device device() const { return TensorOptions(kb_options(this)).device(); }
  Layout layout() const { return kStrided; }
  TensorOptions options() const { return TensorOptions(kb_options(this)); }
  MemoryFormat suggest_memory_format() const {
    return static_cast<MemoryFormat>(kb_ask(this, 'm', 0));
  }
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
    return data_ptr<std::remove_const_t<T>>();
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
  void set_data(const Tensor& from) const { kb_set_data(this, &from); }
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
  std::string toString() const {
    return std::string(is_cuda() ? "CUDA" : "CPU") + c10::toString(scalar_type()) + "Type";
  }

  Tensor to(const TensorOptions& options, bool async = false, bool copy = false,
            optional<MemoryFormat> format = nullopt) const {
    return kb::call<Tensor, kb::names::to_n>(*this, options, async, copy, format);
  }
  Tensor to(ScalarType type, bool async = false, bool copy = false,
            optional<MemoryFormat> format = nullopt) const {
    return kb::call<Tensor, kb::names::to_n>(*this, type, async, copy, format);
  }
  Tensor to(TypeMeta type, bool async = false, bool copy = false) const {
    return to(type.type, async, copy);
  }
  Tensor to(Device device, ScalarType type, bool async = false, bool copy = false) const {
    return to(TensorOptions(device).dtype(type), async, copy);
  }
  Tensor to(const Tensor& like, bool async = false, bool copy = false) const {
    return kb::call<Tensor, kb::names::to_n>(*this, like, async, copy);
  }
  Tensor cuda() const { return to(kCUDA); }
  Tensor cpu() const { return to(kCPU); }
  Tensor toType(ScalarType type) const { return to(type); }

#define KB_METHOD(R, NAME)                                                    \
  template <class... A>                                                       \
  R NAME(const A&... a) const {                                               \
    return kb::call<std::decay_t<R>, kb::names::NAME##_n>(*this, a...);       \
  }                                                                           \
  template <class... A>                                                       \
  R NAME(IntList list, const A&... a) const {                                 \
    return kb::call<std::decay_t<R>, kb::names::NAME##_n>(*this, list, a...); \
  }
#define KB_CHANGES(NAME)                                 \
  template <class... A>                                  \
  Tensor& NAME(const A&... a) const {                    \
    kb::call<KbValue, kb::names::NAME##_n>(*this, a...); \
    return const_cast<Tensor&>(*this);                   \
  }
#define KB_TENSOR_METHOD(NAME) KB_METHOD(Tensor, NAME)
  KB_TENSOR_OPERATORS(KB_TENSOR_METHOD)
  KB_IN_PLACE(KB_CHANGES)
  using Pair = std::tuple<Tensor, Tensor>;
#define KB_PAIR_METHOD(NAME) KB_METHOD(Pair, NAME)
  KB_PAIRS(KB_PAIR_METHOD)
#define KB_LIST_METHOD(NAME) KB_METHOD(std::vector<Tensor>, NAME)
  KB_LISTS(KB_LIST_METHOD)
#define KB_ANSWER_METHOD(NAME) KB_METHOD(bool, NAME)
  KB_ANSWERS(KB_ANSWER_METHOD)
  Tensor max() const { return kb::call<Tensor, kb::names::max_n>(*this); }
  Tensor max(const Tensor& other) const { return kb::call<Tensor, kb::names::max_n>(*this, other); }
  Pair max(int64_t dim, bool keep = false) const {
    return kb::call<Pair, kb::names::max_n>(*this, dim, keep);
  }
  Tensor min() const { return kb::call<Tensor, kb::names::min_n>(*this); }
  Tensor min(const Tensor& other) const { return kb::call<Tensor, kb::names::min_n>(*this, other); }
  Pair min(int64_t dim, bool keep = false) const {
    return kb::call<Pair, kb::names::min_n>(*this, dim, keep);
  }

  Tensor norm(const Scalar& p, IntList dims, bool keep = false) const {
    return kb::call<Tensor, kb::names::norm_n>(*this, p, dims, keep);
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
  Tensor(void* impl, int) : impl_(impl) {}
  void* impl_;
};
using TensorList = ArrayRef<Tensor>;
using OptionalTensorRef = optional<Tensor>;

namespace kb {
template <>
struct Result<Tensor> {
  static Tensor of(void* op, const KbValue* values, size_t count) {
    Tensor result;
    kb_call(
        op, values, count,
        [](void* to, void* impl) { *static_cast<Tensor*>(to) = Tensor::taken(impl); }, &result);
    return result;
  }
};
template <>
struct Result<std::vector<Tensor>> {
  static std::vector<Tensor> of(void* op, const KbValue* values, size_t count) {
    std::vector<Tensor> result;
    kb_call(
        op, values, count,
        [](void* to, void* impl) {
          static_cast<std::vector<Tensor>*>(to)->push_back(Tensor::taken(impl));
        },
        &result);
    return result;
  }
};
template <>
struct Result<Tensor::Pair> {
  static Tensor::Pair of(void* op, const KbValue* values, size_t count) {
    auto all = Result<std::vector<Tensor>>::of(op, values, count);
    return {all.at(0), all.at(1)};
  }
};
template <>
struct Result<bool> {
  static bool of(void* op, const KbValue* values, size_t count) {
    return Result<KbValue>::of(op, values, count).i != 0;
  }
};
inline ScalarType scalar_type(const Tensor::Type& type) { return type.scalarType(); }
inline void append(std::string& to, TypeMeta meta) { to += toString(meta.type); }
inline void append(std::string& to, const Tensor& tensor) {
  char* text = kb_text(&tensor);
  to += text;
  kb_free(text);
}
}  // namespace kb
template <class C>
std::basic_ostream<C>& operator<<(std::basic_ostream<C>& to, const Tensor& tensor) {
  return to << kb::text_of(tensor).c_str();
}

#define KB_FUNCTION(R, NAME)                                \
  template <class... A>                                     \
  R NAME(const Tensor& x, const A&... a) {                  \
    return kb::call<R, kb::names::NAME##_n>(x, a...);       \
  }                                                         \
  template <class... A>                                     \
  R NAME(const Tensor& x, IntList list, const A&... a) {    \
    return kb::call<R, kb::names::NAME##_n>(x, list, a...); \
  }
#define KB_TENSOR_FUNCTION(NAME)                                    \
  KB_FUNCTION(Tensor, NAME)                                         \
  template <class... A>                                             \
  Tensor& NAME##_out(Tensor& out, const Tensor& x, const A&... a) { \
    kb::call<KbValue, kb::names::NAME##_n>(x, a..., kb::Out{out});  \
    return out;                                                     \
  }
namespace kb {
struct Out {
  const Tensor& tensor;
};
template <>
struct Kind<Out> {
  static constexpr char kind = 'o';
  static KbValue of(const Out& out) { return pointer('t', &out.tensor); }
};
}  // namespace kb
KB_TENSOR_OPERATORS(KB_TENSOR_FUNCTION)
KB_FUNCTIONS(KB_TENSOR_FUNCTION)
#define KB_CHANGING_FUNCTION(NAME)               \
  template <class... A>                          \
  Tensor& NAME(const Tensor& x, const A&... a) { \
    return x.NAME(a...);                         \
  }
KB_IN_PLACE(KB_CHANGING_FUNCTION)
#define KB_PAIR_FUNCTION(NAME) KB_FUNCTION(Tensor::Pair, NAME)
KB_PAIRS(KB_PAIR_FUNCTION)
#define KB_LIST_FUNCTION(NAME) KB_FUNCTION(std::vector<Tensor>, NAME)
KB_LISTS(KB_LIST_FUNCTION)
#define KB_ANSWER_FUNCTION(NAME) KB_FUNCTION(bool, NAME)
KB_ANSWERS(KB_ANSWER_FUNCTION)
inline Tensor norm(const Tensor& x, const Scalar& p, IntList dims, bool keep = false) {
  return x.norm(p, dims, keep);
}
template <class... A>
auto max(const Tensor& x, const A&... a) {
  return x.max(a...);
}
template <class... A>
auto min(const Tensor& x, const A&... a) {
  return x.min(a...);
}
inline Tensor cat(TensorList all, int64_t dim = 0) {
  return kb::call<Tensor, kb::names::cat_n>(all, dim);
}
inline Tensor stack(TensorList all, int64_t dim = 0) {
  return kb::call<Tensor, kb::names::stack_n>(all, dim);
}
inline Tensor layer_norm(const Tensor& x, IntArrayRef shape, const optional<Tensor>& weight = {},
                         const optional<Tensor>& bias = {}, double eps = 1e-5, bool fast = true) {
  return kb::call<Tensor, kb::names::layer_norm_n>(x, shape, weight, bias, eps, fast);
}
#define KB_CONVOLUTION(NAME, DIMS)                                                                 \
  inline Tensor conv##NAME(const Tensor& x, const Tensor& weight,                                  \
                           const optional<Tensor>& bias = {}, IntArrayRef stride = 1,              \
                           IntArrayRef padding = 0, IntArrayRef dilation = 1,                      \
                           int64_t groups = 1) {                                                   \
    return kb::call<Tensor, kb::names::conv##NAME##_n>(x, weight, bias, stride, padding, dilation, \
                                                       groups);                                    \
  }                                                                                                \
  inline Tensor conv_transpose##NAME(const Tensor& x, const Tensor& weight,                        \
                                     const optional<Tensor>& bias = {}, IntArrayRef stride = 1,    \
                                     IntArrayRef padding = 0, IntArrayRef output_padding = 0,      \
                                     int64_t groups = 1, IntArrayRef dilation = 1) {               \
    return kb::call<Tensor, kb::names::conv_transpose##NAME##_n>(                                  \
        x, weight, bias, stride, padding, output_padding, groups, dilation);                       \
  }                                                                                                \
  inline Tensor max_pool##NAME(const Tensor& x, IntArrayRef kernel, IntArrayRef stride = {},       \
                               IntArrayRef padding = 0, IntArrayRef dilation = 1,                  \
                               bool ceil = false) {                                                \
    return kb::call<Tensor, kb::names::max_pool##NAME##_n>(x, kernel, stride, padding, dilation,   \
                                                           ceil);                                  \
  }                                                                                                \
  inline Tensor adaptive_avg_pool##NAME(const Tensor& x, IntArrayRef size) {                       \
    return kb::call<Tensor, kb::names::adaptive_avg_pool##NAME##_n>(x, size);                      \
  }                                                                                                \
  inline Tensor avg_pool##NAME(const Tensor& x, IntArrayRef kernel, IntArrayRef stride = {},       \
                               IntArrayRef padding = 0, bool ceil = false,                         \
                               bool count_padding = true) {                                        \
    return kb::call<Tensor, kb::names::avg_pool##NAME##_n>(x, kernel, stride, padding, ceil,       \
                                                           count_padding);                         \
  }
KB_CONVOLUTION(1d, 1)
KB_CONVOLUTION(2d, 2)
KB_CONVOLUTION(3d, 3)
inline Tensor convolution(const Tensor& x, const Tensor& weight, const optional<Tensor>& bias,
                          IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                          bool transposed, IntArrayRef output_padding, int64_t groups) {
  return kb::call<Tensor, kb::names::convolution_n>(x, weight, bias, stride, padding, dilation,
                                                    transposed, output_padding, groups);
}
inline Tensor constant_pad_nd(const Tensor& x, IntArrayRef padding, const Scalar& value = 0) {
  return kb::call<Tensor, kb::names::constant_pad_nd_n>(x, padding, value);
}
inline Tensor pad(const Tensor& x, IntArrayRef padding, const std::string& mode = "constant",
                  optional<double> value = {}) {
  return kb::call<Tensor, kb::names::pad_n>(x, padding, mode, value);
}

namespace kb {
inline Tensor with_grad(Tensor made, const TensorOptions& options) {
  if (options.requires_grad()) made.set_requires_grad(true);
  return made;
}
}  // namespace kb
#define KB_FACTORY(NAME)                                                                 \
  inline Tensor NAME(IntArrayRef size, const TensorOptions& options = {}) {              \
    return kb::with_grad(kb::call<Tensor, kb::names::NAME##_n>(size, options), options); \
  }
KB_FACTORY(zeros)
KB_FACTORY(ones)
KB_FACTORY(rand)
KB_FACTORY(randn)
inline Tensor empty(IntArrayRef size, const TensorOptions& options = {},
                    optional<MemoryFormat> format = nullopt) {
  if (!format && options.said.memory_format >= 0) {
    format = static_cast<MemoryFormat>(options.said.memory_format);
  }
  return kb::with_grad(kb::call<Tensor, kb::names::empty_n>(size, options, format), options);
}
inline Tensor full(IntArrayRef size, const Scalar& value, const TensorOptions& options = {}) {
  return kb::call<Tensor, kb::names::full_n>(size, value, options);
}
inline Tensor empty_strided(IntArrayRef size, IntArrayRef stride, const TensorOptions& o = {}) {
  return kb::call<Tensor, kb::names::empty_strided_n>(size, stride, o);
}
inline Tensor arange(const Scalar& end, const TensorOptions& o = {}) {
  return kb::call<Tensor, kb::names::arange_n>(end, o);
}
inline Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& o = {}) {
  return kb::call<Tensor, kb::names::arange_n>(start, end, o);
}
inline Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
                     const TensorOptions& o = {}) {
  return kb::call<Tensor, kb::names::arange_n>(start, end, step, o);
}
inline Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps,
                       const TensorOptions& o = {}) {
  return kb::call<Tensor, kb::names::linspace_n>(start, end, steps, o);
}
inline Tensor eye(int64_t n, const TensorOptions& o = {}) {
  return kb::call<Tensor, kb::names::eye_n>(n, o);
}
inline Tensor randint(int64_t low, int64_t high, IntArrayRef size, const TensorOptions& o = {}) {
  return kb::call<Tensor, kb::names::randint_n>(low, high, size, o);
}
inline Tensor randint(int64_t high, IntArrayRef size, const TensorOptions& o = {}) {
  return kb::call<Tensor, kb::names::randint_n>(high, size, o);
}
inline Tensor randperm(int64_t n, const TensorOptions& o = TensorOptions(kLong)) {
  return kb::call<Tensor, kb::names::randperm_n>(n, o);
}
inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                        const TensorOptions& options = {}) {
  const KbValue given[] = {kb::values(sizes), kb::values(strides)};
  Tensor result;
  kb_from_blob(&result, data, &given[0], &given[1], options.said);
  return result;
}
inline Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {}) {
  const KbValue given = kb::values(sizes);
  Tensor result;
  kb_from_blob(&result, data, &given, nullptr, options.said);
  return result;
}
namespace kb {
template <class T>
Tensor tensor_of(const T* data, size_t count, bool is_list, const TensorOptions& options) {
  std::vector<KbValue> all(1, pointer(is_list ? 'l' : 's', nullptr, count));
  all[0].i = static_cast<int64_t>(CppTypeToScalarType<T>::value);
  for (size_t i = 0; i < count; ++i) all.push_back(Scalar(data[i]).said);
  Tensor result;
  kb_tensor_of(&result, all.data(), options.said);
  return with_grad(result, options);
}
}  // namespace kb
template <class T, class = typename std::enable_if_t<std::is_arithmetic_v<T>>>
Tensor tensor(T value, const TensorOptions& options = {}) {
  return kb::tensor_of(&value, 1, false, options);
}
template <class T>
Tensor tensor(std::initializer_list<T> all, const TensorOptions& options = {}) {
  return kb::tensor_of(all.begin(), all.size(), true, options);
}
template <class T>
Tensor tensor(const std::vector<T>& all, const TensorOptions& options = {}) {
  return kb::tensor_of(all.data(), all.size(), true, options);
}
template <class T>
Tensor tensor(ArrayRef<T> all, const TensorOptions& options = {}) {
  return kb::tensor_of(all.data(), all.size(), true, options);
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
#undef KB_OPERATOR

// Accessors

template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class I = int64_t>
class AccessorPart {
 public:
  using Pointer = typename Traits<T>::PtrType;
  C10_HOST_DEVICE AccessorPart(Pointer data, const I* sizes, const I* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  C10_HOST_DEVICE decltype(auto) operator[](I i) const {
    if constexpr (N == 1) {
      return static_cast<T&>(data_[strides_[0] * i]);
    } else {
      return AccessorPart<T, N - 1, Traits, I>(data_ + strides_[0] * i, sizes_ + 1, strides_ + 1);
    }
  }
  C10_HOST_DEVICE I size(I i) const { return sizes_[i]; }
  C10_HOST_DEVICE I stride(I i) const { return strides_[i]; }
  C10_HOST_DEVICE Pointer data() const { return data_; }

 private:
  Pointer data_;
  const I *sizes_, *strides_;
};
template <class T, size_t N>
class TensorAccessor : public AccessorPart<T, N> {
 public:
  using AccessorPart<T, N>::AccessorPart;
};
template <class T, size_t N, template <class> class Traits, class I>
class GenericPackedTensorAccessor {
 public:
  using Pointer = typename Traits<T>::PtrType;
  GenericPackedTensorAccessor(Pointer data, const int64_t* sizes, const int64_t* strides)
      : data_(data) {
    for (size_t i = 0; i < N; ++i) {
      sizes_[i] = static_cast<I>(sizes[i]);
      strides_[i] = static_cast<I>(strides[i]);
    }
  }
  C10_HOST_DEVICE decltype(auto) operator[](I i) const {
    return AccessorPart<T, N, Traits, I>(data_, sizes_, strides_)[i];
  }
  C10_HOST_DEVICE I size(I i) const { return sizes_[i]; }
  C10_HOST_DEVICE I stride(I i) const { return strides_[i]; }
  C10_HOST_DEVICE Pointer data() const { return data_; }

 private:
  Pointer data_;
  I sizes_[N], strides_[N];
};
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, Traits, int32_t>;
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, Traits, int64_t>;
template <class T, size_t N>
TensorAccessor<T, N> Tensor::accessor() const {
  TORCH_CHECK(dim() == N, "TensorAccessor expected ", N, " dims but tensor has ", dim());
  return {data_ptr<T>(), sizes().data(), strides().data()};
}
template <class T, size_t N, template <class> class Traits, class I>
GenericPackedTensorAccessor<T, N, Traits, I> Tensor::generic_packed_accessor() const {
  TORCH_CHECK(dim() == N, "TensorAccessor expected ", N, " dims but tensor has ", dim());
  return {data_ptr<T>(), sizes().data(), strides().data()};
}

struct AutoGradMode {
  AutoGradMode(bool enabled) : before_(kb_grad_mode(enabled)) {}
  ~AutoGradMode() { kb_grad_mode(before_); }
  AutoGradMode(const AutoGradMode&) = delete;

 private:
  int64_t before_;
};
struct NoGradGuard : AutoGradMode {
  NoGradGuard() : AutoGradMode(false) {}
};
class DeviceGuard {  // Of CUDA's devices; of the CPU there is one.
 public:
  explicit DeviceGuard(Device device) { set_device(device); }
  DeviceGuard(const DeviceGuard&) = delete;
  ~DeviceGuard() {
    if (before_ >= 0) kb_device(before_);
  }
  void set_device(Device device) {
    if (!device.is_cuda()) return;
    const int64_t now = kb_device(device.index());
    if (before_ < 0) before_ = now;
  }

 protected:
  DeviceGuard() = default;
  int64_t before_ = -1;
};
class OptionalDeviceGuard : public DeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(optional<Device> device) {
    if (device) set_device(*device);
  }
  void reset_device(Device device) { set_device(device); }
};
inline optional<Device> device_of(const Tensor& tensor) {
  return tensor.defined() ? make_optional(tensor.device()) : nullopt;
}
template <class T>
constexpr C10_HOST_DEVICE T CeilDiv(T a, T b) {
  return (a + b - 1) / b;
}

}  // namespace kbench
}  // namespace c10

#define KB_LIMITS(TYPE, LOWEST, LEAST, MOST, EPSILON, ROUND, INFINITE, NAN_, DENORM, DIGITS) \
  template <>                                                                                \
  struct std::numeric_limits<c10::TYPE> : std::numeric_limits<float> {                       \
    static constexpr int digits = DIGITS;                                                    \
    static constexpr C10_HOST_DEVICE c10::TYPE bits(unsigned short b) {                      \
      return c10::TYPE(b, c10::from_bits_t());                                               \
    }                                                                                        \
    static constexpr C10_HOST_DEVICE c10::TYPE min() { return bits(LEAST); }                 \
    static constexpr C10_HOST_DEVICE c10::TYPE lowest() { return bits(LOWEST); }             \
    static constexpr C10_HOST_DEVICE c10::TYPE max() { return bits(MOST); }                  \
    static constexpr C10_HOST_DEVICE c10::TYPE epsilon() { return bits(EPSILON); }           \
    static constexpr C10_HOST_DEVICE c10::TYPE round_error() { return bits(ROUND); }         \
    static constexpr C10_HOST_DEVICE c10::TYPE infinity() { return bits(INFINITE); }         \
    static constexpr C10_HOST_DEVICE c10::TYPE quiet_NaN() { return bits(NAN_); }            \
    static constexpr C10_HOST_DEVICE c10::TYPE denorm_min() { return bits(DENORM); }         \
  };
KB_LIMITS(Half, 0xfbff, 0x0400, 0x7bff, 0x1400, 0x3800, 0x7c00, 0x7e00, 1, 11)
KB_LIMITS(BFloat16, 0xff7f, 0x0080, 0x7f7f, 0x3c00, 0x3f00, 0x7f80, 0x7fc0, 1, 8)
#undef KB_LIMITS

namespace caffe2 {
using c10::TypeMeta;
}
namespace at {
using namespace c10;
namespace indexing {}
}  // namespace at
namespace torch {
using namespace at;
using Dtype = c10::ScalarType;
namespace autograd {}
}  // namespace torch

// Dispatch

// clang-format off
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...) \
  [&] { \
    const auto& the_type = TYPE; \
    constexpr const char* at_dispatch_name = NAME; \
    const at::ScalarType _st = ::c10::kb::scalar_type(the_type); \
    switch (_st) { \
      __VA_ARGS__ \
      default: \
        kb_no_dispatch(at_dispatch_name, static_cast<int8_t>(_st)); \
    } \
  }()
#define AT_PRIVATE_CASE_TYPE_USING_HINT(TYPE, HINT, ...) \
  case TYPE: { \
    using HINT [[maybe_unused]] = c10::impl::ScalarTypeToCPPTypeT<TYPE>; \
    return __VA_ARGS__(); \
  }
#define AT_DISPATCH_CASE(TYPE, ...) AT_PRIVATE_CASE_TYPE_USING_HINT(TYPE, scalar_t, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES(...) \
  AT_DISPATCH_CASE(at::ScalarType::Double, __VA_ARGS__) \
  AT_DISPATCH_CASE(at::ScalarType::Float, __VA_ARGS__)
#define AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(...) \
  AT_DISPATCH_CASE(at::ScalarType::Half, __VA_ARGS__) \
  AT_DISPATCH_CASE(at::ScalarType::BFloat16, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...) \
  AT_DISPATCH_CASE(at::ScalarType::Byte, __VA_ARGS__) \
  AT_DISPATCH_CASE(at::ScalarType::Char, __VA_ARGS__) \
  AT_DISPATCH_CASE(at::ScalarType::Int, __VA_ARGS__) \
  AT_DISPATCH_CASE(at::ScalarType::Long, __VA_ARGS__) \
  AT_DISPATCH_CASE(at::ScalarType::Short, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...) \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) \
  AT_DISPATCH_CASE(at::ScalarType::Half, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND(T1, ...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(T1, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND2(T1, T2, ...) \
  AT_DISPATCH_CASE_FLOATING_TYPES_AND(T1, __VA_ARGS__) AT_DISPATCH_CASE(T2, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND3(T1, T2, T3, ...) \
  AT_DISPATCH_CASE_FLOATING_TYPES_AND2(T1, T2, __VA_ARGS__) AT_DISPATCH_CASE(T3, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND4(T1, T2, T3, T4, ...) \
  AT_DISPATCH_CASE_FLOATING_TYPES_AND3(T1, T2, T3, __VA_ARGS__) AT_DISPATCH_CASE(T4, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND(T1, ...) \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(T1, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND2(T1, T2, ...) \
  AT_DISPATCH_CASE_ALL_TYPES_AND(T1, __VA_ARGS__) AT_DISPATCH_CASE(T2, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND3(T1, T2, T3, ...) \
  AT_DISPATCH_CASE_ALL_TYPES_AND2(T1, T2, __VA_ARGS__) AT_DISPATCH_CASE(T3, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND4(T1, T2, T3, T4, ...) \
  AT_DISPATCH_CASE_ALL_TYPES_AND3(T1, T2, T3, __VA_ARGS__) AT_DISPATCH_CASE(T4, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES_AND(T1, ...) \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(T1, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(T1, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES_AND(T1, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(T1, T2, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES_AND2(T1, T2, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND3(T1, T2, T3, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES_AND3(T1, T2, T3, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND4(T1, T2, T3, T4, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES_AND4(T1, T2, T3, T4, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(T1, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES_AND(T1, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(T1, T2, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES_AND2(T1, T2, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND3(T1, T2, T3, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES_AND3(T1, T2, T3, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND4(T1, T2, T3, T4, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES_AND4(T1, T2, T3, T4, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES_AND(T1, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_INTEGRAL_TYPES_AND(T1, __VA_ARGS__))
// clang-format on
