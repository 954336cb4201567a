// The environment a runner is started with.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>

#include "harness/measure/cuda/toolkit.h"
#include "harness/measure/process/own_folder.h"
#include "harness/measure/runner/lock_in.h"
#include "harness/measure/runner/python_interpreter.h"

namespace kbench::runner {
namespace {

constexpr std::string_view kPrefixes[] = {
    "VK_",                                     // the loader and its layers
    "LP_",     "GALLIUM_", "MESA_", "LIBGL_",  // Mesa, lavapipe
    "RADV_",   "ANV_",     "NVK_",  "INTEL_",  // its drivers of GPUs
    "AMDVLK_", "__GL_",    "__NV_",            // the vendors' own
};
constexpr std::string_view kNames[] = {
    "LD_LIBRARY_PATH", "XDG_DATA_DIRS", "XDG_CONFIG_DIRS",  // where drivers are found
    "KBENCH_NVRTC",    "CUDA_HOME",     "CUDA_PATH",        // where NVIDIA's compilers are
    "VIRTUAL_ENV",     "KBENCH_PYTHON", "DRI_PRIME",       "KBENCH_VULKAN_LOADER",
    "ASAN_OPTIONS",    "UBSAN_OPTIONS", "TSAN_OPTIONS",
};
/// Shaders that a driver keeps on disk would make the next run's compilation faster.
constexpr std::string_view kCachesOff[] = {
    "__GL_SHADER_DISK_CACHE=0",
    "MESA_SHADER_CACHE_DISABLE=1",
    "MESA_GLSL_CACHE_DISABLE=1",
};

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

bool passes(std::string_view variable) {
  const std::string_view name = name_of(variable);
  if (std::ranges::find(kCachesOff, name, name_of) != std::end(kCachesOff)) return false;
  if (std::ranges::find(kNames, name) != std::end(kNames)) return true;
  return std::ranges::any_of(kPrefixes, [&](auto prefix) { return name.starts_with(prefix); });
}

/// The folders of PATH that have a python3. Where it is a script, what that starts comes first: the
/// script may need variables that runners do not have. It is run once; never where KBENCH_PYTHON
/// names the one to use, for those of version managers take a third of a second.
std::vector<std::string> python_folders() {
  static std::mutex mutex;
  static std::map<std::string, std::string> behind;
  const std::lock_guard lock(mutex);
  if (std::getenv("KBENCH_PYTHON") != nullptr) return cuda::python_folders();
  std::vector<std::string> all;
  for (const std::string& folder : cuda::python_folders()) {
    auto at = behind.find(folder);
    if (at == behind.end()) {
      at = behind.emplace(folder, interpreter_behind(folder + "/python3")).first;
    }
    if (!at->second.empty()) all.push_back(at->second.substr(0, at->second.rfind('/')));
    all.push_back(folder);
  }
  return all;
}

}  // namespace

std::vector<std::string> sanitized_environment() {
  std::vector<std::string> result(std::begin(kCachesOff), std::end(kCachesOff));
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (passes(*variable)) result.emplace_back(*variable);
  }
  // In place of PATH, its folders that have a python3.
  std::string folders;
  for (const std::string& each : python_folders()) {
    folders += (folders.empty() ? "" : ":") + each;
  }
  result.push_back(std::string(cuda::kPythonFolders) + "=" + folders);
  result.push_back("KBENCH_CACHE=" + process::cache_folder());  // Without HOME it is not found.
  return result;
}

}  // namespace kbench::runner
