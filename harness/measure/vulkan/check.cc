// Vulkan results as errors.
#include <cstring>
#include <string>

#include "harness/measure/vulkan/device.h"
#include "kbench/error.h"

namespace kbench::vulkan {
namespace {

#define KBENCH_RESULT(name) \
  case name:                \
    return #name
std::string result_name(VkResult result) {
  switch (result) {
    KBENCH_RESULT(VK_NOT_READY);
    KBENCH_RESULT(VK_TIMEOUT);
    KBENCH_RESULT(VK_INCOMPLETE);
    KBENCH_RESULT(VK_ERROR_OUT_OF_HOST_MEMORY);
    KBENCH_RESULT(VK_ERROR_OUT_OF_DEVICE_MEMORY);
    KBENCH_RESULT(VK_ERROR_INITIALIZATION_FAILED);
    KBENCH_RESULT(VK_ERROR_DEVICE_LOST);
    KBENCH_RESULT(VK_ERROR_MEMORY_MAP_FAILED);
    KBENCH_RESULT(VK_ERROR_LAYER_NOT_PRESENT);
    KBENCH_RESULT(VK_ERROR_EXTENSION_NOT_PRESENT);
    KBENCH_RESULT(VK_ERROR_FEATURE_NOT_PRESENT);
    KBENCH_RESULT(VK_ERROR_INCOMPATIBLE_DRIVER);
    KBENCH_RESULT(VK_ERROR_TOO_MANY_OBJECTS);
    KBENCH_RESULT(VK_ERROR_FRAGMENTED_POOL);
    KBENCH_RESULT(VK_ERROR_OUT_OF_POOL_MEMORY);
    KBENCH_RESULT(VK_ERROR_FRAGMENTATION);
    KBENCH_RESULT(VK_ERROR_INVALID_SHADER_NV);
    KBENCH_RESULT(VK_ERROR_UNKNOWN);
    default:
      return "VkResult " + std::to_string(static_cast<int>(result));
  }
}
#undef KBENCH_RESULT

ErrorCode code_of(VkResult result) {
  switch (result) {
    case VK_TIMEOUT:
      return ErrorCode::kTimeout;
    case VK_ERROR_DEVICE_LOST:
      return ErrorCode::kDeviceLost;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
      return ErrorCode::kOutOfMemory;
    default:
      return ErrorCode::kInternal;
  }
}

}  // namespace

void check(VkResult result, const char* call, const char* file, int line) {
  if (result == VK_SUCCESS) return;
  const char* slash = std::strrchr(file, '/');
  const std::string expression(call);
  throw Error(code_of(result), expression.substr(0, expression.find('(')) + " gave " +
                                   result_name(result) + " (" + (slash ? slash + 1 : file) + ":" +
                                   std::to_string(line) + ")");
}

}  // namespace kbench::vulkan
