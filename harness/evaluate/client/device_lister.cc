// The process that lists devices: the one part of the client that calls a driver.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "harness/evaluate/client/device_list.h"
#include "harness/measure/judge_protocol/protocol.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/error.h"

namespace kbench::client {

int run_device_lister() {
  if (fcntl(judge::kAnswerDescriptor, F_GETFD) < 0) {
    std::fputs("kbench: 'list-devices' is for kbench's own use; see kbench devices\n", stderr);
    return 2;
  }
  std::string line;
  try {
    line = "devices " + judge::to_json(vulkan::enumerate_devices()) + "\n";
  } catch (const Error& e) {
    line = "error " + judge::to_json(e) + "\n";
  }
  for (size_t written = 0; written < line.size();) {
    const ssize_t n = write(judge::kAnswerDescriptor, line.data() + written, line.size() - written);
    if (n <= 0) break;
    written += static_cast<size_t>(n);
  }
  _exit(0);  // A driver's own clean-up is of no interest.
}

}  // namespace kbench::client
