// Whether kernels of a candidate's own have a part in its outputs, where built-in operators may
// stand beside them.
#pragma once

#include "kbench/candidate.h"

namespace kbench {

/// Whether a kernel of dispatch may write what reaches an output: an output itself, or a temporary
/// that later steps read on the way to one, before a built-in step overwrites all of it. By the
/// buffers that steps name alone: whether a kernel that names an output changes it is not seen.
bool own_kernel_reaches_output(const ResolvedCandidate& candidate);

}  // namespace kbench
