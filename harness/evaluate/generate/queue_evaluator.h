// Evaluates the candidates of a run by any judge that a queue can have, such as one elsewhere.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "harness/evaluate/generate/run_evaluator.h"

namespace kbench::generate {

class QueueEvaluator : public RunEvaluator {
 public:
  /// `options`: how results are measured; the sizes come with each request.
  QueueEvaluator(std::unique_ptr<queue::QueueJudge> judge, EvaluateOptions options)
      : judge_(std::move(judge)), options_(std::move(options)) {}

  const vulkan::DeviceSnapshot& snapshot() override { return judge_->snapshot(); }
  std::string trouble() override { return judge_->trouble(); }
  Result run(const client::EvaluateRequest& request,
             const std::function<void(const char*)>& on_stage,
             const std::stop_token& stop) override {
    return judge_->run(request, on_stage, stop);
  }
  Result judge(const JudgeRequest& request, client::EvaluateRequest asked) override {
    asked.options = at_sizes_of(request, options_);
    return judge_->run(asked, options_.on_stage, {});
  }

 private:
  std::unique_ptr<queue::QueueJudge> judge_;
  EvaluateOptions options_;
};

}  // namespace kbench::generate
