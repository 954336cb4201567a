// Extents of tensors that a file does not declare, as expressions: they explain what does stand in
// it, as the shape that a convolution's output is reshaped to.
#pragma once

#include "libkbench/task_file/fit.h"
#include "libkbench/task_file/pattern.h"

namespace kbench::written {

/// Makes the extents of an operator's output known to `fit`, and what follows from them in its
/// entry. Operators come in the order of the graph.
void learn_extents(const PatternEntry& entry, Fit& fit);

}  // namespace kbench::written
