// The #version of a GLSL shader, checked before compiling: for a version that glslang has no
// built-in functions for, it prints those of other versions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kbench::vulkan {

/// The version of a shader that has no #version.
inline constexpr int kDefaultGlslVersion = 450;

struct GlslVersion {
  bool stated = false;  ///< the text begins with #version
  int line = 1;         ///< of the directive, or of what is wrong
  std::string error;    ///< what is wrong; empty where nothing is
};

/// Finds the directive. Wrong are one that is not the first thing in the text, one without a
/// number, and versions without compute shaders.
GlslVersion read_glsl_version(std::string_view text);

}  // namespace kbench::vulkan
