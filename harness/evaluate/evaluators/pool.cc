#include "kbench/pool.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "harness/evaluate/evaluators/backlog.h"
#include "harness/measure/judge_protocol/protocol.h"
#include "kbench/error.h"
#include "libkbench/base/start_thread.h"

namespace kbench {
namespace {

using evaluators::Backlog;
using evaluators::Waiting;
using Job = Pool::Job;

/// Whether the outcome may mean that the device is lost. trouble() then decides.
bool doubtful(const Pool::Outcome& outcome) {
  return outcome.error || (outcome.result && (outcome.result->verdict == Verdict::harness_error ||
                                              outcome.result->verdict == Verdict::device_lost));
}

/// All that is asked, but of which candidate: where it is equal, the next one is compiled ahead.
std::string options_of(Question question) {
  CandidateSource none;
  none.task_file = question.candidate.task_file;
  question.candidate = std::move(none);
  return to_json(judge::EvaluateRequest{.question = std::move(question)});
}

struct TurnEnd : Pool::Outcome {
  std::optional<judge::StillCompiling> still;  ///< there is no outcome yet
};

TurnEnd turn_at(Evaluator& evaluator, const Job& job, const Turn& turn,
                const std::stop_token& stop) {
  TurnEnd outcome;
  try {
    outcome.result = job.work ? job.work(evaluator, turn)
                              : evaluator.take_turn(job.question, turn, job.observer, stop);
  } catch (const judge::StillCompiling& still) {
    outcome.still = still;
  } catch (const Cancelled&) {
  } catch (const Error& e) {
    outcome.error = e;
  } catch (const std::exception& e) {
    outcome.error = Error(ErrorCode::kInternal, e.what());
  } catch (...) {
    outcome.error = Error(ErrorCode::kInternal, "a callback threw what is no exception");
  }
  return outcome;
}

}  // namespace

/// The jobs, and a thread for each evaluator.
class Pool::State {
 public:
  explicit State(std::vector<std::unique_ptr<Evaluator>> evaluators);
  ~State() { end(); }

 private:
  friend class Pool;
  struct Entry {
    Job job;
    std::string options;           ///< jobs with equal options may be compiled ahead
    std::optional<Outcome> first;  ///< of the try on a lost device
    std::stop_source stop;
    bool waits = true;  ///< no evaluator is at it, or one that only compiles it
  };
  using Lock = std::unique_lock<std::mutex>;

  void end();
  void cancel_waiting();
  void work(size_t member);
  bool run(size_t member, uint64_t id, Lock& lock);
  Turn turn_of(size_t member, const Entry& entry);
  void leave(size_t member, uint64_t id, bool begun, Lock& lock);
  bool take_compiling(uint64_t id);
  std::optional<uint64_t> next(size_t member, bool compiling);
  void lose(size_t member, const std::string& why, Lock& lock);
  Waiting waiting_of(uint64_t id, const Entry& entry) const;
  std::optional<Outcome> ending(const Entry& entry) const;
  void deliver(uint64_t id, Outcome outcome, Lock& lock);

  std::vector<std::unique_ptr<Evaluator>> evaluators_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Backlog backlog_;
  std::vector<std::deque<uint64_t>> compiling_;  ///< by member: jobs that it was left to compile
  std::vector<bool> on_gpu_;                     ///< by member
  std::map<uint64_t, std::shared_ptr<Entry>> entries_;  ///< jobs without an outcome yet
  size_t delivering_ = 0;
  std::vector<std::string> troubles_;
  uint64_t last_id_ = 0;
  bool closed_ = false, ending_ = false;
  std::vector<std::jthread> threads_;
};

Pool::State::State(std::vector<std::unique_ptr<Evaluator>> evaluators)
    : evaluators_(std::move(evaluators)),
      backlog_(evaluators_.size()),
      compiling_(evaluators_.size()),
      on_gpu_(evaluators_.size()),
      troubles_(evaluators_.size()) {
  try {
    for (size_t member = 0; member < evaluators_.size(); ++member) {
      threads_.push_back(start_thread<std::jthread>([this, member] { work(member); }));
    }
  } catch (const Error&) {
    end();
    throw;
  }
}

void Pool::State::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (const auto& [id, entry] : entries_) entry->stop.request_stop();
  }
  cancel_waiting();
  changed_.notify_all();
  threads_.clear();
}

void Pool::State::cancel_waiting() {
  Lock lock(mutex_);
  for (const Waiting& each : backlog_.clear()) deliver(each.id, {}, lock);
  for (auto& ids : compiling_) {
    for (const uint64_t id : std::exchange(ids, {})) deliver(id, {}, lock);
  }
}

Waiting Pool::State::waiting_of(uint64_t id, const Entry& entry) const {
  return {id, entry.job.group, entry.job.member, std::nullopt};
}

