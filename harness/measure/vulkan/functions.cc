#include "harness/measure/vulkan/functions.h"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>
#include <string>

#include "kbench/error.h"

namespace kbench::vulkan {

#define KBENCH_DEFINE_VULKAN_FUNCTION(name) PFN_##name name = nullptr;
KBENCH_VULKAN_FUNCTIONS(KBENCH_DEFINE_VULKAN_FUNCTION)
#undef KBENCH_DEFINE_VULKAN_FUNCTION

namespace {

[[noreturn]] void cannot_load(const std::string& why) {
  throw Error(ErrorCode::kUnsupported,
              "the Vulkan loader cannot be opened, without which there is no device (Debian: "
              "libvulkan1): " +
                  why);
}

void* open_loader() {
  const char* named = std::getenv("KBENCH_VULKAN_LOADER");
  const char* file = named != nullptr && *named != '\0' ? named : "libvulkan.so.1";
  void* const loader = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (loader == nullptr) cannot_load(dlerror());
  return loader;
}

template <class Function>
void find(void* loader, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(loader, name));
  if (function == nullptr) cannot_load(std::string("it is too old, and lacks ") + name);
}

}  // namespace

void load_functions() {
  static std::mutex mutex;
  static bool loaded = false;  // still false after a failure: the next call tries again
  const std::lock_guard lock(mutex);
  if (loaded) return;
  void* const loader = open_loader();
#define KBENCH_FIND_VULKAN_FUNCTION(name) find(loader, #name, name);
  KBENCH_VULKAN_FUNCTIONS(KBENCH_FIND_VULKAN_FUNCTION)
#undef KBENCH_FIND_VULKAN_FUNCTION
  loaded = true;
}

}  // namespace kbench::vulkan
