#include "harness/measure/vulkan/embedded.h"

#include "harness/measure/vulkan/compiler.h"

namespace kbench::vulkan {

std::optional<std::string> embedded_shader(const std::string& name) {
  for (const EmbeddedShader* shader = kEmbeddedShaders; shader->name; ++shader) {
    if (name == shader->name) return shader->text;
  }
  return std::nullopt;
}

std::optional<std::pair<std::string, std::string>> embedded_include(const std::string& name,
                                                                    const std::string&) {
  std::optional<std::string> text = embedded_shader(name);
  if (!text) return std::nullopt;
  return std::pair(name, std::move(*text));
}

}  // namespace kbench::vulkan
