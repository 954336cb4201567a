// The #version of a GLSL shader, read before a compiler sees the text: glslang answers a version
// that it has no built-in functions for by printing those of others.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kbench::vulkan {

/// Version for a shader that names none, as GLSL's numbers go.
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
