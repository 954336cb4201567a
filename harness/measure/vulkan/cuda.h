// CUDA kernels in Vulkan's command lists (VK_NVX_binary_import): a cubin is launched in the same
// queue as shaders, with the same barriers and timestamps.
#pragma once

#include <vulkan/vulkan.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace kbench::vulkan {

class Device;

/// The driver's functions, null on a device that was not opened with OpenOptions::cuda or does not
/// have them.
struct CudaCalls {
  PFN_vkCreateCuModuleNVX create_module = nullptr;
  PFN_vkDestroyCuModuleNVX destroy_module = nullptr;
  PFN_vkCreateCuFunctionNVX create_function = nullptr;
  PFN_vkDestroyCuFunctionNVX destroy_function = nullptr;
  PFN_vkCmdCuLaunchKernelNVX launch = nullptr;

  static CudaCalls of(VkDevice device);
  bool there() const { return launch != nullptr; }
};

/// One kernel of a cubin, loaded. The device must outlive it and must not be running it when it
/// goes.
class CudaFunction {
 public:
  /// `entry` is the symbol's name. Throws kUnsupported where the device takes no such kernels,
  /// kCompile when the driver refuses the cubin or knows no such entry.
  CudaFunction(Device& device, std::span<const std::byte> cubin, const std::string& entry);
  ~CudaFunction();
  CudaFunction(const CudaFunction&) = delete;

  VkCuFunctionNVX handle() const { return function_; }

 private:
  Device& device_;
  VkCuModuleNVX module_ = VK_NULL_HANDLE;
  VkCuFunctionNVX function_ = VK_NULL_HANDLE;
};

}  // namespace kbench::vulkan
