// SPIRV-Tools' validator and optimizer.
#include "harness/measure/vulkan/spirv.h"

#include <optional>
#include <spirv-tools/libspirv.hpp>
#include <spirv-tools/optimizer.hpp>

#include "harness/measure/vulkan/spirv_matrix.h"
#include "harness/measure/vulkan/spirv_module.h"
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

}  // namespace kbench::vulkan
