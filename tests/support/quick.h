// The quick tier of tests (docs/development.md).
#pragma once

#include <cstdlib>

namespace kbench::testing {

/// Whether a test of many cases may take a few that stand for all: the full tier takes them all.
inline bool quick() { return std::getenv("KBENCH_QUICK") != nullptr; }

}  // namespace kbench::testing
