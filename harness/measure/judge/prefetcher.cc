#include "harness/measure/judge/prefetcher.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "harness/measure/trial/slab_layout.h"
#include "libkbench/base/start_thread.h"

namespace kbench::judge {
namespace {

using Clock = std::chrono::steady_clock;

/// Each open runner holds device and host memory: one runner is kept open, and one candidate
/// begun, for each so many bytes of the device's memory.
constexpr uint64_t kBytesARunner = uint64_t{20} << 30, kBytesACandidate = uint64_t{10} << 30;
constexpr size_t kFewest = 2, kMostRunners = 6, kMostBegun = client::kMostFilesAhead;
/// How long a trial takes to its first run if its candidate is ready. The driver does one thing at
/// a time, and that trial's own memory comes first.
constexpr std::chrono::milliseconds kPreparing(100);
/// Tasks with memory made ahead: making one (memory, the baseline's pipelines) may take longer than
/// a trial.
constexpr size_t kMostTasks = 3;
/// How long the thread may wait before it looks whether pause() was called.
constexpr std::chrono::milliseconds kLook(5);
/// One part in so many of a device's memory is left to candidates and drivers when task memory is
/// made ahead.
constexpr uint64_t kReserve = 8;

}  // namespace

Prefetcher::Prefetcher(const RunnerProcess::Options& options, NewBaseline new_baseline,
                       RetiringRunners& retiring)
    : new_baseline_(std::move(new_baseline)), retiring_(retiring), pool_(options) {}

Prefetcher::~Prefetcher() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    going_ = false;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::string Prefetcher::uuid() const { return vulkan::to_string(device_->snapshot().device_uuid); }

bool Prefetcher::has_begun(const client::EvaluateRequest& request) const {
  return std::ranges::any_of(begun_, [&](const auto& each) { return each->answers(request); });
}

size_t Prefetcher::runners() const {
  const vulkan::DeviceSnapshot& snapshot = device_->snapshot();
  if (snapshot.software()) return kFewest;
  return std::clamp<size_t>(snapshot.device_local_bytes / kBytesARunner, kFewest, kMostRunners);
}

size_t Prefetcher::begun_at_most() const {
  return std::clamp<size_t>(device_->snapshot().device_local_bytes / kBytesACandidate, kFewest,
                            kMostBegun);
}

/// Several runners that open at once take little longer than one.
void Prefetcher::top_up_for(const client::EvaluateRequest& request) {
  pool_.top_up(runners(), history_.expected(request.candidate) ? runners() : 0);
}

std::unique_ptr<CandidateBuild> Prefetcher::take_build(const client::EvaluateRequest& request) {
  pause();
  const auto found =
      std::ranges::find_if(begun_, [&](const auto& each) { return each->answers(request); });
  if (found != begun_.end()) {
    auto build = std::move(*found);
    begun_.erase(begun_.begin(), found + 1);  // The client skipped those before it.
    build->runner().spare_processors(false);
    return build;
  }
  now_ = request;
  plan();
  std::erase_if(
      begun_, [&](const auto& each) {  // The client asked for something other than it announced.
        return std::ranges::none_of(
            following_, [&](const client::EvaluateRequest& next) { return each->answers(next); });
      });
  if (request.more && pool_.size() <= 1) top_up_for(request);
  auto runner = pool_.take(history_.expected(request.candidate));
  at_preparation(request, nullptr);
  return new_build(std::move(runner), request);
}

std::unique_ptr<CandidateBuild> Prefetcher::separate_build(const client::EvaluateRequest& request) {
  constexpr size_t kFew = 2;  // Several open the device in little more time than one.
  pause();
  if (pool_.size() == 0) pool_.top_up(kFew, 0);
  return new_build(pool_.take(history_.expected(request.candidate)), request);
}

std::unique_ptr<CandidateBuild> Prefetcher::new_build(std::unique_ptr<RunnerProcess> runner,
                                                      const client::EvaluateRequest& request) {
  runner->wait_open(uuid());
  return std::make_unique<CandidateBuild>(std::move(runner), request, device_->snapshot(),
                                          history_);
}

ReadyTask Prefetcher::take_next() {
  ReadyTask ready = std::move(next_.front());
  next_.pop_front();
  return ready;
}

std::optional<ReadyTask> Prefetcher::take_memory(const TaskAt& key) {
  pause();
  while (!next_.empty()) {
    ReadyTask ready = take_next();
    if (ready.memory->key() == key) return ready;
    leave(std::move(ready));  // The client skipped it.
  }
  return std::nullopt;
}

void Prefetcher::leave(ReadyTask old) {
  pause();
  if (old.memory && old.baseline) {
    try {
      old.memory->wait_baseline(*old.baseline);
    } catch (const RunnerFailure&) {
      old.baseline.reset();
    }
  }
  if (old.baseline && spares_.size() + next_.size() < kMostTasks) {
    spares_.push_back(std::move(old));
  } else if (old.memory) {
    left_.push_back(std::move(old.memory));
  }
}

void Prefetcher::make_room() {
  pause();
  while (!next_.empty()) leave(take_next());
  while (give_back() || give_back_spares()) {
  }
}

void Prefetcher::at_preparation(const client::EvaluateRequest& of, const TaskMemory* at) {
  if (while_measuring_ && !of.next_files.empty()) resume(of, at, Clock::now() + kPreparing);
}

void Prefetcher::at_runs(const client::EvaluateRequest& measured, const TaskMemory& at) {
  if (!while_measuring_) return quiet();
  {
    const std::lock_guard lock(mutex_);
    memory_from_ = Clock::time_point::max();
    if (going_ && at_ == &at) return;  // Since at_preparation().
  }
  resume(measured, &at, Clock::time_point::max());
}

void Prefetcher::at_samples() {
  const std::lock_guard lock(mutex_);
  memory_from_ = Clock::now();
}

void Prefetcher::at_rest(const client::EvaluateRequest& last, const TaskMemory* at) {
  if (!last.more) return;
  if (while_measuring_) return resume(last, at, Clock::now());
  try {
    pool_.top_up(1, 0);             // The client asks for one at a time.
  } catch (const RunnerFailure&) {  // The next request will report it.
  }
}

void Prefetcher::quiet() {
  pause();
  pool_.wait_open(uuid());
  std::erase_if(spares_, [&](const ReadyTask& each) {
    try {
      each.baseline->runner().wait_open(uuid());
      return false;
    } catch (const RunnerFailure&) {
      return true;
    }
  });
}

void Prefetcher::resume(const client::EvaluateRequest& now, const TaskMemory* at,
                        Clock::time_point memory_from) {
  pause();
  now_ = now;
  at_ = at;
  planned_ = false;
  // One thread is kept, as runners end with the thread that started them.
  try {
    if (!thread_.joinable()) thread_ = start_thread<std::thread>([this] { work(); });
  } catch (const Error&) {  // Nothing is made ready.
    return;
  }
  const std::lock_guard lock(mutex_);
  memory_from_ = memory_from;
  going_ = true;
  changed_.notify_all();
}

void Prefetcher::pause() {
  std::unique_lock lock(mutex_);
  going_ = false;
  changed_.wait(lock, [&] { return !working_; });
}

void Prefetcher::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return going_ || ending_; });
    if (ending_) return;
    working_ = true;
    const bool memory_too = Clock::now() >= memory_from_;
    lock.unlock();
    const bool more = step(memory_too);
    lock.lock();
    working_ = false;
    if (!more) going_ = false;
    changed_.notify_all();
  }
}

