// Calls of PyTorch's operators by name, with arguments of C++ types.
#pragma once

#include "kbench_options.h"
#include "kbench_values.h"

namespace c10::kbench {
class Tensor;

namespace kb {
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

struct Out {  ///< the tensor that an operator writes to
  const Tensor& tensor;
};

/// How a C++ type is told to bridge.cc.
template <class T, class = void>
struct Kind;
#define KB_KIND(KIND, TYPE, VALUE)                     \
  template <>                                          \
  struct Kind<TYPE> {                                  \
    static constexpr char kind = KIND;                 \
    static KbValue of(TYPE const& x) { return VALUE; } \
  };
KB_KIND('s', Scalar, x.said)
KB_KIND('y', ScalarType, integer('y', static_cast<int64_t>(x)))
KB_KIND('y', TypeMeta, integer('y', static_cast<int64_t>(x.type)))
KB_KIND('f', MemoryFormat, integer('f', static_cast<int64_t>(x)))
KB_KIND('O', TensorOptions, pointer('O', &x.said))
KB_KIND('l', IntArrayRef, values(x))
KB_KIND('l', IntList, values(x))
KB_KIND('l', std::vector<int64_t>, values(x))
KB_KIND('t', Tensor, pointer('t', &x))
KB_KIND('o', Out, pointer('t', &x.tensor))
KB_KIND('L', ArrayRef<Tensor>, pointer('L', x.data(), x.size()))
KB_KIND('L', std::vector<Tensor>, pointer('L', x.data(), x.size()))
KB_KIND('z', std::string, pointer('z', x.data(), x.size()))
KB_KIND('z', const char*, pointer('z', x, std::strlen(x)))
KB_KIND('n', nullopt_t, (static_cast<void>(x), KbValue()))
template <class T>
struct Kind<T, std::enable_if_t<std::is_arithmetic_v<T>>> {
  static constexpr char kind = Scalar::kind_of<T>;
  static KbValue of(T value) { return Scalar(value).said; }
};
template <size_t n>
struct Kind<std::array<int64_t, n>> : Kind<IntArrayRef> {};
template <class T>
struct Kind<optional<T>> {
  static constexpr char kind = Kind<T>::kind;
  static KbValue of(const optional<T>& value) { return value ? Kind<T>::of(*value) : KbValue(); }
};
template <class T>
using KindOf = Kind<std::decay_t<const T>>;

/// An operator called with arguments of these types, found when the library is loaded.
template <class Name, class... A>
struct Site {
  static constexpr char kinds[] = {KindOf<A>::kind..., '\0'};
  static inline void* const op = kb_find(Name::text(), kinds);
};
/// Calls the operator, and makes an R of the tensors that it returns.
template <class R>
R result_of(void* op, const KbValue* values);
template <class R, class Name, class... A>
R call(const A&... a) {
  const KbValue values[] = {KindOf<A>::of(a)...};
  return result_of<R>(Site<Name, A...>::op, values);
}
}  // namespace kb

/// The type `Name`, for kb::call() of aten::NAME.
#define KB_NAME(NAME)                                     \
  struct Name {                                           \
    static constexpr const char* text() { return #NAME; } \
  }

}  // namespace c10::kbench
