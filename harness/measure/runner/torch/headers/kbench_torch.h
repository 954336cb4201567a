// The part of PyTorch's C++ interface that extensions of models use, as declarations that compile
// in a fraction of the time of PyTorch's own headers. All names are in an inline namespace, so that
// their symbols never meet libtorch's. What an extension uses beyond this does not compile, and is
// then compiled with PyTorch's headers.
#pragma once

#include "kbench_accessor.h"
#include "kbench_check.h"
#include "kbench_dispatch.h"
#include "kbench_functions.h"
#include "kbench_guards.h"

namespace at {
using namespace c10;
namespace indexing {}
}  // namespace at
namespace torch {
using namespace at;
using Dtype = c10::ScalarType;
namespace autograd {}
}  // namespace torch
