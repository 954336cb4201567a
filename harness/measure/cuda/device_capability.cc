#include "harness/measure/cuda/device_capability.h"

#include <cstring>

#include "harness/measure/cuda/library.h"
#include "kbench/error.h"
#include "libkbench/base/hex.h"

namespace kbench::cuda {
namespace {

bool ask_nvml(const std::array<uint8_t, 16>& uuid, ComputeCapability& found, std::string& why) {
  const Library library({"libnvidia-ml.so.1"});
  if (!library.there()) {
    why = library.reason();
    return false;
  }
  int (*init)() = nullptr;
  int (*by_uuid)(const char*, void**) = nullptr;
  int (*capability)(void*, int*, int*) = nullptr;
  int (*shutdown)() = nullptr;
  if (!library.get("nvmlInit_v2", init) || !library.get("nvmlDeviceGetHandleByUUID", by_uuid) ||
      !library.get("nvmlDeviceGetCudaComputeCapability", capability) ||
      !library.get("nvmlShutdown", shutdown)) {
    why = "libnvidia-ml.so.1 lacks a function";
    return false;
  }
  int result = init();
  if (result != kSuccess) {
    why = "nvmlInit gave " + std::to_string(result);
    return false;
  }
  void* device = nullptr;
  result = by_uuid(("GPU-" + uuid_text(uuid)).c_str(), &device);
  if (result == kSuccess) result = capability(device, &found.major, &found.minor);
  shutdown();
  if (result != kSuccess)
    why = "NVML gave " + std::to_string(result) + " for " + ("GPU-" + uuid_text(uuid));
  return result == kSuccess && found.known();
}

bool ask_cuda(const std::array<uint8_t, 16>& uuid, ComputeCapability& found, std::string& why) {
  constexpr int kMajor = 75, kMinor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
  const Library library({"libcuda.so.1"});
  if (!library.there()) {
    why = library.reason();
    return false;
  }
  int (*init)(unsigned) = nullptr;
  int (*count)(int*) = nullptr;
  int (*get)(int*, int) = nullptr;
  int (*get_uuid)(char*, int) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;
  if (!library.get("cuInit", init) || !library.get("cuDeviceGetCount", count) ||
      !library.get("cuDeviceGet", get) || !library.get("cuDeviceGetUuid_v2", get_uuid) ||
      !library.get("cuDeviceGetAttribute", attribute)) {
    why = "libcuda.so.1 lacks a function";
    return false;
  }
  int devices = 0;
  const int result = init(0);
  if (result != kSuccess || count(&devices) != kSuccess) {
    why = "cuInit gave " + std::to_string(result);
    return false;
  }
  for (int i = 0; i < devices; ++i) {
    int device = 0;
    char its[16] = {};
    if (get(&device, i) != kSuccess || get_uuid(its, device) != kSuccess) continue;
    if (std::memcmp(its, uuid.data(), sizeof its) != 0) continue;
    return attribute(&found.major, kMajor, device) == kSuccess &&
           attribute(&found.minor, kMinor, device) == kSuccess && found.known();
  }
  why = "none of CUDA's " + std::to_string(devices) + " devices has that UUID";
  return false;
}

}  // namespace

ComputeCapability device_capability(const std::array<uint8_t, 16>& uuid) {
  ComputeCapability found;
  std::string nvml, cuda;
  if (ask_nvml(uuid, found, nvml) || ask_cuda(uuid, found, cuda)) return found;
  throw Error(ErrorCode::kUnsupported,
              "the device's compute capability is not known: NVML: " + nvml + "; CUDA: " + cuda);
}

}  // namespace kbench::cuda
