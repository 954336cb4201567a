// Whether a candidate's own kernels contribute to its outputs, where built-in operators are allowed
// beside them.
#pragma once

#include "kbench/candidate.h"

namespace kbench {

/// Whether a kernel of dispatch may write what reaches an output: an output itself, or a temporary
/// that later steps read on the way to one, before a built-in step overwrites all of it. Decided by
/// the buffers that steps name: whether a kernel changes a buffer that it names is not known.
bool own_kernel_reaches_output(const ResolvedCandidate& candidate);

}  // namespace kbench
