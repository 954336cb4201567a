// Formats of typed buffers (HLSL's Buffer and RWBuffer, GLSL's textureBuffer and imageBuffer).
#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <string>
#include <vector>

#include "harness/measure/vulkan/spirv_interface.h"

namespace kbench::vulkan {

/// Those that kbench binds: 1, 2 or 4 components of 8, 16 or 32 bits, none of them normalised.
const std::vector<VkFormat>& known_texel_formats();
/// Bytes of a texel of a known format, and its name as GLSL writes it ("rgba32f").
uint32_t texel_bytes(VkFormat format);
std::string texel_name(VkFormat format);

/// The format that the shader names; where it names none, that of one component of
/// `component_bytes`. VK_FORMAT_UNDEFINED where there is none.
VkFormat texel_format(const Resource& resource, uint32_t component_bytes);

}  // namespace kbench::vulkan
