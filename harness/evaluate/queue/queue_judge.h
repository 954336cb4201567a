// The interface through which the queue evaluates candidates on one device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "harness/evaluate/client/judge_client.h"
#include "harness/evaluate/client/protocol.h"
#include "harness/measure/vulkan/snapshot.h"
#include "kbench/result.h"

namespace kbench::queue {

/// Evaluates candidates on one device. Used by one thread at a time.
class QueueJudge {
 public:
  virtual ~QueueJudge() = default;
  /// Throws Error if the request's options are wrong, and Cancelled soon after `stop` is requested.
  /// Every other failure is a result.
  virtual Result run(const client::EvaluateRequest& request,
                     const std::function<void(const char*)>& on_stage,
                     const std::stop_token& stop) = 0;
  /// Prepares for the next run. Returns "", or why the device is lost for good.
  virtual std::string trouble() = 0;
  /// The device. Throws Error if it cannot be used.
  virtual const vulkan::DeviceSnapshot& snapshot() = 0;
  /// How often a judge process took the place of one that had ended. Any thread may ask.
  virtual uint64_t restarts() const { return 0; }
};

/// QueueJudge::trouble() of a judge process: starts one if none is running.
std::string trouble_with(client::JudgeClient& client);

/// A judge process (client::JudgeClient), which starts on first use.
std::unique_ptr<QueueJudge> judge_of(const std::string& program, const std::string& device,
                                     bool validate);

}  // namespace kbench::queue
