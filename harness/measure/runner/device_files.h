// The files through which a process reaches devices.
#pragma once

#include <string>
#include <vector>

namespace kbench::runner {

/// The files and folders of /dev that Vulkan's and CUDA's drivers use for the device with this
/// UUID, as vulkan::to_string() writes it. Files of other NVIDIA GPUs are left out if the driver
/// tells which is this one's. Only tests give the other two folders.
std::vector<std::string> device_files(const std::string& uuid, const std::string& dev = "/dev",
                                      const std::string& gpus = "/proc/driver/nvidia/gpus");

}  // namespace kbench::runner
