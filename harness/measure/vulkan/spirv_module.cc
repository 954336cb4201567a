#include "harness/measure/vulkan/spirv_module.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>

#include "harness/measure/vulkan/spirv_names.h"
#include "kbench/error.h"

namespace kbench::vulkan {

namespace {

constexpr uint32_t kMaxNesting = 255;     // SPIR-V's own limit for structures
constexpr uint32_t kMaxBound = 0x3fffff;  // and for ids

struct Results {
  bool id = false, type = false;
};

Results results_of(uint32_t op) {
  switch (op) {
    case kOpTypeCooperativeMatrixKhr:
      return {.id = true, .type = false};
    case kOpCooperativeMatrixLoadKhr:
    case kOpCooperativeMatrixMulAddKhr:
    case kOpCooperativeMatrixLengthKhr:
      return {.id = true, .type = true};
    default: {
      Results results;
      spv::HasResultAndType(static_cast<spv::Op>(op), &results.id, &results.type);
      return results;
    }
  }
}

/// The words of a type that name the types it is made of.
std::span<const uint32_t> parts_of(const Instruction& type) {
  switch (type.op()) {
    case spv::OpTypeVector:
    case spv::OpTypeMatrix:
    case spv::OpTypeArray:
    case spv::OpTypeRuntimeArray:
    case spv::OpTypeCooperativeMatrixNV:
    case kOpTypeCooperativeMatrixKhr:
      return type.from(1).first(std::min<size_t>(1, type.from(1).size()));
    case spv::OpTypeStruct:
      return type.from(1);
    case spv::OpTypePointer:
      return type.from(2);
    default:
      return {};
  }
}

bool is_type(uint32_t op) {
  return (op >= spv::OpTypeVoid && op <= spv::OpTypeFunction) ||
         op == spv::OpTypeCooperativeMatrixNV || op == kOpTypeCooperativeMatrixKhr;
}

constexpr uint64_t kEndless = std::numeric_limits<uint64_t>::max();

uint64_t saturating_multiply(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kEndless : product;
}

}  // namespace

void refuse(const std::string& why) { throw Error(ErrorCode::kCompile, why); }

void malformed(const std::string& why) { refuse("is not a SPIR-V module: " + why); }

uint32_t Instruction::operator[](size_t i) const {
  if (i >= words_.size()) malformed("an instruction is cut short");
  return words_[i];
}

std::span<const uint32_t> Instruction::from(size_t i) const {
  return words_.subspan(std::min(i, words_.size()));
}

std::string Instruction::text(size_t i) const {
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

uint32_t Instruction::result() const {
  const Results results = results_of(op_);
  return results.id ? (*this)[results.type ? 1 : 0] : 0;
}

uint32_t Instruction::result_type() const { return results_of(op_).type ? (*this)[0] : 0; }

SpirvModule::SpirvModule(std::span<const uint32_t> words) {
  if (words.size() < kSpirvHeaderWords) malformed("it has fewer words than a header");
  if (words[0] != spv::MagicNumber) malformed("the first word is not its magic number");
  header_.assign(words.begin(), words.begin() + kSpirvHeaderWords);
  if (bound() > kMaxBound) malformed("its ids reach further than SPIR-V allows");
  for (size_t at = kSpirvHeaderWords; at < words.size();) {
    const uint32_t length = words[at] >> 16;
    if (length == 0 || length > words.size() - at) malformed("an instruction runs past the end");
    add(Instruction(words[at] & 0xffff, words.subspan(at + 1, length - 1)));
    at += length;
  }
  for (const uint32_t id : forward_pointers_) {
    if (!type(id, spv::OpTypePointer)) malformed("a forward pointer is not a pointer");
  }
}

void SpirvModule::add(const Instruction& instruction) {
  switch (instruction.op()) {
    case spv::OpDecorate:
      decorate(instruction[0], kWhole, instruction, 1);
      break;
    case spv::OpMemberDecorate:
      decorate(instruction[0], instruction[1], instruction, 2);
      break;
    case spv::OpDecorationGroup:
    case spv::OpGroupDecorate:
    case spv::OpGroupMemberDecorate:
      malformed("kbench does not read decoration groups");
    case spv::OpTypeForwardPointer:
      forward_pointers_.insert(instruction[0]);
      break;
    default:
      if (is_type(instruction.op())) add_type(instruction);
  }
  define(instruction);
  instructions_.push_back(instruction);
}

void SpirvModule::define(const Instruction& instruction) {
  if (!results_of(instruction.op()).id) return;
  const uint32_t id = instruction.result();
  if (id == 0 || id >= bound()) malformed("an id is outside of the module's bound");
  if (!definitions_.emplace(id, instructions_.size()).second) malformed("an id is defined twice");
}

void SpirvModule::add_type(const Instruction& type) {
  uint32_t depth = 0;
  for (const uint32_t part : parts_of(type)) depth = std::max(depth, nesting(part));
  if (depth >= kMaxNesting) malformed("its types are nested too deeply");
  type_depth_[type[0]] = depth + 1;
}

uint32_t SpirvModule::nesting(uint32_t part) const {
  const auto found = type_depth_.find(part);
  if (found != type_depth_.end()) return found->second;
  if (!forward_pointers_.contains(part))
    malformed("a type is used before it is defined, or of a kind that kbench does not know");
  return 1;
}

void SpirvModule::decorate(uint32_t target, uint32_t member, const Instruction& instruction,
                           size_t at) {
  const uint32_t decoration = instruction[at];
  switch (decoration) {
    case spv::DecorationSpecId:
    case spv::DecorationBlock:
    case spv::DecorationBufferBlock:
    case spv::DecorationNonWritable:
    case spv::DecorationNonReadable:
    case spv::DecorationRowMajor:
    case spv::DecorationArrayStride:
    case spv::DecorationMatrixStride:
    case spv::DecorationBuiltIn:
    case spv::DecorationBinding:
    case spv::DecorationDescriptorSet:
    case spv::DecorationOffset:
      break;
    default:
      return;  // of no interest here; others may come several times
  }
  const uint32_t literal = instruction.size() > at + 1 ? instruction[at + 1] : 0;
  const auto [found, added] = decorations_.try_emplace({{target, member}, decoration}, literal);
  if (!added && found->second != literal) malformed("a decoration is given twice");
}

const Instruction* SpirvModule::definition(uint32_t id) const {
  const auto found = definitions_.find(id);
  return found == definitions_.end() ? nullptr : &instructions_[found->second];
}

const Instruction* SpirvModule::type(uint32_t id, uint32_t op) const {
  const Instruction* found = definition(id);
  return found && found->op() == op ? found : nullptr;
}

std::optional<uint32_t> SpirvModule::decoration(uint32_t id, uint32_t decoration) const {
  return member_decoration(id, kWhole, decoration);
}

std::optional<uint32_t> SpirvModule::member_decoration(uint32_t id, uint32_t member,
                                                       uint32_t decoration) const {
  const auto found = decorations_.find({{id, member}, decoration});
  if (found == decorations_.end()) return std::nullopt;
  return found->second;
}

std::optional<uint64_t> SpirvModule::constant(uint32_t id) const {
  const Instruction* found = definition(id);
  if (!found) return std::nullopt;
  if (found->op() == spv::OpConstantTrue) return 1;
  if (found->op() == spv::OpConstantFalse) return 0;
  const Instruction* integer = type(found->result_type(), spv::OpTypeInt);
  if (!integer) return std::nullopt;
  if (found->op() == spv::OpConstantNull) return 0;
  if (found->op() != spv::OpConstant) return std::nullopt;
  const uint64_t high = (*integer)[1] > 32 ? (*found)[3] : 0;
  return high << 32 | (*found)[2];
}

std::optional<uint32_t> SpirvModule::storage_class(uint32_t pointer) const {
  const Instruction* found = definition(pointer);
  const Instruction* pointer_type =
      found ? type(found->result_type(), spv::OpTypePointer) : nullptr;
  if (!pointer_type) return std::nullopt;
  return (*pointer_type)[1];
}

std::vector<uint32_t> spliced(const Instruction& from, size_t skip, size_t rest,
                              std::initializer_list<uint32_t> put) {
  if (from.size() < rest) malformed("an instruction is cut short");
  const auto words = from.words();
  std::vector<uint32_t> result(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(skip));
  result.insert(result.end(), put);
  std::copy(words.begin() + static_cast<std::ptrdiff_t>(rest), words.end(),
            std::back_inserter(result));
  return result;
}

void append_instruction(std::vector<uint32_t>& spirv, uint32_t op,
                        std::span<const uint32_t> words) {
  spirv.push_back(static_cast<uint32_t>(words.size() + 1) << 16 | op);
  spirv.insert(spirv.end(), words.begin(), words.end());
}

void append_extension(std::vector<uint32_t>& spirv, const std::string& name) {
  std::vector<uint32_t> words(name.size() / sizeof(uint32_t) + 1, 0);
  for (size_t i = 0; i < name.size(); ++i) {
    words[i / 4] |= uint32_t{static_cast<unsigned char>(name[i])} << 8 * (i % 4);
  }
  append_instruction(spirv, spv::OpExtension, words);
}

uint64_t saturating_add(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kEndless : sum;
}

// SpirvModule bounds how deeply types are nested, and with that the recursion.
uint64_t TypeSizes::packed(uint32_t type) {
  if (module_.forward_pointer(type)) return sizeof(uint64_t);
  const auto known = known_.find(type);
  if (known != known_.end()) return known->second;
  const Instruction* found = module_.definition(type);
  return known_[type] = found ? compute(*found) : kEndless;
}

uint64_t TypeSizes::compute(const Instruction& type) {
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
      return saturating_multiply(packed(type[1]), type[2]);
    case spv::OpTypeArray: {
      const auto length = module_.constant(type[2]);
      if (!length) {
        throw Error(ErrorCode::kCompile, "has an array whose length is no plain constant");
      }
      return saturating_multiply(packed(type[1]), *length);
    }
    case spv::OpTypeStruct: {
      uint64_t bytes = 0;
      for (size_t i = 1; i < type.size(); ++i) bytes = saturating_add(bytes, packed(type[i]));
      return bytes;
    }
    default:
      return kEndless;
  }
}

}  // namespace kbench::vulkan
