// SPIRV-Tools' validator and optimizer.

#include "harness/measure/vulkan/spirv.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <spirv-tools/libspirv.hpp>
#include <spirv-tools/optimizer.hpp>
#include <string_view>
#include <unordered_map>

#include "harness/measure/vulkan/spirv_matrix.h"
#include "harness/measure/vulkan/spirv_module.h"
#include "harness/measure/vulkan/spirv_names.h"
#include "kbench/error.h"

namespace kbench::vulkan {

namespace {

std::string validate_words(const Spirv& spirv) {
  std::string messages;
  spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_2);
  tools.SetMessageConsumer([&messages](spv_message_level_t level, const char*,
                                       const spv_position_t& position, const char* message) {
    if (level > SPV_MSG_ERROR) return;
    if (!messages.empty()) messages += '\n';
    messages += "word " + std::to_string(position.index) + ": " + message;
  });
  spvtools::ValidatorOptions options;
  options.SetScalarBlockLayout(true);
  options.SetWorkgroupScalarBlockLayout(true);
  if (tools.Validate(spirv.data(), spirv.size(), options)) return "";
  return messages.empty() ? "not valid SPIR-V" : messages;
}

constexpr int kMaxDivisionDepth = 32;
constexpr uint32_t kUndefined = 0xffffffff;  // a component of OpVectorShuffle
constexpr std::string_view kNonSemantic = "NonSemantic.";

void require_valid(const Spirv& spirv) {
  const std::string said = validate_spirv(spirv);
  if (said.empty()) return;
  // These throw clearer messages where it is no module, or its matrices are wrong.
  const SpirvModule module(spirv);
  if (MatrixTranslation::needed(module)) static_cast<void>(MatrixTranslation(module));
  refuse("is not valid SPIR-V: " + said.substr(0, said.find('\n')));
}

void require_entry(const SpirvModule& module, const std::string& entry) {
  size_t entries = 0;
  bool found = false;
  std::string others;
  for (const Instruction& each : module.instructions()) {
    if (each.op() != spv::OpEntryPoint) continue;
    ++entries;
    const std::string name = each.text(2);
    if (each[0] != spv::ExecutionModelGLCompute) continue;
    found = found || entry.empty() || name == entry;
    others += (others.empty() ? "" : ", ") + ("'" + name + "'");
  }
  if (!found) {
    refuse("has no compute entry point" + (entry.empty() ? "" : " named '" + entry + "'") +
           (others.empty() ? "" : "; it has " + others));
  }
  if (entries > 1) {
    refuse("has " + std::to_string(entries) + " entry points, a kernel's module has one");
  }
}

bool is_specialization(uint32_t op) {
  return op == spv::OpSpecConstantTrue || op == spv::OpSpecConstantFalse ||
         op == spv::OpSpecConstant;
}

void require_constants(const SpirvModule& module, const Specialization& values) {
  std::unordered_map<uint32_t, const Instruction*> by_number;
  for (const Instruction& each : module.instructions()) {
    if (!is_specialization(each.op())) continue;
    const auto number = module.decoration(each.result(), spv::DecorationSpecId);
    if (number) by_number.emplace(*number, &each);
  }
  for (const auto& [id, value] : values) {
    const std::string name = "specialization constant " + std::to_string(id);
    const auto found = by_number.find(id);
    if (found == by_number.end()) {
      throw Error(ErrorCode::kInvalidArgument,
                  "is given " + name + ", but its module does not have or does not use it");
    }
    const Instruction& constant = *found->second;
    const Instruction* type = module.definition(constant.result_type());
    if (constant.op() == spv::OpSpecConstant && (!type || (*type)[1] != 32)) {
      throw Error(ErrorCode::kInvalidArgument,
                  "is given " + name + ", which is no bool and has not 32 bits");
    }
  }
}

/// SPIRV-Tools hardly validates operations on constants, and its folder crashes on a wrong one. So
/// they are put into a function in a copy of the module, where they are validated as instructions.
void require_valid_operations(const Spirv& spirv) {
  const SpirvModule module(spirv);
  Spirv copy = spirv;
  uint32_t next_id = module.bound();
  const Instruction* main = nullptr;
  for (const Instruction& each : module.instructions()) {
    if (each.op() == spv::OpEntryPoint) main = module.definition(each[1]);
  }
  if (!main || main->op() != spv::OpFunction) malformed("its entry point is not a function");
  append_instruction(copy, spv::OpFunction, std::vector{(*main)[0], next_id++, 0u, (*main)[3]});
  append_instruction(copy, spv::OpLabel, std::vector{next_id++});
  for (const Instruction& each : module.instructions()) {
    if (each.op() != spv::OpSpecConstantOp) continue;
    std::vector<uint32_t> words = {each[0], next_id++};
    words.insert(words.end(), each.from(3).begin(), each.from(3).end());
    if (each[2] == spv::OpVectorShuffle &&
        std::find(words.begin(), words.end(), kUndefined) != words.end()) {
      refuse("shuffles undefined components into a specialization constant");
    }
    append_instruction(copy, each[2], words);
  }
  append_instruction(copy, spv::OpReturn, {});
  append_instruction(copy, spv::OpFunctionEnd, {});
  copy[3] = next_id;
  require_valid(copy);
}

using Passes = std::vector<spvtools::Optimizer::PassToken>;

Spirv run(const Spirv& spirv, Passes passes) {
  spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_2);
  optimizer.SetMessageConsumer([](spv_message_level_t, const char*, const spv_position_t&,
                                  const char*) {});  // else it prints them
  for (auto& pass : passes) optimizer.RegisterPass(std::move(pass));
  spvtools::OptimizerOptions options;
  options.set_run_validator(false);
  Spirv result;
  if (!optimizer.Run(spirv.data(), spirv.size(), &result, options)) {
    refuse("has specialization constants that SPIRV-Tools cannot fold");
  }
  return result;
}

