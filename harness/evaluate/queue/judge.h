// What judges on one device, as the queue has it.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "harness/evaluate/client/protocol.h"
#include "harness/measure/vulkan/snapshot.h"
#include "kbench/result.h"

namespace kbench::queue {

/// Used by one thread at a time.
class Judge {
 public:
  virtual ~Judge() = default;
  /// Throws Error for what is wrong with the request's options, and Cancelled soon after `stop` is
  /// requested; all other failures are results.
  virtual Result run(const client::Request& request,
                     const std::function<void(const char*)>& on_stage,
                     const std::stop_token& stop) = 0;
  /// Makes sure that it can go on. Empty, or why it cannot, now and later: the device is gone.
  virtual std::string trouble() = 0;
  /// The device. Throws what is wrong with it.
  virtual const vulkan::DeviceSnapshot& snapshot() = 0;
};

/// A judge process, as client::JudgeClient has it. Starts nothing yet.
std::unique_ptr<Judge> judge_of(const std::string& program, const std::string& device,
                                bool validate);

}  // namespace kbench::queue