/// The outcome of a job that no device is left for.
std::optional<Pool::Outcome> Pool::State::ending(const Entry& entry) const {
  if (entry.first) return entry.first;
  Result result;
  result.candidate = shown(entry.job.question.candidate.path);
  result.verdict = Verdict::harness_error;
  std::string why = entry.job.member ? troubles_.at(*entry.job.member) : "";
  for (auto last = troubles_.rbegin(); last != troubles_.rend() && why.empty(); ++last) why = *last;
  result.message = (entry.job.member ? "the device is lost: " : "no device is left: ") + why;
  return Outcome{std::move(result), {}};
}

/// Calls on_outcome without the lock, because it may add jobs.
void Pool::State::deliver(uint64_t id, Outcome outcome, Lock& lock) {
  const auto found = entries_.find(id);
  const auto entry = std::move(found->second);
  entries_.erase(found);
  ++delivering_;
  lock.unlock();
  entry->job.on_outcome(std::move(outcome));
  lock.lock();
  --delivering_;
  changed_.notify_all();
}

/// Whether it was left to its compiler, as it is no longer.
bool Pool::State::take_compiling(uint64_t id) {
  size_t count = 0;
  for (auto& ids : compiling_) count += std::erase(ids, id);
  return count > 0;
}

/// The job to go on with; with `compiling` rather one of those that the device was left to compile,
/// and those alone where they are as many as it takes.
std::optional<uint64_t> Pool::State::next(size_t member, bool compiling) {
  auto& ids = compiling_[member];
  if ((!compiling || ids.empty()) && ids.size() < judge::kMostLeft) {
    if (const auto taken = backlog_.take(member)) return taken->id;
  }
  if (ids.empty()) return std::nullopt;
  const uint64_t id = ids.front();
  ids.pop_front();
  return id;
}

/// Its evaluator has not waited for its compiler.
void Pool::State::leave(size_t member, uint64_t id, bool begun, Lock& lock) {
  Entry& entry = *entries_.at(id);
  entry.waits = true;
  if (entry.stop.stop_requested()) return deliver(id, {}, lock);
  if (begun) {
    compiling_[member].push_back(id);
  } else if (!backlog_.add(waiting_of(id, entry))) {
    return deliver(id, *ending(entry), lock);
  }
  changed_.notify_all();
}

void Pool::State::work(size_t member) {
  std::string why = evaluators_[member]->trouble();
  bool gpu = false;
  if (why.empty()) {
    try {
      const std::vector<DeviceSummary> devices = evaluators_[member]->devices();
      gpu = !devices.empty() && devices.front().type != "cpu";
    } catch (const Error& error) {
      why = error.what();
    }
  }
  Lock lock(mutex_);
  if (!why.empty()) return lose(member, why, lock);
  on_gpu_[member] = gpu;
  bool judged = false;  // Then one of those that compile has its turn.
  while (!ending_ && troubles_[member].empty()) {
    if (const auto id = next(member, judged)) {
      judged = run(member, *id, lock);
    } else {
      changed_.wait(lock);
    }
  }
}

Turn Pool::State::turn_of(size_t member, const Entry& entry) {
  Turn turn;
  const std::vector<uint64_t> following = backlog_.following(member);
  turn.more = !closed_ || !following.empty();
  for (const uint64_t id : following) {
    const Entry& next = *entries_.at(id);
    if (next.options == entry.options) turn.next.push_back(next.job.question.candidate);
  }
  const bool to_any = on_gpu_[member] && !entry.job.work;  // Work would begin anew.
  if (!to_any && !entry.job.yields) return turn;
  turn.others = [this, member, to_any, author = entry.job.question.candidate.author] {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(entries_, [&](const auto& each) {
      const Entry& other = *each.second;
      return other.waits && other.job.member.value_or(member) == member &&
             (to_any || other.job.question.candidate.author != author);
    });
  };
  return turn;
}

/// Whether that was an evaluation, and the job was not left to its compiler.
bool Pool::State::run(size_t member, uint64_t id, Lock& lock) {
  const auto entry = entries_.at(id);
  entry->waits = false;
  const Turn turn = turn_of(member, *entry);
  lock.unlock();
  TurnEnd outcome = turn_at(*evaluators_[member], entry->job, turn, entry->stop.get_token());
  const std::string why = doubtful(outcome) ? evaluators_[member]->trouble() : "";
  lock.lock();
  if (outcome.still) {
    leave(member, id, outcome.still->begun, lock);
    return false;
  }
  if (why.empty()) {
    deliver(id, std::move(outcome), lock);
    return true;
  }
  const bool again = !entry->first && !entry->stop.stop_requested() && !ending_;
  if (!entry->first) entry->first = std::move(outcome);
  entry->waits = true;
  Waiting waiting = waiting_of(id, *entry);
  waiting.never_on = member;
  troubles_[member] = why;
  if (!again || !backlog_.add(std::move(waiting), /*at_front=*/true)) {
    deliver(id, *entry->first, lock);
  }
  lose(member, why, lock);
  return true;
}