/// Does one thing that takes milliseconds, or makes one task's memory. False when nothing is left
/// to do. What the next request waits for comes first.
bool Prefetcher::step(bool memory_too) {
  try {
    if (!planned_) plan();
    if (start_runners() || start_spare() || begin_next()) return true;
    // Allocating blocks while the driver tears down another process, and blocks this process's
    // submissions too.
    memory_too = memory_too && retiring_.all_ended();
    if (memory_too && (give_back() || make_task_memory() || attach_one())) return true;
    if (memory_too && following_.empty() && give_back_spares()) return true;
    if (wait_for_device()) return true;
    if (!memory_too) std::this_thread::sleep_for(kLook);
    return !memory_too;
  } catch (const RunnerFailure&) {  // The trial that needs the runner will report it.
    return false;
  } catch (const std::exception&) {
    return false;
  }
}

void Prefetcher::plan() {
  planned_ = true;
  client::EvaluateRequest alike = now_;
  alike.next_files.clear();
  following_.assign(now_.next_files.size(), alike);
  for (size_t i = 0; i < following_.size(); ++i) following_[i].candidate = now_.next_files[i];
}

const client::EvaluateRequest* Prefetcher::first_not_begun() const {
  if (begun_.size() >= begun_at_most()) return nullptr;
  const auto found = std::ranges::find_if(
      following_, [&](const client::EvaluateRequest& next) { return !has_begun(next); });
  return found == following_.end() ? nullptr : &*found;
}

/// Of the builds begun, the first whose task has no task memory.
const CandidateBuild* Prefetcher::first_without_memory() const {
  const auto found = std::ranges::find_if(
      begun_, [&](const auto& each) { return each->well() && memory_for(each->key()) == nullptr; });
  return found == begun_.end() ? nullptr : found->get();
}

const TaskMemory* Prefetcher::memory_for(const TaskAt& key) const {
  if (at_ && at_->key() == key) return at_;
  const auto found =
      std::ranges::find_if(next_, [&](const ReadyTask& each) { return each.memory->key() == key; });
  return found == next_.end() ? nullptr : found->memory.get();
}

