// Types, devices, and the options that tensors are made with.
#pragma once

#include "kbench_half.h"

namespace c10::kbench {

// Each has a type of C++, and a number of PyTorch. That of what is undefined changes from version
// to version.
// clang-format off
#define KB_SCALAR_TYPES(_) \
  _(uint8_t, Byte, 0) _(int8_t, Char, 1) _(int16_t, Short, 2) _(int, Int, 3) _(int64_t, Long, 4) \
  _(Half, Half, 5) _(float, Float, 6) _(double, Double, 7) _(bool, Bool, 11) \
  _(BFloat16, BFloat16, 15)
// clang-format on
#define KB_ENUMERATOR(TYPE, NAME, NUMBER) NAME = NUMBER,
enum class ScalarType : int8_t { KB_SCALAR_TYPES(KB_ENUMERATOR) Undefined = -1 };
namespace impl {
template <ScalarType>
struct ScalarTypeToCPPType;
template <ScalarType t>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<t>::type;
}  // namespace impl
template <class T>
struct CppTypeToScalarType;
#define KB_CORRESPOND(TYPE, NAME, NUMBER)                 \
  constexpr ScalarType k##NAME = ScalarType::NAME;        \
  template <>                                             \
  struct impl::ScalarTypeToCPPType<ScalarType::NAME> {    \
    using type = TYPE;                                    \
  };                                                      \
  template <>                                             \
  struct CppTypeToScalarType<TYPE> {                      \
    static constexpr ScalarType value = ScalarType::NAME; \
  };
KB_SCALAR_TYPES(KB_CORRESPOND)
template <>
struct CppTypeToScalarType<long long> : CppTypeToScalarType<int64_t> {};
constexpr auto kUInt8 = kByte, kInt8 = kChar, kInt16 = kShort, kInt32 = kInt, kInt64 = kLong,
               kFloat16 = kHalf, kFloat32 = kFloat, kFloat64 = kDouble;
inline const char* toString(ScalarType type) { return kb_dtype_name(static_cast<int8_t>(type)); }
inline size_t elementSize(ScalarType type) { return kb_dtype_bytes(static_cast<int8_t>(type)); }
inline bool isFloatingType(ScalarType t) {
  return t == kHalf || t == kFloat || t == kDouble || t == kBFloat16;
}
inline bool isIntegralType(ScalarType t, bool with_bool = false) {
  return t <= kLong || (with_bool && t == kBool);
}

struct TypeMeta {  // caffe2's: what dtype() returns
  ScalarType type = ScalarType::Undefined;
  TypeMeta() = default;
  TypeMeta(ScalarType t) : type(t) {}
  size_t itemsize() const { return elementSize(type); }
  ScalarType toScalarType() const { return type; }
  operator ScalarType() const { return type; }
};
inline ScalarType typeMetaToScalarType(TypeMeta meta) { return meta.type; }

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
    return with(&KbOptions::memory_format, static_cast<int>(format));
  }
  TypeMeta dtype() const {
    return static_cast<ScalarType>(said.dtype < 0 ? kb_default_dtype() : said.dtype);
  }
  Device device() const {
    return said.device < 0 ? kCPU : Device(static_cast<DeviceType>(said.device), said.index);
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

}  // namespace c10::kbench
