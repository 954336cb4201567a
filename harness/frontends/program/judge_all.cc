#include "harness/frontends/program/judge_all.h"

#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

#include "harness/evaluate/queue/queue.h"
#include "kbench/error.h"

namespace kbench::program {

void judge_all(std::vector<std::unique_ptr<queue::QueueJudge>> judges,
               std::vector<NamedRequest> requests, Progress& progress,
               const std::function<void(size_t, Result)>& on_result, const std::stop_token& stop,
               OnStop on_stop) {
  std::mutex mutex;  // guards progress, failure and on_result
  std::exception_ptr failure;
  queue::Queue queue(std::move(judges));
  std::vector<queue::Job> jobs(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    jobs[i].request = std::move(requests[i].request);
    jobs[i].on_stage = [&, i](const char* stage) {
      const std::lock_guard hold(mutex);
      progress.begin(requests[i].name, stage);
    };
    jobs[i].on_outcome = [&, i](queue::Outcome outcome) {
      if (outcome.cancelled()) return;
      try {
        if (outcome.error) throw Error(*outcome.error);
        const std::lock_guard hold(mutex);
        on_result(i, *std::move(outcome.result));
      } catch (...) {
        queue.cancel_waiting();
        const std::lock_guard hold(mutex);
        if (!failure) failure = std::current_exception();
      }
    };
  }
  queue.close();
  const std::vector<uint64_t> ids = queue.add_all(std::move(jobs));
  {
    const std::stop_callback stopping(stop, [&] {
      queue.cancel_waiting();
      if (on_stop == OnStop::finish) return;
      for (const uint64_t id : ids) queue.cancel(id);
    });
    queue.wait();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kbench::program