Spirv freeze_constants(const Spirv& spirv, const Specialization& values) {
  std::unordered_map<uint32_t, std::vector<uint32_t>> patterns;
  for (const auto& [id, value] : values) patterns[id] = {value};
  Passes passes;
  passes.push_back(spvtools::CreateSetSpecConstantDefaultValuePass(patterns));
  passes.push_back(spvtools::CreateFreezeSpecConstantValuePass());
  return run(spirv, std::move(passes));
}

/// SPIRV-Tools folds a signed division of 32 bits with the host's, which traps on INT_MIN / -1. So
/// kbench divides itself: each such operation is replaced by an OpSelect that the folder cannot
/// fold, until its operands are constants.
using Divisions =
    std::unordered_map<uint32_t, uint32_t>;  ///< result -> the operation it stands for

bool is_signed_division(uint32_t op) {
  return op == spv::OpSDiv || op == spv::OpSRem || op == spv::OpSMod;
}

uint32_t divide(uint32_t op, uint32_t left, uint32_t right) {
  const auto a = static_cast<int32_t>(left), b = static_cast<int32_t>(right);
  if (b == 0) refuse("divides by zero in a specialization constant");
  if (b == -1 && a == std::numeric_limits<int32_t>::min()) {
    refuse("has a division that overflows in a specialization constant");
  }
  if (op == spv::OpSDiv) return static_cast<uint32_t>(a / b);
  const int32_t remainder = a % b;
  const bool follow_divisor = op == spv::OpSMod && remainder != 0 && (remainder < 0) != (b < 0);
  return static_cast<uint32_t>(follow_divisor ? remainder + b : remainder);
}

Divisions stand_in(Spirv& spirv) {
  Divisions divisions;
  const SpirvModule module(spirv);
  const auto is_held = [&](const Instruction& each) {
    if (each.op() != spv::OpSpecConstantOp || !is_signed_division(each[2])) return false;
    const Instruction* type = module.definition(each[0]);
    const bool vector = type && type->op() == spv::OpTypeVector;
    if (vector) type = module.definition((*type)[1]);
    if (!type || (*type)[1] != 32) return false;  // SPIRV-Tools does not fold it
    if (vector) refuse("divides signed vectors in a specialization constant");
    return true;
  };
  spirv = rewritten(module, [&](const Instruction& each, Spirv& changed) {
    if (!is_held(each)) return false;
    divisions[each[1]] = each[2];
    append_instruction(
        changed, each.op(),
        std::vector{each[0], each[1], uint32_t{spv::OpSelect}, each[0], each[3], each[4]});
    return true;
  });
  return divisions;
}

