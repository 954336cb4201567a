#include "harness/measure/eager/planning.h"

#include <algorithm>
#include <map>

#include "kbench/error.h"

namespace kbench::eager {

namespace {

/// Elements an invocation holds in registers at most.
constexpr int64_t kHeldQuads = 8, kHeldSingles = 16;
/// Output rows an invocation where windows overlap; most reads of one that are written out.
constexpr int64_t kWindowRows = 8, kUnrolledReads = 200;

/// Kernels count to the end of the last stretch in 32 bits, and the bytes from its start too.
void require_row(int64_t n, const Split& split) {
  if (split.count * split.length <= UINT32_MAX && split.length < int64_t{1} << 30) return;
  throw Error(ErrorCode::kUnsupported,
              "eager kernels take rows of less than 2^32 elements that leave room for the last "
              "stretch, and stretches of less than 2^30; got " +
                  std::to_string(n));
}

using Table = std::map<std::string, PlanFunction, std::less<>>;

Table make_table() {
  Table table;
  for (const auto* family : {&elementwise_kernels(), &reduction_kernels(), &matmul_kernels(),
                             &convolution_kernels(), &pooling_kernels(), &norm_kernels(),
                             &loss_kernels(), &shape_kernels(), &recurrent_kernels()}) {
    for (const EagerKernel& kernel : *family) table.emplace(kernel.name, kernel.plan);
  }
  return table;
}

}  // namespace

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t saturated_product(std::initializer_list<int64_t> counts) {
  int64_t product = 1;
  bool wrapped = false, empty = false;
  for (const int64_t count : counts) {
    empty = empty || count == 0;
    wrapped = __builtin_mul_overflow(product, count, &product) || wrapped;
  }
  return empty ? 0 : wrapped ? INT64_MAX : product;
}

int64_t next_power_of_two(int64_t n) {
  int64_t power = 1;
  while (power < n) power *= 2;
  return power;
}

int64_t loads_in_flight(const OperatorCall& call) {
  const bool halves =
      std::ranges::any_of(call.inputs, [](const TensorType& type) { return is_half(type.dtype); });
  return halves ? 2 * kPieces : kPieces;
}

LaunchOperand input(int index) { return {LaunchOperand::Kind::input, index}; }
LaunchOperand output(int index) { return {LaunchOperand::Kind::output, index}; }
LaunchOperand scratch(int index) { return {LaunchOperand::Kind::scratch, index}; }

LaunchOperand from_element(LaunchOperand operand, int64_t elements) {
  operand.offset += elements;
  return operand;
}

Launch make_launch(std::string shader,
                   std::initializer_list<std::pair<const char*, int64_t>> macros,
                   std::vector<LaunchOperand> addresses, int64_t groups,
                   const DeviceTraits& traits) {
  const int64_t limit_x = traits.max_group_count[0], limit_y = traits.max_group_count[1];
  const int64_t y = std::max<int64_t>(1, ceil_div(groups, limit_x));
  if (y > limit_y || groups > UINT32_MAX) {
    throw Error(ErrorCode::kUnsupported, shader + " would need " + std::to_string(groups) +
                                             " workgroups, more than the device can launch");
  }
  Launch launch;
  launch.shader = std::move(shader);
  for (const auto& [name, value] : macros) launch.macros.emplace_back(name, std::to_string(value));
  launch.addresses = std::move(addresses);
  launch.groups = {static_cast<uint32_t>(ceil_div(groups, y)), static_cast<uint32_t>(y), 1};
  return launch;
}

AxisView axis_view(const Shape& shape, int64_t axis) {
  AxisView view;
  for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d) {
    (d < axis ? view.outer : d == axis ? view.n : view.inner) *= shape[d];
  }
  return view;
}

std::vector<Dimension> merge_dims(const Shape& out, const Shape& a, const Shape& b) {
  std::vector<Dimension> dims = merged(broadcast_dimensions(a, b, out));
  if (dims.empty()) dims.push_back({1, 0, 0});
  std::reverse(dims.begin(), dims.end());
  return dims;
}

RowLayout row_layout(int64_t n, const DeviceTraits& traits) {
  RowLayout layout;
  layout.width = n % 4 == 0 ? 4 : 1;
  const int64_t pieces = n / layout.width;
  const int64_t held = layout.width == 4 ? kHeldQuads : kHeldSingles;
  const int64_t most = std::min<int64_t>(1024, traits.max_invocations);
  layout.lanes = 8;
  // Few pieces a lane while lanes are few: short rows then fill more workgroups.
  while (layout.lanes < most &&
         ceil_div(pieces, layout.lanes) > (layout.lanes < 256 ? held / 2 : held)) {
    layout.lanes *= layout.lanes < 128 ? 4 : 2;
  }
  layout.lanes = std::min(layout.lanes, most);
  layout.threads = std::max<int64_t>(128, layout.lanes);
  layout.pieces = next_power_of_two(ceil_div(pieces, layout.lanes));
  layout.fits = layout.pieces <= held;
  return layout;
}

WindowRows window_rows(int64_t kernel_h, int64_t kernel_w, int64_t stride_h, int64_t dilation_h,
                       int64_t out_height, const DeviceTraits& traits) {
  const int64_t reach = (kernel_h - 1) * dilation_h + 1;
  // A software device gains nothing.
  const bool overlap = stride_h < reach && !traits.software;
  WindowRows rows;
  rows.count = overlap && out_height >= kWindowRows ? kWindowRows : 1;
  const auto reads = [&] {
    return saturated_product({(rows.count - 1) * stride_h + reach, kernel_w});
  };
  while (rows.count > 1 && reads() > kUnrolledReads) rows.count /= 2;
  rows.unroll = !traits.software && reads() <= kUnrolledReads;
  rows.blocks = ceil_div(out_height, rows.count);
  return rows;
}

Split split_row(int64_t n, int64_t rows, int64_t shortest) {
  const int64_t wanted = ceil_div(kStreamGroups, std::max<int64_t>(rows, 1));
  const int64_t count = std::clamp<int64_t>(wanted, 1, ceil_div(n, shortest));
  Split split;
  split.length = ceil_div(ceil_div(n, count), 4) * 4;
  split.count = ceil_div(n, split.length);
  require_row(n, split);
  return split;
}

Split whole_row(int64_t n) {
  const Split split{1, ceil_div(n, 4) * 4};
  require_row(n, split);
  return split;
}

PlanFunction find_plan(std::string_view name) {
  static const Table table = make_table();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace kbench::eager