bool Prefetcher::start_runners() {
  if (!now_.more) return false;
  if (following_.empty()) {  // Not known: taken to be like the one now measured.
    const size_t for_cuda = history_.expected(now_.candidate) ? runners() : 0;
    return pool_.open_another(runners(), for_cuda, uuid());
  }
  size_t wanted = 0, for_cuda = 0;
  for (const client::EvaluateRequest& next : following_) {
    if (has_begun(next)) continue;
    ++wanted;
    for_cuda += history_.expected(next.candidate) ? 1 : 0;
  }
  wanted = std::clamp<size_t>(wanted, 1, runners());
  return pool_.open_another(wanted, for_cuda, uuid());
}

/// Starts one spare baseline process if any request follows, another if one is not enough.
bool Prefetcher::start_spare() {
  const size_t there = spares_.size() + next_.size();
  if (there >= kMostTasks || !spares_.empty() || following_.empty() || now_.check_only ||
      (there > 0 && first_without_memory() == nullptr)) {
    return false;
  }
  spares_.push_back({nullptr, new_baseline_()});
  return true;
}

bool Prefetcher::begin_next() {
  const client::EvaluateRequest* next = first_not_begun();
  if (next == nullptr) return false;
  auto runner = pool_.take_open(history_.expected(next->candidate), uuid());
  if (!runner) return false;
  auto build = new_build(std::move(runner), *next);
  build->begin([&] {
    build->runner().spare_processors(true);  // The judge's clock needs some.
    if (const TaskMemory* task_memory = memory_for(build->key())) build->attach(*task_memory);
  });
  begun_.push_back(std::move(build));
  return true;
}

/// Attaches a candidate that was begun before its task's memory was made.
bool Prefetcher::attach_one() {
  const auto lacking = std::ranges::find_if(begun_, [&](const auto& each) {
    const TaskMemory* task_memory = each->well() ? memory_for(each->key()) : nullptr;
    return task_memory != nullptr && !each->attached_to(*task_memory);
  });
  if (lacking == begun_.end()) return false;
  try {
    (*lacking)->attach(*memory_for((*lacking)->key()));
  } catch (const RunnerFailure&) {  // It will be begun anew.
    begun_.erase(lacking);
  }
  return true;
}

bool Prefetcher::give_back() {
  if (left_.empty()) return false;
  left_.pop_back();
  return true;
}

/// Gives back the memory that a spare baseline process keeps for its next task.
bool Prefetcher::give_back_spares() {
  const auto holder =
      std::ranges::find_if(spares_, [](const auto& each) { return each.memory != nullptr; });
  if (holder == spares_.end()) return false;
  holder->memory.reset();
  try {
    holder->baseline->release_memory();
  } catch (const RunnerFailure&) {
    spares_.erase(holder);
  }
  return true;
}

bool Prefetcher::make_task_memory() {
  const CandidateBuild* build = first_without_memory();
  if (build == nullptr || does_not_fit_ == build->key() || now_.check_only) return false;
  auto open = spares_.begin();
  while (open != spares_.end() && !opens(open, std::chrono::milliseconds(0))) ++open;
  if (open == spares_.end()) return false;
  const vulkan::DeviceSnapshot& snapshot = device_->snapshot();
  const uint64_t needed =
      trial::required_bytes(build->graph(), snapshot) + snapshot.device_local_bytes / kReserve;
  if (needed > device_->available_bytes()) return give_back_spares();
  ReadyTask ready = std::move(*open);
  spares_.erase(open);
  ready.baseline->runner().spare_processors(true);  // The judge's clock needs some.
  try {
    ready.memory = std::make_unique<TaskMemory>(*device_, *ready.baseline, build->key(),
                                                secret_.next(), std::move(ready.memory));
    next_.push_back(std::move(ready));
  } catch (const RunnerFailure&) {
  } catch (const Error&) {  // The driver has less memory than it says. The baseline process, told
                            // in part, is dropped.
    does_not_fit_ = build->key();
  }
  return true;
}

bool Prefetcher::opens(std::vector<ReadyTask>::iterator which, std::chrono::milliseconds most) {
  try {
    return which->baseline->runner().opens_within(most, uuid());
  } catch (const RunnerFailure&) {
    spares_.erase(which);
    throw;
  }
}

/// Waits a moment for a runner that is opening its device; false if none is.
bool Prefetcher::wait_for_device() {
  if (pool_.wait_for_opening(uuid(), kLook)) return true;
  for (auto each = spares_.begin(); each != spares_.end(); ++each) {
    if (opens(each, std::chrono::milliseconds(0))) continue;
    opens(each, kLook);
    return true;
  }
  return false;
}

}  // namespace kbench::judge
