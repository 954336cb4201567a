// Evaluates the candidates of a run, of a repl or of an episode on one device.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "harness/evaluate/client/judge_client.h"
#include "harness/evaluate/queue/queue.h"
#include "harness/measure/judge_protocol/protocol.h"
#include "kbench/baseline.h"
#include "kbench/episode.h"
#include "kbench/evaluate.h"
#include "kbench/feedback.h"
#include "kbench/result.h"

namespace kbench::generate {

/// Evaluates candidates on one device. Used by one thread at a time.
class RunEvaluator : public queue::QueueJudge {
 public:
  /// `asked`: the candidate, on disk, and those that follow it; the rest of its question is
  /// replaced by the evaluator's own at the sizes of `request`. Throws only if that is wrong.
  virtual Result judge(const JudgeRequest& request, judge::EvaluateRequest asked) = 0;
  virtual Evidence investigate(const JudgeRequest&, const std::string& /*file*/, const Result&) {
    return {};
  }
};

/// Asks `how`, of `candidate`, at the sizes of the request; if that is quick, two pairs of runs,
/// which show whether a candidate is right.
Question at_sizes_of(const JudgeRequest& request, Question how, CandidateSource candidate = {});

/// Two judge processes on one device, one of which works at a time: so the sizes that were asked
/// for keep their memory and their verified baseline while smaller sizes are tried.
class DeviceEvaluator : public RunEvaluator {
 public:
  /// `how`: results are measured; the sizes come with each request. `roofline`: the device's, zeros
  /// if it was not measured. `evidence`: whether failures are investigated.
  DeviceEvaluator(const JudgeOptions& judge, Question how, const Roofline& roofline, bool evidence);

  const vulkan::DeviceSnapshot& snapshot() override { return judge_.snapshot(); }
  std::string trouble() override { return queue::trouble_with(judge_); }
  Result run(const judge::EvaluateRequest& request,
             const std::function<void(const char*)>& on_stage,
             const std::stop_token& stop) override {
    return judge_.run(request, {.on_stage = on_stage}, nullptr, stop);
  }
  Result judge(const JudgeRequest& request, judge::EvaluateRequest asked) override;
  Evidence investigate(const JudgeRequest& request, const std::string& file,
                       const Result& result) override;

 private:
  Question how_;
  Roofline roofline_;
  bool evidence_;
  client::JudgeClient judge_, small_;
};

/// Any judge that a queue can have, such as one elsewhere.
class QueueEvaluator : public RunEvaluator {
 public:
  /// `how`: results are measured; the sizes come with each request.
  QueueEvaluator(std::unique_ptr<queue::QueueJudge> judge, Question how)
      : judge_(std::move(judge)), how_(std::move(how)) {}

  const vulkan::DeviceSnapshot& snapshot() override { return judge_->snapshot(); }
  std::string trouble() override { return judge_->trouble(); }
  Result run(const judge::EvaluateRequest& request,
             const std::function<void(const char*)>& on_stage,
             const std::stop_token& stop) override {
    return judge_->run(request, on_stage, stop);
  }
  Result judge(const JudgeRequest& request, judge::EvaluateRequest asked) override {
    asked.question = at_sizes_of(request, how_, std::move(asked.question.candidate));
    return judge_->run(asked, {}, {});
  }

 private:
  std::unique_ptr<queue::QueueJudge> judge_;
  Question how_;
};

}  // namespace kbench::generate
