// Conversion of elements from one type to another.
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "reference/arrays.h"
#include "reference/call.h"

namespace kbench::reference {
namespace {

template <class T>
constexpr bool kIs16Bits = std::is_same_v<T, Eigen::half> || std::is_same_v<T, Eigen::bfloat16>;

/// As the operator's formula says; what fits nowhere ends at the type's nearest number.
template <class To, class From>
To converted(From x) {
  if constexpr (kIs16Bits<From>) {
    return converted<To>(static_cast<float>(x));
  } else if constexpr (kIs16Bits<To>) {
    return To(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    using Limits = std::numeric_limits<To>;
    if (std::isnan(x)) return 0;
    if (x <= static_cast<From>(Limits::min())) return Limits::min();
    if (x >= static_cast<From>(Limits::max())) return Limits::max();
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

/// Calls f.operator()<T>() with T the type of the elements.
template <class F>
void with_element(DType dtype, F f) {
  switch (dtype) {
    case DType::f32:
      return f.template operator()<float>();
    case DType::f64:
      return f.template operator()<double>();
    case DType::i64:
      return f.template operator()<int64_t>();
    case DType::boolean:
      return f.template operator()<bool>();
    case DType::f16:
      return f.template operator()<Eigen::half>();
    case DType::bf16:
      return f.template operator()<Eigen::bfloat16>();
    case DType::i32:
      return f.template operator()<int32_t>();
    case DType::u32:
      return f.template operator()<uint32_t>();
    case DType::u8:
      return f.template operator()<uint8_t>();
  }
}

}  // namespace

void run_cast(const OperatorCall&, Inputs in, Outputs out) {
  with_element(in[0].dtype(), [&]<class From>() {
    with_element(out[0].dtype(), [&]<class To>() {
      const auto* x = reinterpret_cast<const From*>(in[0].raw());
      auto* y = reinterpret_cast<To*>(out[0].raw());
      parallel_blocks(out[0].elements(), kWorthwhile, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) y[i] = converted<To>(x[i]);
      });
    });
  });
}

}  // namespace kbench::reference
