// Lists that are not owned, and numbers of any type.
#pragma once

#include "kbench_half.h"

namespace c10::kbench {

template <class T>
class ArrayRef {
 public:
  using value_type = T;
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
template <class T, class List>
bool operator==(ArrayRef<T> a, const List& b) {
  return a.equals(b);
}
template <class T, class List>
bool operator!=(ArrayRef<T> a, const List& b) {
  return !a.equals(b);
}
using IntArrayRef = ArrayRef<int64_t>;
using IntList = std::initializer_list<int64_t>;

class Scalar {
 public:
  /// 'b'ool, 'i'nteger or 'd'ouble.
  template <class T>
  static constexpr char kind_of = std::is_same_v<T, bool> ? 'b'
                                  : std::is_integral_v<T> ? 'i'
                                                          : 'd';
  KbValue said;
  Scalar() : Scalar(int64_t{0}) {}
  template <class T, std::enable_if_t<std::is_arithmetic_v<T> || std::is_same_v<T, Half> ||
                                          std::is_same_v<T, BFloat16>,
                                      int> = 0>
  Scalar(T value) {
    said.kind = kind_of<T>;
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

}  // namespace c10::kbench
