// SPIR-V from assembly, for modules that no compiler would write.
#pragma once

#include <gtest/gtest.h>

#include <spirv-tools/libspirv.hpp>
#include <string>

#include "harness/measure/vulkan/spirv.h"

namespace kbench::vulkan {

inline Spirv assemble(const std::string& text) {
  spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_2);
  tools.SetMessageConsumer(
      [](spv_message_level_t, const char*, const spv_position_t& at, const char* message) {
        ADD_FAILURE() << at.line << ": " << message;
      });
  Spirv spirv;
  tools.Assemble(text, &spirv);
  return spirv;
}

/// The parts of a module in the order SPIR-V wants them; main() does what `body` says.
struct Assembly {
  std::string capabilities = {};  ///< and extensions
  std::string entry_points = "OpEntryPoint GLCompute %main \"main\"\n";
  std::string modes = "OpExecutionMode %main LocalSize 1 1 1\n";
  std::string decorations = {};
  std::string declarations = {};
  std::string body = {};
  std::string functions = {};  ///< after main()

  operator Spirv() const {
    return assemble("OpCapability Shader\n" + capabilities + "OpMemoryModel Logical GLSL450\n" +
                    entry_points + modes + decorations +
                    "%void = OpTypeVoid\n%function = OpTypeFunction %void\n"
                    "%int = OpTypeInt 32 1\n%uint = OpTypeInt 32 0\n%float = OpTypeFloat 32\n"
                    "%uint_0 = OpConstant %uint 0\n%uint_1 = OpConstant %uint 1\n" +
                    declarations +
                    "%main = OpFunction %void None %function\n%main_start = OpLabel\n" + body +
                    "OpReturn\nOpFunctionEnd\n" + functions);
  }
};

}  // namespace kbench::vulkan
