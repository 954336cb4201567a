// GLSL compiled for a test that looks at the SPIR-V.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "harness/measure/vulkan/compiler.h"

namespace kbench::vulkan {

/// Of GLSL without its #version line; what the compiler complains of fails the test.
inline Spirv compiled(const std::string& text, bool optimize = true) {
  static ShaderCompiler compiler;
  ShaderSource source;
  source.text = "#version 450\n" + text;
  source.file = "test.comp";
  source.optimize = optimize;
  const CompileOutcome outcome = compiler.compile(source);
  for (const Diagnostic& each : outcome.diagnostics) ADD_FAILURE() << each.message;
  return outcome.spirv;
}

}  // namespace kbench::vulkan
