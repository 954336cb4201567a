// A device's judges, as a run and a repl use them.
#pragma once

#include <memory>
#include <string>

#include "harness/evaluate/client/judge_client.h"
#include "harness/evaluate/generate/bench.h"
#include "kbench/baseline.h"
#include "kbench/evaluate.h"

namespace kbench::generate {

/// Two judges on one device, never at work at once: the sizes asked for keep their memory and their
/// verified baseline while others are tried.
class DeviceBench : public Bench {
 public:
  /// `options`: how results are measured; sizes come with each request. `roofline`: the device's,
  /// zeros where it was not measured. `evidence`: whether failures are looked into.
  DeviceBench(EvaluateOptions options, const Roofline& roofline, bool evidence);

  /// Throws what is wrong with the device.
  const vulkan::DeviceSnapshot& snapshot() { return judge_.snapshot(); }
  Result judge(const JudgeRequest& request, const std::string& file,
               const std::string& next_file) override;
  Evidence investigate(const JudgeRequest& request, const std::string& file,
                       const Result& result) override;

 private:
  EvaluateOptions at_sizes_of(const JudgeRequest& request) const;

  EvaluateOptions options_;
  Roofline roofline_;
  bool evidence_;
  client::JudgeClient judge_, small_;
};

}  // namespace kbench::generate
