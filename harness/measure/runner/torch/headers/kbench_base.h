// What all of kbench's headers start from: the standard library, and macros of PyTorch for
// compilers.
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

#include "kbench_abi.h"

#ifdef __CUDACC__
#define C10_HOST_DEVICE __host__ __device__
#else
#define C10_HOST_DEVICE
#endif
#define C10_LIKELY(x) (__builtin_expect(static_cast<bool>(x), 1))
#define C10_UNLIKELY(x) (__builtin_expect(static_cast<bool>(x), 0))

namespace c10 {

class Error : public std::exception {  // PyTorch's own: only to be caught.
 public:
  const char* what() const noexcept override;
};

inline namespace kbench {  // Symbols of ours never meet libtorch's.

using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;

}  // namespace kbench
}  // namespace c10
