// Vectors of the widest registers of the instruction set being compiled, as GCC and Clang offer
// them: + - * / and comparisons act on all lanes.
#pragma once

#include <stdint.h>

namespace kbench::reference::KBENCH_ISA {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

template <class T>
struct Lanes {
  static constexpr int count = kVectorBytes / sizeof(T);
  typedef T Vector __attribute__((vector_size(kVectorBytes)));
  typedef T Unaligned __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
};
template <class T>
using Vector = typename Lanes<T>::Vector;

template <class T>
inline Vector<T> load(const T* p) {
  return *reinterpret_cast<const typename Lanes<T>::Unaligned*>(p);
}
template <class T>
inline void store(T* p, Vector<T> v) {
  *reinterpret_cast<typename Lanes<T>::Unaligned*>(p) = v;
}
template <class T>
inline Vector<T> fill(T value) {
  return value - Vector<T>{};
}

/// Loads as many elements as a vector of doubles has lanes, converted to double.
constexpr int kDoubles = Lanes<double>::count;
inline Vector<double> load_doubles(const double* p) { return load(p); }
inline Vector<double> load_doubles(const float* p) {
  typedef float Half __attribute__((vector_size(kVectorBytes / 2), aligned(4), may_alias));
  return __builtin_convertvector(*reinterpret_cast<const Half*>(p), Vector<double>);
}

template <class T>
inline T sum_of_lanes(Vector<T> v) {
  T sum = 0;
  for (int i = 0; i < Lanes<T>::count; ++i) sum += v[i];
  return sum;
}
template <class T>
inline T max_of_lanes(Vector<T> v) {
  T max = v[0];
  for (int i = 1; i < Lanes<T>::count; ++i) max = v[i] > max ? v[i] : max;
  return max;
}

/// The numbers 0 ... n - 1 as a pack, for shuffles and tables.
template <int...>
struct Numbers {};
template <int n, int... rest>
struct CountDown : CountDown<n - 1, n - 1, rest...> {};
template <int... all>
struct CountDown<0, all...> {
  using type = Numbers<all...>;
};
template <int n>
using UpTo = typename CountDown<n>::type;

}  // namespace kbench::reference::KBENCH_ISA
