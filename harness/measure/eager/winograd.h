// Convolutions by minimal filtering along one dimension: Winograd's algorithm, as Lavin and Gray
// use it for convolutions ("Fast Algorithms for Convolutional Neural Networks", CVPR 2016), in one
// dimension, F(7 - r, r) for windows of r = 3, 4 or 5 positions.
//
// Six input rows become six sums each of which meets one transformed weight, and give 7 - r output
// rows where the window would multiply (7 - r) r times: half the multiplications for r = 3 and 4,
// three fifths for r = 5. The transforms' points are 0, 1, -1, 2, -2 and infinity; in one dimension
// they cost less than two bits of accuracy.
#pragma once

#include <optional>

#include "harness/measure/eager/convolution.h"

namespace kbench::eager {

struct WinogradPlan {
  CallPlan plan;
  double seconds = 0;  ///< by the model that choose_product() uses
};

/// Empty where no dimension allows it: it takes a stride and dilation of 1 and a window of 3 to 5
/// positions in the outermost dimension, and stride 1 everywhere for transposed convolutions.
std::optional<WinogradPlan> plan_winograd(const Convolution& conv, const DeviceTraits& traits);

}  // namespace kbench::eager
