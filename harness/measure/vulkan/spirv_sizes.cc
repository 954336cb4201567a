#include "harness/measure/vulkan/spirv_sizes.h"

#include <algorithm>
#include <limits>

#include "harness/measure/vulkan/spirv_names.h"
#include "kbench/error.h"

namespace kbench::vulkan {
namespace {

constexpr uint64_t kEndless = std::numeric_limits<uint64_t>::max();

uint64_t saturating_multiply(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kEndless : product;
}

}  // namespace

uint64_t saturating_add(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kEndless : sum;
}

// SpirvModule bounds how deeply types are nested, and with that the recursion.
uint64_t TypeSizes::size(uint32_t type, Layout layout) {
  if (module_.forward_pointer(type)) return sizeof(uint64_t);
  const auto known = known_.find({type, layout});
  if (known != known_.end()) return known->second;
  const Instruction* found = module_.definition(type);
  const uint64_t bytes = found ? compute(*found, layout) : kEndless;
  known_[{type, layout}] = bytes;
  return bytes;
}

uint64_t TypeSizes::compute(const Instruction& type, Layout layout) {
  switch (type.op()) {
    case spv::OpTypeBool:
      return 4;
    case spv::OpTypeInt:
    case spv::OpTypeFloat:
      return type[1] / 8;
    case spv::OpTypePointer:
      return sizeof(uint64_t);
    case spv::OpTypeVector:
    case spv::OpTypeMatrix:
      return saturating_multiply(size(type[1], layout), type[2]);
    case spv::OpTypeArray:
      return array(type, layout);
    case spv::OpTypeStruct:
      return structure(type, layout);
    default:
      return kEndless;
  }
}

uint64_t TypeSizes::array(const Instruction& type, Layout layout) {
  const auto length = module_.constant(type[2]);
  if (!length) {
    throw Error(ErrorCode::kCompile, "has an array whose length is no plain constant");
  }
  const uint64_t element = size(type[1], layout);
  const auto stride = module_.decoration(type[0], spv::DecorationArrayStride);
  const bool strided = layout == Layout::decorated && stride;
  return saturating_multiply(strided ? std::max<uint64_t>(*stride, element) : element, *length);
}

uint64_t TypeSizes::structure(const Instruction& type, Layout layout) {
  uint64_t end = 0;
  for (uint32_t member = 0; member + 1 < type.size(); ++member) {
    const uint32_t id = type[member + 1];
    uint64_t bytes = size(id, layout);
    if (layout == Layout::packed) {
      end = saturating_add(end, bytes);
      continue;
    }
    const auto stride = module_.member_decoration(type[0], member, spv::DecorationMatrixStride);
    if (const Instruction* matrix = module_.type(id, spv::OpTypeMatrix); matrix && stride) {
      const Instruction* column = module_.type((*matrix)[1], spv::OpTypeVector);
      const bool by_rows =
          module_.member_decoration(type[0], member, spv::DecorationRowMajor).has_value();
      const uint64_t count = by_rows && column ? (*column)[2] : (*matrix)[2];
      bytes = saturating_multiply(std::max<uint64_t>(1, count), *stride);
    }
    const auto offset = module_.member_decoration(type[0], member, spv::DecorationOffset);
    end = std::max(end, saturating_add(offset.value_or(0), bytes));
  }
  return end;
}

}  // namespace kbench::vulkan
