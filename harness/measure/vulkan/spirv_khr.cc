#include "harness/measure/vulkan/spirv_khr.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "harness/measure/vulkan/capabilities.h"
#include "harness/measure/vulkan/spirv_module.h"
#include "harness/measure/vulkan/spirv_names.h"

namespace kbench::vulkan {
namespace {

constexpr uint32_t kMostUse = 2, kBfloat16Mark = 8;
constexpr uint32_t kBfloat16Encoding = 0;  // SpvFPEncodingBFloat16KHR

bool is_nv_matrix_capability(const Instruction& each) {
  return each.op() == spv::OpCapability && each[0] == spv::CapabilityCooperativeMatrixNV;
}

/// Rewrites one module.
class Rewriting {
 public:
  explicit Rewriting(const SpirvModule& module) : module_(module), numbers_(module.bound()) {
    for (const Instruction& each : module.instructions()) {
      if (each.op() == spv::OpTypeCooperativeMatrixNV) brain_ |= mark_of(each) >= kBfloat16Mark;
    }
  }

  Spirv result() {
    Spirv khr =
        rewritten(module_, [this](const Instruction& each, Spirv& to) { return put(each, to); });
    khr[3] += brain_ ? 4 : 3;
    return khr;
  }

 private:
  uint32_t number(uint32_t value) const { return numbers_ + value; }  ///< id of a constant, 0 to 2
  uint32_t bfloat16() const { return numbers_ + 3; }                  ///< id of the type

  /// The constant_id that says what the constant's matrices are; nothing for other ids.
  std::optional<uint32_t> mark(uint32_t id) const {
    const Instruction* constant = module_.definition(id);
    if (!constant || constant->op() != spv::OpSpecConstant) return std::nullopt;
    return module_.decoration(id, spv::DecorationSpecId);
  }
  uint32_t mark_of(const Instruction& type) const {
    const std::optional<uint32_t> found = mark(type[3]);
    if (!found || *found % kBfloat16Mark > kMostUse || *found / kBfloat16Mark > 1) {
      refuse("has a cooperative matrix that does not say its use");
    }
    return *found;
  }
  uint32_t layout(uint32_t column_major) const {
    const std::optional<uint64_t> value = module_.constant(column_major);
    if (!value) refuse("has a cooperative matrix whose layout is no constant");
    return number(static_cast<uint32_t>(*value));
  }

  /// As rewritten() wants it: false for what stays as it is.
  bool put(const Instruction& each, Spirv& to);
  void put_type(const Instruction& type, Spirv& to);

  const SpirvModule& module_;
  const uint32_t numbers_;
  bool brain_ = false;
  bool numbers_there_ = false, bfloat16_there_ = false;
};

bool Rewriting::put(const Instruction& each, Spirv& to) {
  switch (each.op()) {
    case spv::OpCapability:
      if (!is_nv_matrix_capability(each)) return false;
      append_instruction(to, each.op(), std::vector{kCooperativeMatrixKhr});
      if (brain_) {
        append_instruction(to, each.op(), std::vector{kBfloat16Type});
        append_instruction(to, each.op(), std::vector{kBfloat16Matrix});
      }
      return true;
    case spv::OpExtension:
      if (each.text(0) != kNvMatrixExtension) return false;
      append_extension(to, kKhrMatrixExtension);
      if (brain_) append_extension(to, "SPV_KHR_bfloat16");
      return true;
    case spv::OpDecorate:
      return each[1] == spv::DecorationSpecId && mark(each[0]);
    case spv::OpSpecConstant:
      if (!mark(each.result())) return false;
      append_instruction(to, spv::OpConstant, each.words());
      return true;
    case spv::OpTypeCooperativeMatrixNV:
      put_type(each, to);
      return true;
    case spv::OpCooperativeMatrixLoadNV:
      append_instruction(to, kOpCooperativeMatrixLoadKhr,
                         spliced(each, 3, 5, {layout(each[4]), each[3]}));
      return true;
    case spv::OpCooperativeMatrixStoreNV:
      append_instruction(to, kOpCooperativeMatrixStoreKhr,
                         spliced(each, 2, 4, {layout(each[3]), each[2]}));
      return true;
    case spv::OpCooperativeMatrixMulAddNV:
      append_instruction(to, kOpCooperativeMatrixMulAddKhr, each.words());
      return true;
    default:
      return false;
  }
}

void Rewriting::put_type(const Instruction& type, Spirv& to) {
  const uint32_t scope = type[2], declared = mark_of(type);
  if (!numbers_there_) {
    const Instruction* constant = module_.definition(scope);
    if (!constant) malformed("a scope is not defined");
    for (uint32_t value = 0; value <= kMostUse; ++value) {
      append_instruction(to, spv::OpConstant,
                         std::vector{constant->result_type(), number(value), value});
    }
    numbers_there_ = true;
  }
  const bool brain = declared >= kBfloat16Mark;
  if (brain && !bfloat16_there_) {
    append_instruction(to, spv::OpTypeFloat, std::vector{bfloat16(), 16u, kBfloat16Encoding});
    bfloat16_there_ = true;
  }
  append_instruction(to, kOpTypeCooperativeMatrixKhr,
                     std::vector{type[0], brain ? bfloat16() : type[1], scope, type[3], type[4],
                                 number(declared % kBfloat16Mark)});
}

}  // namespace

bool has_nv_matrices(const Spirv& spirv) {
  const SpirvModule module(spirv);
  return std::any_of(module.instructions().begin(), module.instructions().end(),
                     is_nv_matrix_capability);
}

Spirv to_khr_matrices(const Spirv& nv) {
  const SpirvModule module(nv);
  return Rewriting(module).result();
}

}  // namespace kbench::vulkan
