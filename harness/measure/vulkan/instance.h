// The Vulkan instance, the physical devices it lists, and the drivers that the environment names.
#pragma once

#include <vulkan/vulkan.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "harness/measure/vulkan/snapshot.h"

namespace kbench::vulkan {

/// Owns a VkInstance and, with validation, the messenger that collects the layer's messages.
class Instance {
 public:
  /// Null when the loader finds no driver. Throws kUnsupported when `validate` is asked for and the
  /// layer is not installed.
  static std::unique_ptr<Instance> create(bool validate);
  ~Instance();
  Instance(const Instance&) = delete;

  VkInstance handle() const { return instance_; }
  std::vector<std::string> take_messages();

 private:
  Instance() = default;
  static VKAPI_ATTR VkBool32 VKAPI_CALL receive(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                VkDebugUtilsMessageTypeFlagsEXT types,
                                                const VkDebugUtilsMessengerCallbackDataEXT* data,
                                                void* self);

  VkInstance instance_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  std::mutex mutex_;  // the layer may report from any thread
  std::vector<std::string> messages_;
};

struct PhysicalDevice {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  DeviceSnapshot snapshot;
};

/// In the loader's order.
std::vector<PhysicalDevice> list_physical_devices(const Instance& instance);

/// The largest device-local heap with its size and what can still be allocated of it.
struct DeviceHeap {
  uint64_t bytes = 0;
  uint64_t free_bytes = 0;
  bool has_budget = false;  ///< free_bytes comes from the driver; else it is the heap's size
};
DeviceHeap largest_device_heap(VkPhysicalDevice device, bool memory_budget);

/// What is wrong with the files that VK_DRIVER_FILES (or VK_ICD_FILENAMES, which it replaces)
/// names: "VK_DRIVER_FILES names /a.json, which is not there". Empty where nothing is wrong.
std::string absent_drivers();

/// The same for a variable's value. It looks whether files exist and does nothing else.
std::string absent_drivers(const std::string& variable, const std::string& value);

}  // namespace kbench::vulkan
