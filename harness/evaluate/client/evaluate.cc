#include "kbench/evaluate.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "harness/evaluate/client/device_list.h"
#include "harness/evaluate/client/judge_client.h"
#include "kbench/error.h"

namespace kbench {

Cancelled::Cancelled() : Error(ErrorCode::kTimeout, "the evaluation was cancelled") {}

namespace {

/// `more`: other questions will follow, for which runners are started ahead.
Result ask(client::JudgeClient& judge, const Question& question, const Observer& observer,
           bool more, const std::stop_token& stop) {
  judge::EvaluateRequest request{.question = question, .more = more};
  request.progress = observer.on_progress != nullptr;
  return judge.run(request, observer, nullptr, stop);
}

}  // namespace

struct JudgeProcess::State {
  explicit State(JudgeOptions given)
      : options(std::move(given)), judge(options.program, options.device, /*validate=*/false) {}

  /// Calls `use` while no other thread uses the judge.
  template <class Use>
  decltype(auto) alone(const std::stop_token& stop, Use use) {
    std::unique_lock lock(mutex);
    if (!freed.wait(lock, stop, [&] { return !busy; })) throw Cancelled();
    busy = true;
    lock.unlock();
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
    return use();
  }

  const JudgeOptions options;
  client::JudgeClient judge;
  std::mutex mutex;
  std::condition_variable_any freed;
  bool busy = false;
};

JudgeProcess::JudgeProcess(JudgeOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}

JudgeProcess::~JudgeProcess() = default;
JudgeProcess::JudgeProcess(JudgeProcess&&) noexcept = default;
JudgeProcess& JudgeProcess::operator=(JudgeProcess&&) noexcept = default;

Result JudgeProcess::evaluate(const Question& question, const Observer& observer,
                              std::stop_token stop) {
  expect_readable(question.candidate);
  return state_->alone(stop,
                       [&] { return ask(state_->judge, question, observer, /*more=*/true, stop); });
}

std::vector<DeviceSummary> JudgeProcess::devices() {
  const vulkan::DeviceSnapshot& device = state_->alone(
      {}, [&]() -> const auto& { return state_->judge.snapshot(); });
  return {client::summary_of(device)};
}

Result evaluate(const Question& question, const JudgeOptions& options, const Observer& observer,
                std::stop_token stop) {
  expect_readable(question.candidate);
  client::JudgeClient judge(options.program, options.device, question.rule.validate);
  return ask(judge, question, observer, /*more=*/false, stop);
}

}  // namespace kbench
