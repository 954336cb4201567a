#include "harness/measure/vulkan/spirv_matrix.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/vulkan/capabilities.h"
#include "harness/measure/vulkan/spirv_module.h"
#include "harness/measure/vulkan/spirv_names.h"
#include "kbench/error.h"

namespace kbench::vulkan {

namespace {

[[noreturn]] void refuse_matrix(const std::string& why) {
  refuse("has a cooperative matrix that kbench does not understand: " + why);
}

[[noreturn]] void refuse_mixture() { refuse("mixes KHR and NV cooperative matrices"); }

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

bool MatrixTranslation::needed(const SpirvModule& module) {
  return std::any_of(module.instructions().begin(), module.instructions().end(),
                     [](const Instruction& each) {
                       return each.op() == spv::OpCapability && each[0] == kCooperativeMatrixKhr;
                     });
}

MatrixTranslation::MatrixTranslation(const SpirvModule& module)
    : module_(module), next_id_(module.bound()) {
  nv_ = module.header();
  bool declared = true;
  for (const Instruction& instruction : module.instructions()) {
    if (declared && instruction.op() == spv::OpFunction) {
      add_flag();
      declared = false;
    }
    translate(instruction);
  }
  nv_[3] = next_id_;
}

void MatrixTranslation::translate(const Instruction& instruction) {
  switch (instruction.op()) {
    case spv::OpCapability:
      if (instruction[0] == spv::CapabilityCooperativeMatrixNV) refuse_mixture();
      append_instruction(nv_, spv::OpCapability,
                         std::vector{instruction[0] == kCooperativeMatrixKhr
                                         ? uint32_t{spv::CapabilityCooperativeMatrixNV}
                                         : instruction[0]});
      break;
    case spv::OpExtension:
      if (instruction.text(0) == kNvMatrixExtension) refuse_mixture();
      if (instruction.text(0) == kKhrMatrixExtension) {
        return append_extension(nv_, kNvMatrixExtension);
      }
      append_instruction(nv_, instruction.op(), instruction.words());
      break;
    case kOpTypeCooperativeMatrixKhr:
      translate_type(instruction);
      break;
    case kOpCooperativeMatrixLoadKhr:
      translate_load(instruction);
      break;
    case kOpCooperativeMatrixStoreKhr:
      translate_store(instruction);
      break;
    case kOpCooperativeMatrixMulAddKhr:
      if (instruction.size() > 6 || (instruction.size() == 6 && instruction[5] > 0x1f)) {
        refuse_matrix("its product has operands other than signs and saturation");
      }
      by_result_[instruction.result()] = &instruction;
      append_instruction(nv_, spv::OpCooperativeMatrixMulAddNV,
                         instruction.words().first(std::min<size_t>(5, instruction.size())));
      break;
    case kOpCooperativeMatrixLengthKhr:
      append_instruction(nv_, spv::OpCooperativeMatrixLengthNV, instruction.words());
      break;
    case spv::OpTypeCooperativeMatrixNV:
    case spv::OpCooperativeMatrixLoadNV:
    case spv::OpCooperativeMatrixStoreNV:
    case spv::OpCooperativeMatrixMulAddNV:
    case spv::OpCooperativeMatrixLengthNV:
      refuse_mixture();
    case spv::OpSpecConstantOp:
      if (instruction[2] == spv::OpCooperativeMatrixLengthNV) refuse_mixture();
      if (instruction[2] == kOpCooperativeMatrixLengthKhr) {
        append_instruction(nv_, instruction.op(),
                           spliced(instruction, 2, 3, {spv::OpCooperativeMatrixLengthNV}));
        break;
      }
      [[fallthrough]];
    default:
      append_instruction(nv_, instruction.op(), instruction.words());
  }
}

/// NV types have no use: types that differ in it alone would be the same type declared twice. Each
/// gets a scope constant of its own, so that they differ.
void MatrixTranslation::translate_type(const Instruction& type) {
  if (type.size() != 6) malformed("a cooperative matrix type has another number of words");
  const Instruction* scope = module_.definition(type[2]);
  require_constant(type[2], spv::ScopeSubgroup, "scope");
  require_constant(type[5], 2, "use");
  for (const uint32_t id : {type[2], type[5]}) {
    if (module_.definition(id) > &type) malformed("a constant is used before it is defined");
  }
  const uint32_t own_scope = next_id_++;
  append_instruction(nv_, spv::OpConstant, spliced(*scope, 1, 2, {own_scope}));
  by_result_[type.result()] = &type;
  append_instruction(nv_, spv::OpTypeCooperativeMatrixNV,
                     std::vector{type[0], type[1], own_scope, type[3], type[4]});
}

void MatrixTranslation::translate_load(const Instruction& load) {
  if (load.size() < 5) refuse_matrix("it is loaded without a stride");
  carry_layout(load[3]);
  append_instruction(nv_, spv::OpCooperativeMatrixLoadNV, spliced(load, 3, 5, {load[4], flag_}));
}

void MatrixTranslation::translate_store(const Instruction& store) {
  if (store.size() < 4) refuse_matrix("it is stored without a stride");
  carry_layout(store[2]);
  append_instruction(nv_, spv::OpCooperativeMatrixStoreNV, spliced(store, 2, 4, {store[3], flag_}));
}

void MatrixTranslation::add_flag() {
  uint32_t type = 0;
  for (const Instruction& each : module_.instructions()) {
    if (each.op() == spv::OpTypeBool) type = each.result();
  }
  if (type == 0) {
    type = next_id_++;
    append_instruction(nv_, spv::OpTypeBool, std::vector{type});
  }
  flag_ = next_id_++;
  append_instruction(nv_, spv::OpConstantFalse, std::vector{type, flag_});
}

/// NV has no layout. It is kept in an OpCopyObject before the load or store, which is specialized
/// with the rest of the module; back() removes it.
void MatrixTranslation::carry_layout(uint32_t layout) {
  const Instruction* constant = module_.definition(layout);
  const uint32_t op = constant ? constant->op() : uint32_t{spv::OpNop};
  if (op != spv::OpSpecConstant && op != spv::OpSpecConstantOp) {
    require_constant(layout, 1, "layout");
  }
  const Instruction* type = module_.type(constant->result_type(), spv::OpTypeInt);
  if (!type || (*type)[1] != 32) refuse_matrix("its layout is no integer of 32 bits");
  layouts_.insert(next_id_);
  append_instruction(nv_, spv::OpCopyObject,
                     std::vector{constant->result_type(), next_id_++, layout});
}

void MatrixTranslation::require_constant(uint32_t id, uint32_t at_most, const char* what) const {
  const Instruction* constant = module_.definition(id);
  const auto value = module_.constant(id);
  if (!value || constant->op() != spv::OpConstant) {
    refuse_matrix(std::string("its ") + what + " is no plain constant");
  }
  if (*value > at_most) {
    refuse_matrix("its " + std::string(what) + " is " + std::to_string(*value) +
                  ", which is not known");
  }
}

Spirv MatrixTranslation::back(const Spirv& nv) const {
  const SpirvModule changed(nv);
  uint32_t layout = 0;  // of the next load or store
  const auto take_layout = [&layout] {
    if (layout == 0) malformed("a pass made a cooperative matrix");
    return std::exchange(layout, 0);
  };
  const auto original = [this](const Instruction& each) -> const Instruction& {
    const auto found = by_result_.find(each.result());
    if (found == by_result_.end()) malformed("a pass made a cooperative matrix");
    return *found->second;
  };
  return rewritten(changed, [&](const Instruction& each, Spirv& khr) {
    switch (each.op()) {
      case spv::OpCapability:
        if (each[0] != spv::CapabilityCooperativeMatrixNV) return false;
        append_instruction(khr, each.op(), std::vector{kCooperativeMatrixKhr});
        return true;
      case spv::OpExtension:
        if (each.text(0) != kNvMatrixExtension) return false;
        append_extension(khr, kKhrMatrixExtension);
        return true;
      case spv::OpCopyObject:
        if (!layouts_.contains(each[1])) return false;
        layout = each[2];
        return true;
      case spv::OpTypeCooperativeMatrixNV: {
        const Instruction& type = original(each);
        append_instruction(khr, kOpTypeCooperativeMatrixKhr,
                           std::vector{each[0], each[1], type[2], each[3], each[4], type[5]});
        return true;
      }
      case spv::OpCooperativeMatrixLoadNV:
        append_instruction(khr, kOpCooperativeMatrixLoadKhr,
                           spliced(each, 3, 5, {take_layout(), each[3]}));
        return true;
      case spv::OpCooperativeMatrixStoreNV:
        append_instruction(khr, kOpCooperativeMatrixStoreKhr,
                           spliced(each, 2, 4, {take_layout(), each[2]}));
        return true;
      case spv::OpCooperativeMatrixMulAddNV: {
        std::vector<uint32_t> words(each.words().begin(), each.words().end());
        const auto operands = original(each).from(5);
        words.insert(words.end(), operands.begin(), operands.end());
        append_instruction(khr, kOpCooperativeMatrixMulAddKhr, words);
        return true;
      }
      case spv::OpCooperativeMatrixLengthNV:
        append_instruction(khr, kOpCooperativeMatrixLengthKhr, each.words());
        return true;
      case spv::OpSpecConstantOp:
        if (each[2] != spv::OpCooperativeMatrixLengthNV) return false;
        append_instruction(khr, each.op(), spliced(each, 2, 3, {kOpCooperativeMatrixLengthKhr}));
        return true;
      default:
        return false;
    }
  });
}

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