void Pool::State::lose(size_t member, const std::string& why, Lock& lock) {
  troubles_[member] = why;
  for (const Waiting& each : backlog_.take_out(member)) {
    deliver(each.id, *ending(*entries_.at(each.id)), lock);
  }
  for (const uint64_t id : std::exchange(compiling_[member], {})) {
    const Entry& entry = *entries_.at(id);
    if (!backlog_.add(waiting_of(id, entry))) deliver(id, *ending(entry), lock);
  }
  changed_.notify_all();
}

Pool::Pool(std::vector<std::unique_ptr<Evaluator>> evaluators)
    : state_(std::make_unique<State>(std::move(evaluators))) {}
Pool::~Pool() = default;

Result Pool::evaluate(const Question& question, const Observer& observer, std::stop_token stop) {
  if (stop.stop_requested()) throw Cancelled();
  const auto promise = std::make_shared<std::promise<Outcome>>();
  const uint64_t id = add({
      .question = question,
      .observer = observer,
      .on_outcome = [promise](Outcome outcome) { promise->set_value(std::move(outcome)); },
  });
  const std::stop_callback stopping(stop, [&] { cancel(id); });
  Outcome outcome = promise->get_future().get();
  if (outcome.error) throw Error(*outcome.error);
  if (outcome.cancelled()) throw Cancelled();
  return *std::move(outcome.result);
}

uint64_t Pool::add(Job job) {
  std::vector<Job> jobs;
  jobs.push_back(std::move(job));
  return add_all(std::move(jobs)).front();
}

std::vector<uint64_t> Pool::add_all(std::vector<Job> jobs) {
  std::vector<std::shared_ptr<State::Entry>> entries;
  for (Job& job : jobs) {
    const auto& entry = entries.emplace_back(std::make_shared<State::Entry>());
    entry->options = options_of(job.question);
    entry->job = std::move(job);
  }
  std::vector<uint64_t> ids, for_none;
  State::Lock lock(state_->mutex_);
  for (const auto& entry : entries) {
    const uint64_t id = ids.emplace_back(++state_->last_id_);
    state_->entries_.emplace(id, entry);
    if (!state_->backlog_.add(state_->waiting_of(id, *entry))) for_none.push_back(id);
  }
  for (const uint64_t id : for_none)
    state_->deliver(id, *state_->ending(*state_->entries_.at(id)), lock);
  lock.unlock();
  state_->changed_.notify_all();
  return ids;
}

bool Pool::cancel(uint64_t id) {
  State::Lock lock(state_->mutex_);
  const auto found = state_->entries_.find(id);
  if (found == state_->entries_.end()) return false;
  if (state_->backlog_.remove(id) || state_->take_compiling(id)) {
    state_->deliver(id, {}, lock);
  } else {
    const auto entry = found->second;
    lock.unlock();
    entry->stop.request_stop();
  }
  return true;
}

void Pool::close() {
  const std::lock_guard lock(state_->mutex_);
  state_->closed_ = true;
}

void Pool::wait() {
  State::Lock lock(state_->mutex_);
  state_->changed_.wait(lock, [&] { return state_->entries_.empty() && state_->delivering_ == 0; });
}

Pool::Load Pool::load() {
  const std::lock_guard lock(state_->mutex_);
  size_t waiting = state_->backlog_.size();
  for (const auto& ids : state_->compiling_) waiting += ids.size();
  return {state_->entries_.size(), waiting};
}

uint64_t Pool::restarts() const {
  uint64_t count = 0;
  for (const auto& evaluator : state_->evaluators_) count += evaluator->restarts();
  return count;
}

std::string Pool::trouble() {
  const std::lock_guard lock(state_->mutex_);
  if (state_->backlog_.devices_left() > 0) return "";
  return state_->troubles_.empty() ? "there is no evaluator" : state_->troubles_.back();
}

std::vector<DeviceSummary> Pool::devices() {
  std::vector<DeviceSummary> all;
  for (size_t member = 0; member < state_->evaluators_.size(); ++member) {
    if (!trouble_of(member).empty()) continue;
    for (DeviceSummary& each : state_->evaluators_[member]->devices())
      all.push_back(std::move(each));
  }
  return all;
}

size_t Pool::members_left() {
  const std::lock_guard lock(state_->mutex_);
  return state_->backlog_.devices_left();
}

std::string Pool::trouble_of(size_t member) {
  const std::lock_guard lock(state_->mutex_);
  return state_->troubles_.at(member);
}

void Pool::cancel_waiting() { state_->cancel_waiting(); }

}  // namespace kbench
