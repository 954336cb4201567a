#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "harness/evaluate/client/device_list.h"
#include "harness/evaluate/client/judge_client.h"
#include "harness/evaluate/diagnose/investigate.h"
#include "harness/evaluate/evaluators/judge_inside.h"
#include "kbench/error.h"
#include "kbench/evaluate.h"

namespace kbench {

namespace {

/// Most seconds that an investigation spends on smaller sizes, and again on mutants: other
/// candidates are waiting.
constexpr double kInvestigateSeconds = 8;

judge::EvaluateRequest request_of(const Question& question, const Turn& turn,
                                  const Observer& observer) {
  return {.question = question,
          .more = turn.more,
          .next_files = turn.next,
          .progress = observer.on_progress != nullptr,
          .others = turn.others};
}

}  // namespace

struct JudgeProcess::State {
  explicit State(JudgeOptions given)
      : options(std::move(given)),
        judge(options.program, options.device, /*validate=*/false),
        looking(options.program, options.device, /*validate=*/false) {}

  client::JudgeClient& judge_for(const Question& question) {
    return question.plan.looks() && !question.check ? looking : judge;
  }

  /// Calls `use` while no other thread uses the judges.
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
  client::JudgeClient judge, looking;
  std::mutex mutex;
  std::condition_variable_any freed;
  bool busy = false;
  std::optional<DeviceSummary> device;  ///< once it is known
};

JudgeProcess::JudgeProcess(JudgeOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}

JudgeProcess::~JudgeProcess() = default;
JudgeProcess::JudgeProcess(JudgeProcess&&) noexcept = default;
JudgeProcess& JudgeProcess::operator=(JudgeProcess&&) noexcept = default;

Result JudgeProcess::evaluate(const Question& question, const Observer& observer,
                              std::stop_token stop) {
  return take_turn(question, {.more = true}, observer, std::move(stop));
}

Result JudgeProcess::take_turn(const Question& question, const Turn& turn, const Observer& observer,
                               std::stop_token stop) {
  expect_readable(question.candidate);
  return state_->alone(stop, [&] {
    return state_->judge_for(question).run(request_of(question, turn, observer), observer, nullptr,
                                           stop);
  });
}

Evidence JudgeProcess::investigate(const Question& question, const Result& result) {
  diagnose::InvestigateOptions options;
  options.question = question;
  options.seconds = kInvestigateSeconds;
  return state_->alone(
      {}, [&] { return diagnose::investigate(state_->judge_for(question), result, options); });
}

std::string JudgeProcess::trouble() {
  return state_->alone({}, [&] { return state_->judge.trouble(); });
}

uint64_t JudgeProcess::restarts() const {
  return state_->judge.restarts() + state_->looking.restarts();
}

std::vector<DeviceSummary> JudgeProcess::devices() {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->device) return {*state_->device};
  }
  const DeviceSummary device =
      state_->alone({}, [&] { return client::summary_of(state_->judge.snapshot()); });
  const std::lock_guard lock(state_->mutex);
  state_->device = device;
  return {device};
}

client::JudgeClient& JudgeInside::client(JudgeProcess& judge) { return judge.state_->judge; }

void JudgeInside::expect_validation(JudgeProcess& judge) {
  for (client::JudgeClient* each : {&judge.state_->judge, &judge.state_->looking})
    each->expect_validation();
}

Result evaluate(const Question& question, const JudgeOptions& options, const Observer& observer,
                std::stop_token stop) {
  expect_readable(question.candidate);
  client::JudgeClient judge(options.program, options.device, question.rule.validate);
  return judge.run(request_of(question, {}, observer), observer, nullptr, stop);
}

}  // namespace kbench
