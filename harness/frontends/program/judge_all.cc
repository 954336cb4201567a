#include "harness/frontends/program/judge_all.h"

#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

#include "kbench/error.h"
#include "kbench/pool.h"

namespace kbench::program {

void judge_all(std::vector<std::unique_ptr<Evaluator>> evaluators,
               std::vector<NamedQuestion> questions, Progress& progress,
               const std::function<void(size_t, Result)>& on_result, const std::stop_token& stop,
               OnStop on_stop) {
  std::mutex mutex;  // guards progress, failure and on_result
  std::exception_ptr failure;
  Pool pool(std::move(evaluators));
  std::vector<Pool::Job> jobs(questions.size());
  if (!questions.empty()) progress.begin(questions.front().name);
  for (size_t i = 0; i < questions.size(); ++i) {
    jobs[i].question = std::move(questions[i].question);
    jobs[i].observer.on_stage = [&, i](const char* stage) {
      const std::lock_guard hold(mutex);
      progress.begin(questions[i].name, stage);
    };
    jobs[i].on_outcome = [&, i](Pool::Outcome outcome) {
      if (outcome.cancelled()) return;
      try {
        if (outcome.error) throw Error(*outcome.error);
        const std::lock_guard hold(mutex);
        on_result(i, *std::move(outcome.result));
      } catch (...) {
        pool.cancel_waiting();
        const std::lock_guard hold(mutex);
        if (!failure) failure = std::current_exception();
      }
    };
  }
  pool.close();
  const std::vector<uint64_t> ids = pool.add_all(std::move(jobs));
  {
    const std::stop_callback stopping(stop, [&] {
      pool.cancel_waiting();
      if (on_stop == OnStop::finish) return;
      for (const uint64_t id : ids) pool.cancel(id);
    });
    pool.wait();
  }
  if (failure) std::rethrow_exception(failure);
}

OutputFile::OutputFile(const std::string& path) : path_(path) {
  if (!path.empty()) writer_ = std::make_unique<ResultWriter>(path);
}

std::string OutputFile::append(const Result& result) {
  if (!writer_) return "";
  waiting_.push_back(result);
  const std::string why = write_waiting();
  if (why.empty() || said_) return "";
  said_ = true;
  return why + "; results are kept in memory, and written once that works";
}

std::string OutputFile::finish() {
  const std::string why = write_waiting();
  if (why.empty()) return "";
  return path_ + " lacks " + std::to_string(waiting_.size()) +
         (waiting_.size() == 1 ? " result: " : " results: ") + why;
}

std::string OutputFile::write_waiting() {
  size_t written = 0;
  std::string why;
  try {
    for (; written < waiting_.size(); ++written) writer_->append(waiting_[written]);
  } catch (const Error& e) {
    why = e.what();
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<ptrdiff_t>(written));
  return why;
}

}  // namespace kbench::program
