#include <type_traits>

#include "reference/simd/kernels.h"

namespace kbench::reference {

// Each defined in the file of its name.
namespace portable {
extern const Kernels<float> kFloat;
extern const Kernels<double> kDouble;
}  // namespace portable
#if defined(__x86_64__)
namespace avx2 {
extern const Kernels<float> kFloat;
extern const Kernels<double> kDouble;
}  // namespace avx2
namespace avx512 {
extern const Kernels<float> kFloat;
extern const Kernels<double> kDouble;
}  // namespace avx512
#endif

namespace {

template <class T>
const Kernels<T>* pick(const Kernels<float>& single, const Kernels<double>& full) {
  if constexpr (std::is_same_v<T, float>) {
    return &single;
  } else {
    return &full;
  }
}

}  // namespace

template <class T>
int kernel_sets(KernelSet<T> (&sets)[3]) {
  int count = 0;
  sets[count++] = {"portable", pick<T>(portable::kFloat, portable::kDouble)};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    sets[count++] = {"avx2", pick<T>(avx2::kFloat, avx2::kDouble)};
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
      sets[count++] = {"avx512", pick<T>(avx512::kFloat, avx512::kDouble)};
    }
  }
#endif
  return count;
}

template <class T>
const Kernels<T>& kernels() {
  static const Kernels<T>* const fastest = [] {
    KernelSet<T> sets[3];
    return sets[kernel_sets(sets) - 1].kernels;
  }();
  return *fastest;
}

template int kernel_sets<float>(KernelSet<float> (&)[3]);
template int kernel_sets<double>(KernelSet<double> (&)[3]);
template const Kernels<float>& kernels<float>();
template const Kernels<double>& kernels<double>();

}  // namespace kbench::reference
