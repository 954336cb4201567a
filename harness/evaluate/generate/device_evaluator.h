// Evaluates the candidates of a run, of a repl or of an episode on one device.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "harness/evaluate/client/judge_client.h"
#include "harness/evaluate/generate/run_evaluator.h"
#include "kbench/baseline.h"
#include "kbench/evaluate.h"

namespace kbench::generate {

/// Two judge processes on one device, one of which works at a time: so the sizes that were asked
/// for keep their memory and their verified baseline while smaller sizes are tried.
class DeviceEvaluator : public RunEvaluator {
 public:
  /// `options`: how results are measured; the sizes come with each request. `roofline`: the
  /// device's, zeros if it was not measured. `evidence`: whether failures are investigated.
  DeviceEvaluator(EvaluateOptions options, const Roofline& roofline, bool evidence);

  const vulkan::DeviceSnapshot& snapshot() override { return judge_.snapshot(); }
  std::string trouble() override { return queue::trouble_with(judge_); }
  Result run(const client::EvaluateRequest& request,
             const std::function<void(const char*)>& on_stage,
             const std::stop_token& stop) override {
    return judge_.run(request, on_stage, nullptr, stop);
  }
  Result judge(const JudgeRequest& request, client::EvaluateRequest asked) override;
  Evidence investigate(const JudgeRequest& request, const std::string& file,
                       const Result& result) override;

 private:
  EvaluateOptions options_;
  Roofline roofline_;
  bool evidence_;
  client::JudgeClient judge_, small_;
};

}  // namespace kbench::generate
