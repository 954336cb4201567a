// inspect_spirv: one walk over a module's words.
#include <algorithm>
#include <glslang/SPIRV/spirv.hpp>
#include <map>
#include <set>
#include <span>

#include "harness/vulkan/compiler.h"
#include "kbench/error.h"

namespace kbench::vulkan {
namespace {

constexpr size_t kHeaderWords = 5;

[[noreturn]] void malformed(const std::string& why) {
  throw Error(ErrorCode::kCompile, "not a SPIR-V module: " + why);
}

/// An instruction's words after its first.
class Operands {
 public:
  explicit Operands(std::span<const uint32_t> words) : words_(words) {}
  size_t size() const { return words_.size(); }
  uint32_t operator[](size_t i) const {
    if (i >= words_.size()) malformed("an instruction is cut short");
    return words_[i];
  }
  std::vector<uint32_t> from(size_t i) const {
    return i < words_.size() ? std::vector<uint32_t>(words_.begin() + i, words_.end())
                             : std::vector<uint32_t>();
  }
  std::string text(size_t i) const {
    std::string result;
    for (; i < words_.size(); ++i) {
      for (int shift = 0; shift < 32; shift += 8) {
        const char letter = static_cast<char>(words_[i] >> shift & 0xff);
        if (letter == '\0') return result;
        result += letter;
      }
    }
    malformed("a string without an end");
  }

 private:
  std::span<const uint32_t> words_;
};

class Inspector {
 public:
  explicit Inspector(const std::vector<std::pair<uint32_t, uint32_t>>& specialization)
      : specialization_(specialization.begin(), specialization.end()) {}

  void visit(uint32_t op, const Operands& operands);
  SpirvFacts finish();

 private:
  void decorate(const Operands& operands);
  void define_type(uint32_t op, const Operands& operands);
  void define_constant(uint32_t op, const Operands& operands);
  uint64_t specialized(uint32_t id, uint64_t value) const;
  uint64_t fold(const Operands& operands) const;
  uint64_t value(uint32_t id) const;
  uint64_t size_of(uint32_t type) const;

