#include "harness/evaluate/queue/queue.h"

#include <algorithm>
#include <utility>

#include "kbench/error.h"
#include "libkbench/base/start_thread.h"

namespace kbench::queue {
namespace {

class ClientJudge : public QueueJudge {
 public:
  ClientJudge(const std::string& program, const std::string& device, bool validate)
      : client_(program, device, validate) {}

  Result run(const judge::EvaluateRequest& request,
             const std::function<void(const char*)>& on_stage,
             const std::stop_token& stop) override {
    return client_.run(request, {.on_stage = on_stage}, nullptr, stop);
  }
  std::string trouble() override { return trouble_with(client_); }
  const vulkan::DeviceSnapshot& snapshot() override { return client_.snapshot(); }
  uint64_t restarts() const override { return client_.restarts(); }

 private:
  client::JudgeClient client_;
};

}  // namespace

std::string trouble_with(client::JudgeClient& client) {
  std::string why;
  constexpr int kTries = 2;  // A driver may need a moment after one of its processes was lost.
  for (int attempt = 1; attempt <= kTries; ++attempt) {
    try {
      client.make_ready();
      return "";
    } catch (const std::exception& e) {
      why = e.what();
    }
  }
  return why;
}

std::unique_ptr<QueueJudge> judge_of(const std::string& program, const std::string& device,
                                     bool validate) {
  return std::make_unique<ClientJudge>(program, device, validate);
}

namespace {

/// Whether the outcome may mean that the device is lost. trouble() then decides.
bool doubtful(const Outcome& outcome) {
  return outcome.error || (outcome.result && (outcome.result->verdict == Verdict::harness_error ||
                                              outcome.result->verdict == Verdict::device_lost));
}

struct Attempt : Outcome {
  std::optional<judge::StillCompiling> still;  ///< there is no outcome yet
};

Attempt attempt(QueueJudge& judge, const judge::EvaluateRequest& request, const Job& job,
                const std::stop_token& stop) {
  Attempt outcome;
  try {
    outcome.result = job.work ? job.work(judge, request) : judge.run(request, job.on_stage, stop);
  } catch (const judge::StillCompiling& still) {
    outcome.still = still;
  } catch (const Cancelled&) {
  } catch (const Error& e) {
    outcome.error = e;
  } catch (const std::exception& e) {
    outcome.error = Error(ErrorCode::kInternal, e.what());
  }
  return outcome;
}

}  // namespace

Queue::Queue(std::vector<std::unique_ptr<QueueJudge>> judges)
    : judges_(std::move(judges)),
      backlog_(judges_.size()),
      compiling_(judges_.size()),
      on_gpu_(judges_.size()),
      troubles_(judges_.size()) {
  try {
    for (size_t device = 0; device < judges_.size(); ++device) {
      threads_.push_back(start_thread<std::jthread>([this, device] { work(device); }));
    }
  } catch (const Error&) {
    end();
    throw;
  }
}

Queue::~Queue() { end(); }

void Queue::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (const auto& [id, entry] : entries_) entry->stop.request_stop();
  }
  cancel_waiting();
  changed_.notify_all();
  threads_.clear();
}

uint64_t Queue::add(Job job) {
  std::vector<Job> jobs;
  jobs.push_back(std::move(job));
  return add_all(std::move(jobs)).front();
}

std::vector<uint64_t> Queue::add_all(std::vector<Job> jobs) {
  std::vector<std::shared_ptr<Entry>> entries;
  for (Job& job : jobs) {
    const auto& entry = entries.emplace_back(std::make_shared<Entry>());
    judge::EvaluateRequest alike = job.request;
    alike.question.candidate = {};
    alike.next_files.clear();
    alike.more = false;
    entry->options = to_json(alike);
    entry->job = std::move(job);
  }
  std::vector<uint64_t> ids, for_none;
  Lock lock(mutex_);
  for (const auto& entry : entries) {
    const uint64_t id = ids.emplace_back(++last_id_);
    entries_.emplace(id, entry);
    if (!backlog_.add(waiting_of(id, *entry))) for_none.push_back(id);
  }
  for (const uint64_t id : for_none) deliver(id, *ending(*entries_.at(id)), lock);
  lock.unlock();
  changed_.notify_all();
  return ids;
}

bool Queue::cancel(uint64_t id) {
  Lock lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return false;
  if (backlog_.remove(id) || take_compiling(id)) {
    deliver(id, {}, lock);
  } else {
    const auto entry = found->second;
    lock.unlock();
    entry->stop.request_stop();
  }
  return true;
}

void Queue::cancel_waiting() {
  Lock lock(mutex_);
  for (const Waiting& each : backlog_.clear()) deliver(each.id, {}, lock);
  for (auto& ids : compiling_) {
    for (const uint64_t id : std::exchange(ids, {})) deliver(id, {}, lock);
  }
}

void Queue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

void Queue::wait() {
  Lock lock(mutex_);
  changed_.wait(lock, [&] { return entries_.empty() && delivering_ == 0; });
}

Queue::Load Queue::load() {
  const std::lock_guard lock(mutex_);
  size_t waiting = backlog_.size();
  for (const auto& ids : compiling_) waiting += ids.size();
  return {entries_.size(), waiting};
}

