#include "harness/measure/cuda/driver_calls.h"

namespace kbench::cuda::driver {

const char* Calls::fill(const Library& from) {
  const char* missing = nullptr;
  const auto get = [&](const char* name, auto& call) {
    if (!from.get(name, call) && missing == nullptr) missing = name;
  };
#define KBENCH_GET(name, symbol, ...) get(symbol, name);
  KBENCH_CUDA_CALLS(KBENCH_GET)
#undef KBENCH_GET
  return missing;
}

}  // namespace kbench::cuda::driver