  std::map<uint32_t, uint32_t> specialization_;  // constant id -> value
  std::map<uint32_t, uint32_t> spec_ids_;        // result id -> constant id
  std::map<uint32_t, uint32_t> sets_, bindings_;
  std::map<uint32_t, uint64_t> values_, sizes_;
  std::map<uint32_t, std::vector<uint32_t>> composites_;
  std::map<uint32_t, uint32_t> pointees_;
  std::vector<uint32_t> local_size_ids_;  // of LocalSizeId
  uint32_t workgroup_size_ = 0;           // id of the constant that overrides LocalSize
  SpirvFacts facts_;
};

void Inspector::visit(uint32_t op, const Operands& operands) {
  switch (op) {
    case spv::OpCapability:
      facts_.capabilities.push_back(operands[0]);
      break;
    case spv::OpExtension:
      facts_.extensions.push_back(operands.text(0));
      break;
    case spv::OpEntryPoint:
      if (operands[0] == spv::ExecutionModelGLCompute) facts_.has_compute_entry = true;
      break;
    case spv::OpExecutionMode:
      if (operands[1] == spv::ExecutionModeLocalSize) {
        for (int axis = 0; axis < 3; ++axis) facts_.local_size[axis] = operands[2 + axis];
      }
      break;
    case spv::OpExecutionModeId:
      if (operands[1] == spv::ExecutionModeLocalSizeId) local_size_ids_ = operands.from(2);
      break;
    case spv::OpDecorate:
      decorate(operands);
      break;
    case spv::OpVariable:
      if (operands[2] == spv::StorageClassWorkgroup) {
        const auto pointee = pointees_.find(operands[0]);
        if (pointee != pointees_.end()) facts_.shared_bytes += size_of(pointee->second);
      }
      break;
    case spv::OpArrayLength:
      facts_.uses_array_length = true;
      break;
    default:
      define_type(op, operands);
      define_constant(op, operands);
  }
}

void Inspector::decorate(const Operands& operands) {
  switch (operands[1]) {
    case spv::DecorationSpecId:
      spec_ids_[operands[0]] = operands[2];
      break;
    case spv::DecorationDescriptorSet:
      sets_[operands[0]] = operands[2];
      break;
    case spv::DecorationBinding:
      bindings_[operands[0]] = operands[2];
      break;
    case spv::DecorationBuiltIn:
      if (operands[2] == spv::BuiltInWorkgroupSize) workgroup_size_ = operands[0];
      break;
    default:
      break;
  }
}

/// Sizes are without padding: what shared memory takes at the least.
void Inspector::define_type(uint32_t op, const Operands& operands) {
  switch (op) {
    case spv::OpTypeBool:
      sizes_[operands[0]] = 4;
      break;
    case spv::OpTypeInt:
    case spv::OpTypeFloat:
      sizes_[operands[0]] = operands[1] / 8;
      break;
    case spv::OpTypeVector:
    case spv::OpTypeMatrix:
      sizes_[operands[0]] = size_of(operands[1]) * operands[2];
      break;
    case spv::OpTypeArray:
      sizes_[operands[0]] = size_of(operands[1]) * value(operands[2]);
      break;
    case spv::OpTypeStruct: {
      uint64_t bytes = 0;
      for (const uint32_t member : operands.from(1)) bytes += size_of(member);
      sizes_[operands[0]] = bytes;
      break;
    }
    case spv::OpTypePointer:
      pointees_[operands[0]] = operands[2];
      sizes_[operands[0]] = 8;
      break;
    default:
      break;
  }
}

void Inspector::define_constant(uint32_t op, const Operands& operands) {
  switch (op) {
    case spv::OpConstantTrue:
    case spv::OpConstantFalse:
      values_[operands[1]] = op == spv::OpConstantTrue;
      break;
    case spv::OpSpecConstantTrue:
    case spv::OpSpecConstantFalse:
      values_[operands[1]] = specialized(operands[1], op == spv::OpSpecConstantTrue) != 0;
      break;
    case spv::OpConstant:
      values_[operands[1]] = operands[2];
      break;
    case spv::OpSpecConstant:
      values_[operands[1]] = specialized(operands[1], operands[2]);
      break;
    case spv::OpConstantComposite:
    case spv::OpSpecConstantComposite:
      composites_[operands[1]] = operands.from(2);
      break;
    case spv::OpSpecConstantOp:
      values_[operands[1]] = fold(operands);
      break;
    default:
      break;
  }
}

uint64_t Inspector::specialized(uint32_t id, uint64_t value) const {
  const auto spec_id = spec_ids_.find(id);
  if (spec_id == spec_ids_.end()) return value;
  const auto given = specialization_.find(spec_id->second);
  return given == specialization_.end() ? value : given->second;
}

/// The 32-bit integer operations sizes are made of; anything else counts as 0.
uint64_t Inspector::fold(const Operands& operands) const {
  const auto argument = [&](size_t i) { return static_cast<uint32_t>(value(operands[3 + i])); };
  switch (operands[2]) {
    case spv::OpIAdd:
      return argument(0) + argument(1);
    case spv::OpISub:
      return argument(0) - argument(1);
    case spv::OpIMul:
      return argument(0) * argument(1);
    case spv::OpUDiv:
    case spv::OpSDiv:
      return argument(1) ? argument(0) / argument(1) : 0;
    case spv::OpUMod:
    case spv::OpSMod:
    case spv::OpSRem:
      return argument(1) ? argument(0) % argument(1) : 0;
    case spv::OpShiftLeftLogical:
      return argument(1) < 32 ? argument(0) << argument(1) : 0;
    case spv::OpShiftRightLogical:
    case spv::OpShiftRightArithmetic:
      return argument(1) < 32 ? argument(0) >> argument(1) : 0;
    case spv::OpSelect:
      return argument(0) ? argument(1) : argument(2);
    case spv::OpIEqual:
      return argument(0) == argument(1);
    case spv::OpINotEqual:
      return argument(0) != argument(1);
    case spv::OpUGreaterThan:
      return argument(0) > argument(1);
    case spv::OpULessThan:
      return argument(0) < argument(1);
    case spv::OpBitcast:
      return argument(0);
    case spv::OpCompositeExtract: {
      const auto composite = composites_.find(operands[3]);
      if (composite == composites_.end() || operands[4] >= composite->second.size()) return 0;
      return value(composite->second[operands[4]]);
    }
    default:
      return 0;
  }
}

uint64_t Inspector::value(uint32_t id) const {
  const auto found = values_.find(id);
  return found == values_.end() ? 0 : found->second;
}

uint64_t Inspector::size_of(uint32_t type) const {
  const auto found = sizes_.find(type);
  return found == sizes_.end() ? 0 : found->second;
}

SpirvFacts Inspector::finish() {
  const auto set_local_size = [this](const std::vector<uint32_t>& ids) {
    for (size_t axis = 0; axis < 3 && axis < ids.size(); ++axis) {
      facts_.local_size[axis] = static_cast<uint32_t>(value(ids[axis]));
    }
  };
  set_local_size(local_size_ids_);
  const auto overriding = composites_.find(workgroup_size_);
  if (overriding != composites_.end()) set_local_size(overriding->second);
  std::set<uint32_t> bindings;
  for (const auto& [id, binding] : bindings_) {
    const auto set = sets_.find(id);
    if (set == sets_.end() || set->second == 0) bindings.insert(binding);
  }
  facts_.bindings.assign(bindings.begin(), bindings.end());
  facts_.uses_float16 = std::count(facts_.capabilities.begin(), facts_.capabilities.end(),
                                   uint32_t{spv::CapabilityFloat16}) > 0;
  return std::move(facts_);
}

}  // namespace

SpirvFacts inspect_spirv(const Spirv& spirv,
                         const std::vector<std::pair<uint32_t, uint32_t>>& specialization) {
  if (spirv.size() < kHeaderWords) malformed("it has fewer words than a header");
  if (spirv[0] != spv::MagicNumber) malformed("the first word is not its magic number");
  Inspector inspector(specialization);
  for (size_t at = kHeaderWords; at < spirv.size();) {
    const uint32_t length = spirv[at] >> 16;
    if (length == 0 || length > spirv.size() - at) malformed("an instruction runs past the end");
    inspector.visit(spirv[at] & 0xffff, Operands(std::span(spirv).subspan(at + 1, length - 1)));
    at += length;
  }
  return inspector.finish();
}

}  // namespace kbench::vulkan
