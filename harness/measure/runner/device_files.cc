#include "harness/measure/runner/device_files.h"

#include <filesystem>
#include <fstream>
#include <string_view>

#include "libkbench/base/text.h"

namespace kbench::runner {
namespace {

namespace fs = std::filesystem;

/// "nvidia0" for the GPU whose file `information` names this UUID; empty if none does.
std::string nvidia_file(const std::string& uuid, const std::string& gpus) {
  std::error_code ignored;
  for (const fs::directory_entry& gpu : fs::directory_iterator(gpus, ignored)) {
    std::ifstream information(gpu.path() / "information");
    bool same = false;
    for (std::string line; std::getline(information, line);) {
      const size_t colon = line.find(':');
      if (colon == std::string::npos) continue;
      const std::string_view name = trimmed(std::string_view(line).substr(0, colon));
      const std::string value(trimmed(std::string_view(line).substr(colon + 1)));
      if (name == "GPU UUID") same = value == "GPU-" + uuid;
      if (name == "Device Minor" && same) return "nvidia" + value;
    }
  }
  return "";
}

/// "nvidia0", "nvidia12"; not "nvidiactl".
bool is_of_one_nvidia_gpu(const std::string& name) {
  constexpr std::string_view kPrefix = "nvidia";
  return name.starts_with(kPrefix) && name.size() > kPrefix.size() &&
         name.find_first_not_of("0123456789", kPrefix.size()) == std::string::npos;
}

}  // namespace

std::vector<std::string> device_files(const std::string& uuid, const std::string& dev,
                                      const std::string& gpus) {
  const std::string own = nvidia_file(uuid, gpus);
  std::error_code ignored;
  const bool there = !own.empty() && fs::exists(dev + "/" + own, ignored);
  std::vector<std::string> files;
  for (const char* name : {"dri", "kfd", "dxg", "udmabuf", "dma_heap"}) {
    files.push_back(dev + "/" + name);
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(dev, ignored)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("nvidia") && !name.starts_with("mali")) continue;
    if (there && is_of_one_nvidia_gpu(name) && name != own) continue;
    files.push_back(entry.path());
  }
  return files;
}

}  // namespace kbench::runner
