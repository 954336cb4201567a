// Which drivers the environment tells Vulkan's loader to use.
#pragma once

#include <string>

namespace kbench::vulkan {

/// What is wrong with the files that VK_DRIVER_FILES (or VK_ICD_FILENAMES, which it replaces)
/// names: "VK_DRIVER_FILES names /a.json, which is not there". Empty where nothing is wrong.
std::string absent_drivers();

/// The same for a variable's value. It looks whether files exist and does nothing else.
std::string absent_drivers(const std::string& variable, const std::string& value);

}  // namespace kbench::vulkan
