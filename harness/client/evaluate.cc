#include "kbench/evaluate.h"

#include <utility>

#include "harness/client/judge_client.h"

namespace kbench {

struct Evaluator::State {
  EvaluateOptions options;
  client::JudgeClient judge;
};

Evaluator::Evaluator(EvaluateOptions options) {
  client::JudgeClient judge(options.program, options.device, options.validate);
  state_ = std::make_unique<State>(State{std::move(options), std::move(judge)});
}

Evaluator::~Evaluator() = default;
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;

Result Evaluator::evaluate(const std::string& candidate_file) {
  client::Request request{candidate_file, state_->options, /*check_only=*/false, /*more=*/true};
  return state_->judge.run(request, state_->options.on_stage);
}

Result Evaluator::check(const std::string& candidate_file) {
  client::Request request{candidate_file, state_->options, /*check_only=*/true, /*more=*/true};
  return state_->judge.run(request, state_->options.on_stage);
}

Result evaluate(const std::string& candidate_file, const EvaluateOptions& options) {
  client::JudgeClient judge(options.program, options.device, options.validate);
  const client::Request request{candidate_file, options, /*check_only=*/false, /*more=*/false};
  return judge.run(request, options.on_stage);
}

}  // namespace kbench
