// What SPIRV-Tools does: its word on a module before a driver sees it, and its optimizer.
#include <algorithm>
#include <spirv-tools/libspirv.hpp>
#include <spirv-tools/optimizer.hpp>

#include "harness/vulkan/capabilities.h"
#include "harness/vulkan/compiler.h"
#include "kbench/error.h"

namespace kbench::vulkan {

std::string validate_spirv(const Spirv& spirv) {
  SpirvFacts facts;
  try {
    facts = inspect_spirv(spirv);
  } catch (const Error& error) {
    return error.what();
  }
  // SPIRV-Tools before 2023.4 rejects the capability itself: it cannot judge such a module.
  if (std::count(facts.capabilities.begin(), facts.capabilities.end(), kCooperativeMatrixKhr) > 0) {
    return "";
  }
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
