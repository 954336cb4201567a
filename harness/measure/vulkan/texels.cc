#include "harness/measure/vulkan/texels.h"

#include <algorithm>
#include <array>

#include "harness/measure/vulkan/spirv_names.h"

namespace kbench::vulkan {
namespace {

struct Entry {
  VkFormat format;
  uint32_t named;  ///< SpvImageFormat
  const char* name;
  uint32_t bytes, components;
  Scalar::Kind kind;
};

using enum Scalar::Kind;
constexpr std::array kEntries = {
    Entry{VK_FORMAT_R32_SFLOAT, spv::ImageFormatR32f, "r32f", 4, 1, floating},
    Entry{VK_FORMAT_R32G32_SFLOAT, spv::ImageFormatRg32f, "rg32f", 8, 2, floating},
    Entry{VK_FORMAT_R32G32B32A32_SFLOAT, spv::ImageFormatRgba32f, "rgba32f", 16, 4, floating},
    Entry{VK_FORMAT_R32_UINT, spv::ImageFormatR32ui, "r32ui", 4, 1, uint},
    Entry{VK_FORMAT_R32G32_UINT, spv::ImageFormatRg32ui, "rg32ui", 8, 2, uint},
    Entry{VK_FORMAT_R32G32B32A32_UINT, spv::ImageFormatRgba32ui, "rgba32ui", 16, 4, uint},
    Entry{VK_FORMAT_R32_SINT, spv::ImageFormatR32i, "r32i", 4, 1, sint},
    Entry{VK_FORMAT_R32G32_SINT, spv::ImageFormatRg32i, "rg32i", 8, 2, sint},
    Entry{VK_FORMAT_R32G32B32A32_SINT, spv::ImageFormatRgba32i, "rgba32i", 16, 4, sint},
    Entry{VK_FORMAT_R16_SFLOAT, spv::ImageFormatR16f, "r16f", 2, 1, floating},
    Entry{VK_FORMAT_R16G16_SFLOAT, spv::ImageFormatRg16f, "rg16f", 4, 2, floating},
    Entry{VK_FORMAT_R16G16B16A16_SFLOAT, spv::ImageFormatRgba16f, "rgba16f", 8, 4, floating},
    Entry{VK_FORMAT_R16_UINT, spv::ImageFormatR16ui, "r16ui", 2, 1, uint},
    Entry{VK_FORMAT_R16_SINT, spv::ImageFormatR16i, "r16i", 2, 1, sint},
    Entry{VK_FORMAT_R8_UINT, spv::ImageFormatR8ui, "r8ui", 1, 1, uint},
    Entry{VK_FORMAT_R8_SINT, spv::ImageFormatR8i, "r8i", 1, 1, sint},
};

const Entry* entry_of(VkFormat format) {
  const auto found = std::find_if(kEntries.begin(), kEntries.end(),
                                  [format](const Entry& each) { return each.format == format; });
  return found == kEntries.end() ? nullptr : &*found;
}

}  // namespace

const std::vector<VkFormat>& known_texel_formats() {
  static const std::vector<VkFormat> all = [] {
    std::vector<VkFormat> formats;
    for (const Entry& each : kEntries) formats.push_back(each.format);
    return formats;
  }();
  return all;
}

uint32_t texel_bytes(VkFormat format) {
  const Entry* entry = entry_of(format);
  return entry ? entry->bytes : 1;
}

std::string texel_name(VkFormat format) {
  const Entry* entry = entry_of(format);
  return entry ? entry->name : "an unknown format";
}

VkFormat texel_format(const Resource& resource, uint32_t component_bytes) {
  for (const Entry& each : kEntries) {
    const bool fits = resource.image_format != spv::ImageFormatUnknown
                          ? each.named == resource.image_format
                          : each.components == 1 && each.bytes == component_bytes &&
                                each.kind == resource.texel.kind;
    if (fits) return each.format;
  }
  return VK_FORMAT_UNDEFINED;
}

}  // namespace kbench::vulkan
