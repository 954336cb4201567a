// What the operators' plans share: shapes as kernels see them, and the geometry of launches.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/measure/eager/eager.h"
#include "libkbench/core/dimensions.h"

namespace kbench::eager {

/// Invocations a workgroup, where nothing speaks for another number.
inline constexpr int64_t kThreads = 256;
/// Loads of up to four elements that an invocation has in flight where it copies.
inline constexpr int64_t kPieces = 4;
/// Such loads where it streams an operand: as many bytes of halves as of floats. With fewer a
/// device that has just changed from another process's memory is a tenth slower.
int64_t loads_in_flight(const OperatorCall& call);
/// Workgroups that keep a large GPU busy with streaming work, with a short tail: what reductions
/// are split towards.
inline constexpr int64_t kStreamGroups = 8192;
/// Elements worth a workgroup of their own when a row is split.
inline constexpr int64_t kStretch = 16384;

/// Elements of the largest tensor that is planned for: no device holds as many, and no product of
/// the few counts that plans are made of wraps.
inline constexpr int64_t kMostElements = int64_t{1} << 40;

int64_t ceil_div(int64_t a, int64_t b);
/// The product of counts, or INT64_MAX, which every limit refuses, where that would wrap.
int64_t saturated_product(std::initializer_list<int64_t> counts);
/// The least power of two that is not below n.
int64_t next_power_of_two(int64_t n);

LaunchOperand input(int index);
LaunchOperand output(int index);
LaunchOperand scratch(int index);
/// The operand from its `elements`-th element on, or 32-bit word where elements are wider.
LaunchOperand from_element(LaunchOperand operand, int64_t elements);

/// A launch of `groups` workgroups, numbered along x and, past its limit, y (group_index() in
/// shaders/tensor.glsl). Throws kUnsupported where the device cannot have so many.
Launch make_launch(std::string shader,
                   std::initializer_list<std::pair<const char*, int64_t>> macros,
                   std::vector<LaunchOperand> addresses, int64_t groups,
                   const DeviceTraits& traits);

/// A tensor seen along one dimension.
struct AxisView {
  int64_t outer = 1, n = 1, inner = 1;
};
AxisView axis_view(const Shape& shape, int64_t axis);

/// The dimensions of `out` and of two operands broadcast to it, as few as possible. Innermost
/// first; never empty.
std::vector<Dimension> merge_dims(const Shape& out, const Shape& a, const Shape& b);

/// How invocations share rows of n elements that they hold in registers.
struct RowLayout {
  int64_t width = 1;    ///< elements a load
  int64_t lanes = 1;    ///< invocations a row
  int64_t threads = 1;  ///< invocations a workgroup
  int64_t pieces = 1;   ///< loads an invocation, where rows are held whole
  bool fits = false;    ///< whether a workgroup can hold a row
  int64_t groups(int64_t rows) const { return ceil_div(rows, threads / lanes); }
};
RowLayout row_layout(int64_t n, const DeviceTraits& traits);

/// Output rows that an invocation computes where windows over planes overlap, so that it reads the
/// input rows they share once.
struct WindowRows {
  int64_t count = 1;
  int64_t blocks = 0;   ///< of them, in an output plane
  bool unroll = false;  ///< few enough reads to be written out
};
WindowRows window_rows(int64_t kernel_h, int64_t kernel_w, int64_t stride_h, int64_t dilation_h,
                       int64_t out_height, const DeviceTraits& traits);

/// A row of n cut into stretches for several workgroups.
struct Split {
  int64_t count = 1;
  int64_t length = 0;  ///< elements each but the last; a multiple of 4
};
/// Enough stretches that `rows` rows keep the device busy, none shorter than `shortest`; and one
/// for the whole row. Both throw kUnsupported for a row too long to count.
Split split_row(int64_t n, int64_t rows, int64_t shortest = kStretch);
Split whole_row(int64_t n);

// Which operators have an eager kernel, and the function that plans each.

/// Pure: from a call, its operands of the types they are stored in, and the device's traits to
/// launches.
using PlanFunction = CallPlan (*)(const OperatorCall& call, const DeviceTraits& traits);

struct EagerKernel {
  std::string name;  ///< the operator's
  PlanFunction plan;
};

// One table a family, in ops/<family>.cc.
const std::vector<EagerKernel>& elementwise_kernels();
const std::vector<EagerKernel>& reduction_kernels();
const std::vector<EagerKernel>& matmul_kernels();
const std::vector<EagerKernel>& convolution_kernels();
const std::vector<EagerKernel>& pooling_kernels();
const std::vector<EagerKernel>& norm_kernels();
const std::vector<EagerKernel>& loss_kernels();
const std::vector<EagerKernel>& shape_kernels();
const std::vector<EagerKernel>& recurrent_kernels();

/// The planning function of the operator of that name; null when there is none.
PlanFunction find_plan(std::string_view name);

}  // namespace kbench::eager
