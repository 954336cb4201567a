// The devices of a server, with all that kbench's own program asks of a device.
#pragma once

#include <vector>

#include "harness/measure/vulkan/snapshot.h"
#include "kbench/server.h"

namespace kbench {

/// Throws as Server::devices() does.
std::vector<vulkan::DeviceSnapshot> served_devices(const ServerOptions& options);

}  // namespace kbench