uint64_t Queue::restarts() const {
  uint64_t count = 0;
  for (const auto& judge : judges_) count += judge->restarts();
  return count;
}

size_t Queue::devices_left() {
  const std::lock_guard lock(mutex_);
  return backlog_.devices_left();
}

std::string Queue::trouble_of(size_t device) {
  const std::lock_guard lock(mutex_);
  return troubles_.at(device);
}

Waiting Queue::waiting_of(uint64_t id, const Entry& entry) const {
  return {id, entry.job.group, entry.job.device, std::nullopt};
}

/// The outcome of a job that no device is left for.
std::optional<Outcome> Queue::ending(const Entry& entry) const {
  if (entry.first) return entry.first;
  Result result;
  result.candidate = shown(entry.job.request.question.candidate.path);
  result.verdict = Verdict::harness_error;
  std::string why = entry.job.device ? troubles_.at(*entry.job.device) : "";
  for (auto last = troubles_.rbegin(); last != troubles_.rend() && why.empty(); ++last) why = *last;
  result.message = (entry.job.device ? "the device is lost: " : "no device is left: ") + why;
  return Outcome{std::move(result), {}};
}

/// Calls on_outcome without the lock, because it may add jobs.
void Queue::deliver(uint64_t id, Outcome outcome, Lock& lock) {
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
bool Queue::take_compiling(uint64_t id) {
  size_t count = 0;
  for (auto& ids : compiling_) count += std::erase(ids, id);
  return count > 0;
}

/// The job to go on with; with `compiling` rather one of those that the device was left to compile,
/// and those alone where they are as many as it takes.
std::optional<uint64_t> Queue::next(size_t device, bool compiling) {
  auto& ids = compiling_[device];
  if ((!compiling || ids.empty()) && ids.size() < judge::kMostLeft) {
    if (const auto taken = backlog_.take(device)) return taken->id;
  }
  if (ids.empty()) return std::nullopt;
  const uint64_t id = ids.front();
  ids.pop_front();
  return id;
}

/// Its judge has not waited for its compiler.
void Queue::leave(size_t device, uint64_t id, bool begun, Lock& lock) {
  Entry& entry = *entries_.at(id);
  entry.waits = true;
  if (entry.stop.stop_requested()) return deliver(id, {}, lock);
  if (begun) {
    compiling_[device].push_back(id);
  } else if (!backlog_.add(waiting_of(id, entry))) {
    return deliver(id, *ending(entry), lock);
  }
  changed_.notify_all();
}

void Queue::work(size_t device) {
  std::string why = judges_[device]->trouble();
  bool gpu = false;
  if (why.empty()) {
    try {
      gpu = !judges_[device]->snapshot().software();
    } catch (const Error& error) {
      why = error.what();
    }
  }
  Lock lock(mutex_);
  if (!why.empty()) return lose(device, why, lock);
  on_gpu_[device] = gpu;
  bool judged = false;  // Then one of those that compile has its turn.
  while (!ending_ && troubles_[device].empty()) {
    if (const auto id = next(device, judged)) {
      judged = run(device, *id, lock);
    } else {
      changed_.wait(lock);
    }
  }
}

judge::EvaluateRequest Queue::request_for(size_t device, const Entry& entry) {
  judge::EvaluateRequest request = entry.job.request;
  const std::vector<uint64_t> following = backlog_.following(device);
  request.more = !closed_ || !following.empty();
  for (const uint64_t id : following) {
    const Entry& next = *entries_.at(id);
    if (next.options == entry.options)
      request.next_files.push_back(next.job.request.question.candidate);
  }
  const bool to_any = on_gpu_[device] && !entry.job.work;  // Work would begin anew.
  if (!to_any && !entry.job.yields) return request;
  request.others = [this, device, to_any, author = request.question.candidate.author] {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(entries_, [&](const auto& each) {
      const Entry& other = *each.second;
      return other.waits && other.job.device.value_or(device) == device &&
             (to_any || other.job.request.question.candidate.author != author);
    });
  };
  return request;
}

/// Whether that was an evaluation, and the job was not left to its compiler.
bool Queue::run(size_t device, uint64_t id, Lock& lock) {
  const auto entry = entries_.at(id);
  entry->waits = false;
  const judge::EvaluateRequest request = request_for(device, *entry);
  lock.unlock();
  Attempt outcome = attempt(*judges_[device], request, entry->job, entry->stop.get_token());
  const std::string why = doubtful(outcome) ? judges_[device]->trouble() : "";
  lock.lock();
  if (outcome.still) {
    leave(device, id, outcome.still->begun, lock);
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
  waiting.never_on = device;
  troubles_[device] = why;
  if (!again || !backlog_.add(std::move(waiting), /*at_front=*/true)) {
    deliver(id, *entry->first, lock);
  }
  lose(device, why, lock);
  return true;
}

void Queue::lose(size_t device, const std::string& why, Lock& lock) {
  troubles_[device] = why;
  for (const Waiting& each : backlog_.take_out(device)) {
    deliver(each.id, *ending(*entries_.at(each.id)), lock);
  }
  for (const uint64_t id : std::exchange(compiling_[device], {})) {
    const Entry& entry = *entries_.at(id);
    if (!backlog_.add(waiting_of(id, entry))) deliver(id, *ending(entry), lock);
  }
  changed_.notify_all();
}

}  // namespace kbench::queue
