// Kernels over contiguous rows: sums and moments in double, softmax terms, products, scans.
#pragma once

#include "reference/simd/kernels.h"
#include "reference/simd/math.h"
#include "reference/simd/vector.h"

namespace kbench::reference::KBENCH_ISA {

/// A vector of T added to as many vectors of doubles as hold its lanes.
inline void add_lanes(Vector<double> v, Vector<double>* sums) { sums[0] += v; }
inline void add_lanes(Vector<float> v, Vector<double>* sums) {
  typedef float Half __attribute__((vector_size(kVectorBytes / 2)));
  Half halves[2];
  __builtin_memcpy(halves, &v, sizeof v);
  for (int i = 0; i < 2; ++i) sums[i] += __builtin_convertvector(halves[i], Vector<double>);
}

/// What a sum adds up: elements, or their squares.
struct Itself {
  template <class V>
  static V of(V v) {
    return v;
  }
};
struct Squared {
  template <class V>
  static V of(V v) {
    return v * v;
  }
};

/// Four vectors are added in T, pairwise, before they meet the sum in double: the rounding of two
/// additions, whatever n.
template <class Term, class T>
double sum_of(const T* x, int64_t n) {
  constexpr int kLanes = Lanes<T>::count;
  Vector<double> parts[4] = {};
  int64_t i = 0;
  for (; i + 8 * kLanes <= n; i += 8 * kLanes) {
    for (int j = 0; j < 2; ++j) {
      const T* p = x + i + 4 * j * kLanes;
      const auto term = [p](int k) { return Term::of(load(p + k * kLanes)); };
      add_lanes((term(0) + term(1)) + (term(2) + term(3)), parts + 2 * j);
    }
  }
  for (; i + kLanes <= n; i += kLanes) add_lanes(Term::of(load(x + i)), parts);
  double total = sum_of_lanes<double>((parts[0] + parts[1]) + (parts[2] + parts[3]));
  for (; i < n; ++i) total += Term::of(double{x[i]});
  return total;
}

/// Sums of d and of d^2, d = x[i] - mean, in double throughout.
struct Deviations {
  double sum, squares;
};
template <class T>
Deviations deviations(const T* x, int64_t n, double mean) {
  constexpr int kParts = 4;  // so that additions do not wait for each other
  Vector<double> sums[kParts] = {}, squares[kParts] = {};
  int64_t i = 0;
  for (; i + kParts * kDoubles <= n; i += kParts * kDoubles) {
    for (int j = 0; j < kParts; ++j) {
      const Vector<double> d = load_doubles(x + i + j * kDoubles) - mean;
      sums[j] += d;
      squares[j] += d * d;
    }
  }
  Deviations total = {sum_of_lanes<double>((sums[0] + sums[1]) + (sums[2] + sums[3])),
                      sum_of_lanes<double>((squares[0] + squares[1]) + (squares[2] + squares[3]))};
  for (; i < n; ++i) {
    const double d = x[i] - mean;
    total.sum += d;
    total.squares += d * d;
  }
  return total;
}

/// Two passes over blocks that stay in the first-level cache, the second correcting the first's
/// mean; blocks are combined as they come (Chan, Golub, LeVeque: "Updating formulae and a pairwise
/// algorithm for computing sample variances", 1979).
template <class T>
Moments moments(const T* x, int64_t n) {
  constexpr int64_t kBlock = 4096;
  Moments total;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t size = n - begin < kBlock ? n - begin : kBlock;
    const double rough = sum_of<Itself>(x + begin, size) / size;
    const Deviations d = deviations(x + begin, size, rough);
    const double mean = rough + d.sum / size, m2 = d.squares - d.sum * d.sum / size;
    const double count = total.count + size, delta = mean - total.mean;
    total.m2 += m2 + delta * delta * total.count * size / count;
    total.mean += delta * size / count;
    total.count = count;
  }
  return total;
}

template <class T>
T dot(const T* a, const T* b, int64_t n) {
  constexpr int kLanes = Lanes<T>::count;
  Vector<T> sum[4] = {};
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    for (int j = 0; j < 4; ++j) sum[j] += load(a + i + j * kLanes) * load(b + i + j * kLanes);
  }
  for (; i + kLanes <= n; i += kLanes) sum[0] += load(a + i) * load(b + i);
  T total = sum_of_lanes<T>((sum[0] + sum[1]) + (sum[2] + sum[3]));
  for (; i < n; ++i) total += a[i] * b[i];
  return total;
}

