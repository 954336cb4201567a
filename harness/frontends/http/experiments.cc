#include "harness/frontends/http/experiments.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "kbench/error.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/hash.h"
#include "libkbench/base/json_text.h"

namespace kbench::http {
namespace {

size_t bytes_of(const CandidateSource& candidate) {
  size_t bytes = candidate.task_file.size();
  if (!candidate.files) return bytes;
  for (const auto& [path, text] : *candidate.files) bytes += path.size() + text.size();
  return bytes;
}

}  // namespace

std::string_view name_of(ExperimentState state) {
  return name_in<ExperimentState::failed>({"queued", "running", "done", "cancelled", "failed"},
                                          state);
}

/// Guarded by the mutex of Experiments, but for what never changes.
class Experiments::Entry {
 public:
  std::string id, author, client_id, key, digest;
  size_t bytes = 0;
  ExperimentState state = ExperimentState::queued;
  std::string stage;
  std::string outcome;  ///< a member in JSON: "result": {...} or "error": "..."
  uint64_t job = 0;     ///< the pool's id; 0 before it has one
  bool cancel = false;  ///< wanted before there was one
  bool told = false;
  Clock::time_point ended_at = {};
};

Experiments::Experiments(Pool& pool, ExperimentLimits limits, Metrics& metrics)
    : pool_(pool), limits_(limits), metrics_(metrics) {}

Experiments::~Experiments() {
  cancel_all();
  pool_.wait();
}

bool Experiments::add(const std::string& author, std::vector<NewExperiment> wanted,
                      std::vector<Added>& added) {
  std::vector<Pool::Job> jobs;
  std::vector<Handle> handles;
  {
    const std::lock_guard lock(mutex_);
    drop_old();
    size_t bytes = 0;
    added.clear();
    for (NewExperiment& each : wanted) {
      const std::string digest = Sha256().add(each.text).hex();
      if (!each.key.empty()) {
        const auto known = by_key_.find({author, each.key});
        if (known != by_key_.end()) {
          const bool same = known->second->digest == digest;
          added.push_back({same ? known->second : nullptr,
                           same ? "" : "its idempotency key belongs to another experiment"});
          continue;
        }
      }
      auto entry = std::make_shared<Entry>();
      entry->id = random_id();
      entry->author = author;
      entry->client_id = each.line.id.empty() ? "null" : each.line.id;
      entry->key = each.key;
      entry->digest = digest;
      entry->bytes = bytes_of(each.line.job.question.candidate);
      entry->cancel = all_cancelled_;
      bytes += entry->bytes;
      Pool::Job& job = jobs.emplace_back(std::move(each.line.job));
      job.observer.on_stage = [this, entry](const char* stage) {
        const std::lock_guard hold(mutex_);
        entry->state = ExperimentState::running;
        entry->stage = stage;
      };
      job.on_outcome = [this, entry](const Pool::Outcome& outcome) { end(entry, outcome); };
      handles.push_back(entry);
      added.push_back({entry, ""});
    }
    if (open_ + handles.size() > limits_.most_experiments ||
        open_bytes_ + bytes > limits_.most_bytes) {
      return false;
    }
    open_ += handles.size();
    open_bytes_ += bytes;
    for (const Handle& entry : handles) {
      by_id_[entry->id] = entry;
      if (!entry->key.empty()) by_key_[{author, entry->key}] = entry;
    }
  }
  if (jobs.empty()) return true;
  const std::vector<uint64_t> numbers = pool_.add_all(std::move(jobs));
  std::vector<uint64_t> to_cancel;
  {
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < handles.size(); ++i) {
      handles[i]->job = numbers[i];
      if (handles[i]->cancel) to_cancel.push_back(numbers[i]);
    }
  }
  for (const uint64_t job : to_cancel) pool_.cancel(job);
  return true;
}

void Experiments::end(const Handle& entry, const Pool::Outcome& outcome) {
  std::string text;
  ExperimentState state = ExperimentState::cancelled;
  if (outcome.result) {
    metrics_.add(*outcome.result);
    state = ExperimentState::done;
    text = "\"result\": " + to_json(*outcome.result);
  } else if (outcome.error) {
    metrics_.add_failed();
    state = ExperimentState::failed;
    text = "\"error\": " + json_text(nlohmann::json(shown(outcome.error->what(), 2000)));
  } else {
    metrics_.add_cancelled();
  }
  {
    const std::lock_guard lock(mutex_);
    entry->state = state;
    entry->stage.clear();
    entry->outcome = std::move(text);
    entry->ended_at = Clock::now();
    --open_;
    open_bytes_ -= entry->bytes;
    kept_bytes_ += entry->outcome.size();
    ++untold_;
    ended_.push_back(entry);
    drop_old();
  }
  changed_.notify_all();
}