/// Computes the divisions whose operands have become constants. Returns how many.
size_t settle(Spirv& spirv, Divisions& divisions) {
  const SpirvModule module(spirv);
  const size_t before = divisions.size();
  spirv = rewritten(module, [&](const Instruction& each, Spirv& settled) {
    const auto division =
        each.op() == spv::OpSpecConstantOp ? divisions.find(each[1]) : divisions.end();
    const bool held = division != divisions.end();
    const auto left = held ? module.constant(each[4]) : std::nullopt;
    const auto right = held ? module.constant(each[5]) : std::nullopt;
    if (!left || !right) return false;
    const uint32_t value =
        divide(division->second, static_cast<uint32_t>(*left), static_cast<uint32_t>(*right));
    append_instruction(settled, spv::OpConstant, std::vector{each[0], each[1], value});
    divisions.erase(division);
    return true;
  });
  return before - divisions.size();
}

Spirv fold(Spirv spirv) {
  Divisions divisions = stand_in(spirv);
  for (int depth = 0; depth <= kMaxDivisionDepth; ++depth) {
    Passes passes;
    passes.push_back(spvtools::CreateFoldSpecConstantOpAndCompositePass());
    spirv = run(spirv, std::move(passes));
    if (divisions.empty()) return spirv;
    if (settle(spirv, divisions) == 0)
      refuse("divides what cannot be folded in a specialization constant");
  }
  refuse("nests divisions of specialization constants too deeply");
}

bool is_non_semantic(const Instruction& each) {
  return each.op() == spv::OpExtInstImport && each.text(1).starts_with(kNonSemantic);
}

}  // namespace

std::string validate_spirv(const Spirv& spirv) {
  try {
    const SpirvModule module(spirv);  // bounds the nesting that SPIRV-Tools recurses into
    if (!MatrixTranslation::needed(module)) return validate_words(spirv);
    return validate_words(MatrixTranslation(module).nv());
  } catch (const Error& error) {
    return error.what();
  }
}

Spirv optimize_spirv(const Spirv& spirv) {
  spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_2);
  std::string message;
  optimizer.SetMessageConsumer(
      [&message](spv_message_level_t level, const char*, const spv_position_t&, const char* text) {
        if (level <= SPV_MSG_ERROR && message.empty()) message = text;
      });
  optimizer.RegisterPass(spvtools::CreateStripDebugInfoPass());
  optimizer.RegisterPerformancePasses();
  spvtools::OptimizerOptions options;
  options.set_run_validator(false);
  Spirv optimized;
  if (!optimizer.Run(spirv.data(), spirv.size(), &optimized, options)) {
    throw Error(ErrorCode::kCompile, "SPIRV-Tools cannot optimize the module: " + message);
  }
  return optimized;
}

Spirv freeze_spirv(const Spirv& spirv, const Specialization& values, const std::string& entry) {
  require_valid(spirv);
  const SpirvModule module(spirv);
  require_entry(module, entry);
  require_constants(module, values);
  const auto any = [&module](auto&& is) {
    return std::any_of(module.instructions().begin(), module.instructions().end(), is);
  };
  const bool debug = any(is_non_semantic);
  const bool special = any([](const Instruction& each) {
    return is_specialization(each.op()) || each.op() == spv::OpSpecConstantOp ||
           each.op() == spv::OpSpecConstantComposite;
  });
  if (!debug && !special) return spirv;

  std::optional<MatrixTranslation> translation;
  if (MatrixTranslation::needed(module)) translation.emplace(module);
  Spirv frozen = translation ? translation->nv() : spirv;
  if (debug) {
    Passes passes;
    passes.push_back(spvtools::CreateStripNonSemanticInfoPass());
    frozen = run(frozen, std::move(passes));
  }
  if (special) {
    require_valid_operations(frozen);
    frozen = fold(freeze_constants(frozen, values));
  }
  if (translation) frozen = translation->back(frozen);
  require_valid(frozen);
  return frozen;
}

}  // namespace kbench::vulkan
