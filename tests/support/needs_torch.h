// Tests that take a python3 with PyTorch.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/measure/runner/python_interpreter.h"
#include "tests/support/needs.h"

namespace kbench::testing {

inline bool torch_present() {
  static const bool kPresent = runner::find_python("torch").found.has_value();
  return kPresent;
}

}  // namespace kbench::testing

/// Skips a test on a machine without it; there, KBENCH_REQUIRE_TORCH=1 makes it fail.
#define KBENCH_NEED_TORCH()                                                     \
  if (!::kbench::testing::has(::kbench::testing::torch_present(),               \
                              "python3 with torch (Debian: python3-torch)")) {  \
    if (std::getenv("KBENCH_REQUIRE_TORCH") != nullptr) FAIL() << "no PyTorch"; \
    GTEST_SKIP();                                                               \
  }