/// Forgets outcomes that are too old or too many.
void Experiments::drop_old() {
  const auto oldest = Clock::now() - std::chrono::duration<double>(limits_.keep_seconds);
  while (!ended_.empty() &&
         (ended_.front()->ended_at < oldest || kept_bytes_ > limits_.keep_bytes)) {
    const Handle entry = std::move(ended_.front());
    ended_.pop_front();
    kept_bytes_ -= entry->outcome.size();
    if (!std::exchange(entry->told, true)) --untold_;
    by_id_.erase(entry->id);
    if (!entry->key.empty()) by_key_.erase({entry->author, entry->key});
  }
}

Experiments::Handle Experiments::find(const std::string& author, const std::string& id) {
  const std::lock_guard lock(mutex_);
  drop_old();
  const auto found = by_id_.find(id);
  return found == by_id_.end() || found->second->author != author ? nullptr : found->second;
}

ExperimentView Experiments::view_locked(const Handle& handle) {
  const Entry& entry = *handle;
  ExperimentView view{entry.state, "{\"experiment\": \"" + entry.id +
                                       "\", \"id\": " + entry.client_id + ", \"state\": \"" +
                                       std::string(name_of(entry.state)) + "\""};
  if (!entry.stage.empty()) view.json += ", \"stage\": \"" + entry.stage + "\"";
  if (!entry.outcome.empty()) view.json += ", " + entry.outcome;
  view.json += "}";
  if (view.ended() && !std::exchange(handle->told, true)) --untold_;
  return view;
}

ExperimentView Experiments::view(const Handle& handle) { return wait(handle, 0); }

ExperimentView Experiments::wait(const Handle& handle, double seconds) {
  std::vector<Handle> one = {handle};
  std::vector<ExperimentView> ended = wait_any(one, seconds);
  if (!ended.empty()) return std::move(ended.front());
  const std::lock_guard lock(mutex_);
  return view_locked(handle);
}

std::vector<ExperimentView> Experiments::wait_any(std::vector<Handle>& handles, double seconds) {
  const auto has_ended = [](const Handle& each) { return each->state > ExperimentState::running; };
  constexpr double kLongest = 1e6;  // A clock has no infinity.
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::duration<double>(std::min(seconds, kLongest)),
                    [&] { return released_ || std::ranges::any_of(handles, has_ended); });
  std::vector<ExperimentView> ended;
  std::erase_if(handles, [&](const Handle& each) {
    if (!has_ended(each)) return false;
    ended.push_back(view_locked(each));
    return true;
  });
  return ended;
}

void Experiments::cancel(const Handle& handle) {
  uint64_t job = 0;
  {
    const std::lock_guard lock(mutex_);
    handle->cancel = true;
    job = handle->job;
  }
  if (job != 0) pool_.cancel(job);
}

const std::string& Experiments::id_of(const Handle& handle) { return handle->id; }

void Experiments::cancel_all() {
  std::vector<Handle> all;
  {
    const std::lock_guard lock(mutex_);
    all_cancelled_ = true;
    for (const auto& [id, entry] : by_id_) all.push_back(entry);
  }
  for (const Handle& each : all) cancel(each);
}

void Experiments::release_waiters() {
  {
    const std::lock_guard lock(mutex_);
    released_ = true;
  }
  changed_.notify_all();
}

bool Experiments::wait_all(double seconds) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                           [&] { return open_ == 0; });
}

int Experiments::retry_after() {
  constexpr double kLongest = 60;
  const double each = std::max(metrics_.recent_seconds(), 0.1);
  const size_t devices = std::max<size_t>(pool_.members_left(), 1);
  // By then a tenth of what waits now will be done.
  const double seconds = 0.1 * each * double(pool_.load().waiting) / double(devices);
  return static_cast<int>(std::ceil(std::clamp(seconds, 1.0, kLongest)));
}

size_t Experiments::untold() {
  const std::lock_guard lock(mutex_);
  return untold_;
}

size_t Experiments::kept() {
  const std::lock_guard lock(mutex_);
  drop_old();
  return ended_.size();
}

}  // namespace kbench::http
