#include "harness/measure/vulkan/instance.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <utility>

#include "harness/measure/vulkan/device.h"
#include "harness/measure/vulkan/functions.h"
#include "kbench/error.h"

namespace kbench::vulkan {

namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

bool has_layer(const char* name) {
  uint32_t count = 0;
  KBENCH_VK(vkEnumerateInstanceLayerProperties(&count, nullptr));
  std::vector<VkLayerProperties> layers(count);
  KBENCH_VK(vkEnumerateInstanceLayerProperties(&count, layers.data()));
  return std::any_of(layers.begin(), layers.end(), [name](const VkLayerProperties& layer) {
    return std::strcmp(layer.layerName, name) == 0;
  });
}

}  // namespace

std::unique_ptr<Instance> Instance::create(bool validate) {
  load_functions();
  if (validate && !has_layer(kValidationLayer)) {
    throw Error(ErrorCode::kUnsupported, std::string("the validation layer ") + kValidationLayer +
                                             " is not installed (Debian: vulkan-validationlayers)");
  }
  uint32_t loader_version = VK_API_VERSION_1_0;
  KBENCH_VK(vkEnumerateInstanceVersion(&loader_version));

  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pApplicationName = "kbench";
  application.apiVersion =
      loader_version >= VK_API_VERSION_1_3 ? VK_API_VERSION_1_3 : VK_API_VERSION_1_2;

  std::unique_ptr<Instance> result(new Instance);
  VkDebugUtilsMessengerCreateInfoEXT messenger{};
  messenger.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
  messenger.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                              VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  // Not the general ones: those are the loader's, about drivers that it skips.
  messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                          VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
  messenger.pfnUserCallback = &Instance::receive;
  messenger.pUserData = result.get();

  const VkValidationFeatureEnableEXT enabled[] = {
      VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
  VkValidationFeaturesEXT validation{};
  validation.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT;
  validation.pNext = &messenger;
  validation.enabledValidationFeatureCount = std::size(enabled);
  validation.pEnabledValidationFeatures = enabled;

  const char* extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  if (validate) {
    info.pNext = &validation;
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &kValidationLayer;
    info.enabledExtensionCount = std::size(extensions);
    info.ppEnabledExtensionNames = extensions;
  }
  const VkResult created = vkCreateInstance(&info, nullptr, &result->instance_);
  if (created == VK_ERROR_INCOMPATIBLE_DRIVER) return nullptr;
  check(created, "vkCreateInstance", __FILE__, __LINE__);
  if (validate) {
    const auto create_messenger = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(result->instance_, "vkCreateDebugUtilsMessengerEXT"));
    KBENCH_VK(create_messenger(result->instance_, &messenger, nullptr, &result->messenger_));
  }
  return result;
}

Instance::~Instance() {
  if (messenger_ != VK_NULL_HANDLE) {
    const auto destroy_messenger = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(instance_, "vkDestroyDebugUtilsMessengerEXT"));
    destroy_messenger(instance_, messenger_, nullptr);
  }
  if (instance_ != VK_NULL_HANDLE) vkDestroyInstance(instance_, nullptr);
}

VkBool32 Instance::receive(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                           const VkDebugUtilsMessengerCallbackDataEXT* data, void* self) {
  auto* instance = static_cast<Instance*>(self);
  const std::lock_guard lock(instance->mutex_);
  instance->messages_.push_back(data->pMessage ? data->pMessage : "(no message)");
  return VK_FALSE;
}

std::vector<std::string> Instance::take_messages() {
  const std::lock_guard lock(mutex_);
  return std::exchange(messages_, {});
}

std::string absent_drivers(const std::string& variable, const std::string& value) {
  std::string absent;
  std::istringstream paths(value);
  for (std::string path; std::getline(paths, path, ':');) {
    std::error_code ignored;
    if (path.empty() || std::filesystem::exists(path, ignored)) continue;
    absent += (absent.empty() ? "" : " and ") + shown(path);
  }
  return absent.empty() ? "" : variable + " names " + absent + ", which is not there";
}

std::string absent_drivers() {
  for (const char* variable : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value != '\0') return absent_drivers(variable, value);
  }
  return "";
}

}  // namespace kbench::vulkan
