#include "kbench/evaluate.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "harness/evaluate/client/judge_client.h"
#include "kbench/error.h"

namespace kbench {

Cancelled::Cancelled() : Error(ErrorCode::kTimeout, "the evaluation was cancelled") {}

namespace {

client::EvaluateRequest request_of(const CandidateSource& candidate, const EvaluateOptions& options,
                                   bool check_only, bool more) {
  client::EvaluateRequest request{candidate, options, check_only, more};
  request.progress = options.on_progress != nullptr;
  return request;
}

Result run_alone(const CandidateSource& candidate, const EvaluateOptions& options, bool check_only,
                 const std::stop_token& stop) {
  expect_readable(candidate);
  client::JudgeClient judge(options.program, options.device, options.validate);
  return judge.run(request_of(candidate, options, check_only, /*more=*/false), options.on_stage,
                   nullptr, stop);
}

}  // namespace

struct Evaluator::State {
  explicit State(EvaluateOptions given)
      : options(std::move(given)), judge(options.program, options.device, options.validate) {}

  Result run(const CandidateSource& candidate, bool check_only, const std::stop_token& stop) {
    expect_readable(candidate);
    std::unique_lock lock(mutex);
    if (!freed.wait(lock, stop, [&] { return !busy; })) throw Cancelled();
    busy = true;
    lock.unlock();
    // One at a time: the judge is this thread's until it is freed.
    struct Free {
      State& state;
      ~Free() {
        {
          const std::lock_guard guard(state.mutex);
          state.busy = false;
        }
        state.freed.notify_one();
      }
    } free{*this};
    return judge.run(request_of(candidate, options, check_only, /*more=*/true), options.on_stage,
                     nullptr, stop);
  }

  const EvaluateOptions options;
  client::JudgeClient judge;
  std::mutex mutex;
  std::condition_variable_any freed;
  bool busy = false;
};

Evaluator::Evaluator(EvaluateOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}

Evaluator::~Evaluator() = default;
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;

Result Evaluator::evaluate(const CandidateSource& candidate, std::stop_token stop) {
  return state_->run(candidate, /*check_only=*/false, stop);
}

Result Evaluator::check(const CandidateSource& candidate, std::stop_token stop) {
  return state_->run(candidate, /*check_only=*/true, stop);
}

Result evaluate(const CandidateSource& candidate, const EvaluateOptions& options,
                std::stop_token stop) {
  return run_alone(candidate, options, /*check_only=*/false, stop);
}

Result check(const CandidateSource& candidate, const EvaluateOptions& options,
             std::stop_token stop) {
  return run_alone(candidate, options, /*check_only=*/true, stop);
}

}  // namespace kbench
