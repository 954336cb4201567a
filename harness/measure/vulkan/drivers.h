// Which drivers the environment tells Vulkan's loader to use.
#pragma once

#include <string>

namespace kbench::vulkan {

/// What is wrong with the files that VK_DRIVER_FILES (or VK_ICD_FILENAMES, which it replaces)
/// names: "VK_DRIVER_FILES names /a.json, which is not there". Empty where nothing is.
std::string absent_drivers();

/// The same of a variable's value. Pure but for looking whether files are there.
std::string absent_drivers(const std::string& variable, const std::string& value);

}  // namespace kbench::vulkan
