#include "harness/measure/vulkan/cuda.h"

#include <string>

#include "harness/measure/vulkan/device.h"
#include "harness/measure/vulkan/functions.h"
#include "kbench/error.h"

namespace kbench::vulkan {
namespace {

template <class F>
void get(VkDevice device, const char* name, F& call) {
  call = reinterpret_cast<F>(vkGetDeviceProcAddr(device, name));
}

/// A driver may report a bad cubin by any error: all but a lost device become kCompile.
void check_load(VkResult result, const char* call, const std::string& what, int line) {
  try {
    check(result, call, __FILE__, line);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInternal) throw;
    throw Error(ErrorCode::kCompile, "the driver refuses " + what + ": " + error.message());
  }
}

}  // namespace

CudaCalls CudaCalls::of(VkDevice device) {
  CudaCalls calls;
  get(device, "vkCreateCuModuleNVX", calls.create_module);
  get(device, "vkDestroyCuModuleNVX", calls.destroy_module);
  get(device, "vkCreateCuFunctionNVX", calls.create_function);
  get(device, "vkDestroyCuFunctionNVX", calls.destroy_function);
  get(device, "vkCmdCuLaunchKernelNVX", calls.launch);
  const bool all = calls.create_module && calls.destroy_module && calls.create_function &&
                   calls.destroy_function && calls.launch;
  return all ? calls : CudaCalls{};
}

CudaFunction::CudaFunction(Device& device, std::span<const std::byte> cubin,
                           const std::string& entry)
    : device_(device) {
  const CudaCalls& calls = device.cuda();
  if (!calls.there()) {
    throw Error(ErrorCode::kUnsupported, "device '" + device.snapshot().name +
                                             "' launches no CUDA kernels "
                                             "(" VK_NVX_BINARY_IMPORT_EXTENSION_NAME ")");
  }
  VkCuModuleCreateInfoNVX module_info{};
  module_info.sType = VK_STRUCTURE_TYPE_CU_MODULE_CREATE_INFO_NVX;
  module_info.dataSize = cubin.size();
  module_info.pData = cubin.data();
  check_load(calls.create_module(device.handle(), &module_info, nullptr, &module_),
             "vkCreateCuModuleNVX", "the compiled kernel", __LINE__);
  VkCuFunctionCreateInfoNVX function_info{};
  function_info.sType = VK_STRUCTURE_TYPE_CU_FUNCTION_CREATE_INFO_NVX;
  function_info.module = module_;
  function_info.pName = entry.c_str();
  try {
    check_load(calls.create_function(device.handle(), &function_info, nullptr, &function_),
               "vkCreateCuFunctionNVX", "the kernel's entry " + entry, __LINE__);
  } catch (...) {
    calls.destroy_module(device.handle(), module_, nullptr);
    throw;
  }
}

CudaFunction::~CudaFunction() {
  if (device_.hung()) return;  // a run may still be using it
  device_.cuda().destroy_function(device_.handle(), function_, nullptr);
  device_.cuda().destroy_module(device_.handle(), module_, nullptr);
}

}  // namespace kbench::vulkan