/// Which of two numbers wins.
struct Largest {
  template <class T>
  auto operator()(T a, T b) const {
    return a > b;
  }
};
struct Smallest {
  template <class T>
  auto operator()(T a, T b) const {
    return a < b;
  }
};
constexpr Largest largest;
constexpr Smallest smallest;

/// True where a replaces the best so far, both coming in order.
template <auto wins, class T>
inline bool beats(T a, T best) {
  return wins(a, best) || (a != a && best == best);
}

template <auto wins, class T>
T extreme(const T* x, int64_t n) {
  constexpr int kLanes = Lanes<T>::count;
  int64_t i = 0;
  T best = x[0];
  if (n >= kLanes) {
    Vector<T> lanes = load(x);
    auto nan = lanes != lanes;
    for (i = kLanes; i + kLanes <= n; i += kLanes) {
      const Vector<T> v = load(x + i);
      nan |= v != v;
      lanes = wins(v, lanes) ? v : lanes;
    }
    best = lanes[0];
    for (int j = 1; j < kLanes; ++j) best = wins(lanes[j], best) ? lanes[j] : best;
    for (int j = 0; j < kLanes; ++j) {
      if (nan[j]) best = __builtin_nan("");
    }
  }
  for (; i < n; ++i) best = beats<wins>(x[i], best) ? x[i] : best;
  return best;
}

template <auto wins, class T>
Found<T> arg_extreme(const T* x, int64_t n) {
  // The value by vectors first, its place after: the second pass stops early.
  const T best = extreme<wins>(x, n);
  int64_t at = 0;
  while (best == best ? x[at] != best : x[at] == x[at]) ++at;
  return {best, at};
}

template <class T>
double exp_sum(const T* x, int64_t n, T* max, T* y) {
  constexpr int kLanes = Lanes<T>::count;
  constexpr T kLowest = -__builtin_inf();
  Vector<T> top = fill<T>(kLowest);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Vector<T> v = load(x + i);
    top = v > top ? v : top;
  }
  T m = max_of_lanes<T>(top);
  for (; i < n; ++i) m = x[i] > m ? x[i] : m;
  *max = m;
  // A block at a time through the cache, the short last one padded, so that exp runs on vectors.
  constexpr int kBlock = 512;
  T terms[kBlock];
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int size = n - begin < kBlock ? n - begin : kBlock;
    const int padded = (size + kLanes - 1) / kLanes * kLanes;
    for (int j = 0; j < size; ++j) terms[j] = x[begin + j] - m;
    for (int j = size; j < padded; ++j) terms[j] = kLowest;
    for (int j = 0; j < padded; ++j) terms[j] = exp(terms[j]);
    total += sum_of<Itself>(terms, size);
    if (y != nullptr) __builtin_memcpy(y + begin, terms, size * sizeof(T));
  }
  return total;
}

struct RunningSum {
  static constexpr double start = 0;
  static double next(double total, double v) { return total + v; }
};
struct RunningProduct {
  static constexpr double start = 1;
  static double next(double total, double v) { return total * v; }
};

template <class Op, class T>
void scan(const T* x, T* y, int64_t rows, int64_t stride, int64_t n) {
  // Several rows at once: one row alone waits for its own additions.
  constexpr int kRows = 8;
  int64_t row = 0;
  for (; row + kRows <= rows; row += kRows) {
    double total[kRows];
    for (double& t : total) t = Op::start;
    for (int64_t i = 0; i < n; ++i) {
      for (int r = 0; r < kRows; ++r) {
        total[r] = Op::next(total[r], x[(row + r) * stride + i]);
        y[(row + r) * stride + i] = static_cast<T>(total[r]);
      }
    }
  }
  for (; row < rows; ++row) {
    double total = Op::start;
    for (int64_t i = 0; i < n; ++i) {
      total = Op::next(total, x[row * stride + i]);
      y[row * stride + i] = static_cast<T>(total);
    }
  }
}

}  // namespace kbench::reference::KBENCH_ISA
