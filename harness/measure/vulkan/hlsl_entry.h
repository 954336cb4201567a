// The entry points of a shader in HLSL, as its text has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kbench::vulkan {

/// Names of the functions behind [numthreads(...)], in order.
std::vector<std::string> hlsl_entry_points(std::string_view text);

}  // namespace kbench::vulkan
