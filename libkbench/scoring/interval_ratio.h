// The ratio of two measured ratios.
#pragma once

#include "kbench/result.h"

namespace kbench {

/// `over` / `under`, two independent estimates above 0 with intervals of one confidence: their
/// distances to the bounds are added as squares, in logarithms. (Donner and Zou's MOVER, which also
/// takes bounds that do not lie symmetrically about the estimate.)
Interval ratio_of(const Interval& over, const Interval& under);

}  // namespace kbench
