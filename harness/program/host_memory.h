// Memory of this machine.
#pragma once

#include <cstdint>

namespace kbench::program {

/// Bytes that can be had without swapping; 0 when the system does not say.
int64_t available_host_bytes();

}  // namespace kbench::program
