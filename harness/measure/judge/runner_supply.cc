#include "harness/measure/judge/runner_supply.h"

#include <algorithm>
#include <utility>

#include "harness/measure/runner/kept_pipelines.h"
#include "harness/measure/trial/slab_layout.h"
#include "libkbench/base/start_thread.h"
#include "libkbench/base/trace.h"

namespace kbench::judge {
namespace {

using runner::RunnerKind;
using std::chrono::milliseconds;

/// Each open process holds device and host memory: one fresh runner is kept open, one candidate
/// begun and one task made ahead for each so many bytes of the device's memory. Making a task takes
/// as long as some trials.
constexpr uint64_t kBytesARunner = uint64_t{20} << 30, kBytesACandidate = uint64_t{10} << 30,
                   kBytesATask = uint64_t{20} << 30, kBytesABaseline = uint64_t{10} << 30;
constexpr size_t kFewest = 2, kMostRunners = 6, kMostBegun = kMostFilesAhead, kMostTasks = 4,
                 kMostBaselines = 8;
/// Candidates that one runner serves, and what it may grow by meanwhile.
constexpr int kCandidatesARunner = 64;
constexpr int64_t kMostGrownBytes = int64_t{512} << 20;
/// How long a trial takes to its first run if its candidate is ready. The driver does one thing at
/// a time, and that trial's own memory comes first.
constexpr milliseconds kPreparing(100);
/// How long the thread may wait before it looks whether pause() was called.
constexpr milliseconds kLook(5);

/// Whether a process failed at what it was told: it is of no use any more.
bool fails(const auto& call) {
  try {
    call();
    return false;
  } catch (const RunnerFailure&) {
    return true;
  }
}

/// The step's name in a timeline; null for a step that only waits.
const char* name_of(Step::What what) {
  switch (what) {
    case Step::What::end_runner:
      return "end a runner";
    case Step::What::start_runner:
      return "start a runner";
    case Step::What::start_baseline:
      return "start a baseline process";
    case Step::What::begin_candidate:
      return "begin a candidate";
    case Step::What::make_baseline:
      return "make a baseline";
    case Step::What::make_task:
      return "make a task";
    case Step::What::attach_candidate:
      return "attach a candidate";
    default:
      return nullptr;
  }
}

bool maps_memory(const std::unique_ptr<BaselineProcess>& process) {
  return process && !process->runner().imported().empty();
}

size_t one_for_each(uint64_t bytes, const vulkan::DeviceSnapshot& device, size_t most) {
  return std::clamp<size_t>(device.device_local_bytes / bytes, kFewest, most);
}

}  // namespace

RunnerSupply::RunnerSupply(const RunnerProcess::Options& options, VerifiedNotes& notes)
    : options_(options), notes_(notes) {
  task_.baseline = new_baseline();
  waiting_.push_back(std::make_unique<RunnerProcess>(RunnerKind::vulkan, options_));
}

RunnerSupply::~RunnerSupply() {
  {
    const std::lock_guard lock(mutex_);
    ending_thread_ = true;
    going_ = false;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

RunnerSupply::Rules RunnerSupply::rules_of(const vulkan::DeviceSnapshot& device) {
  return {.while_measuring = !device.software(),
          .hands_on = !device.software(),
          .shares_pipelines = !device.software() && runner::pipeline_files().there()};
}

void RunnerSupply::use(vulkan::Device& device, SlabStore& store, const Rules& rules) {
  device_ = &device;
  store_ = &store;
  rules_ = rules;
}

std::unique_ptr<BaselineProcess> RunnerSupply::new_baseline() {
  auto baseline = std::make_unique<BaselineProcess>(options_);
  baseline->use(notes_);
  return baseline;
}

// --- Candidates ----------------------------------------------------------------------------------

bool RunnerSupply::has_begun(const EvaluateRequest& request) const {
  return std::ranges::any_of(begun_, [&](const auto& each) { return each->answers(request); });
}

/// Its index in coming_; the number of all for one that will not be asked for.
size_t RunnerSupply::place_of(const CandidateBuild& build) const {
  const auto found = std::ranges::find_if(
      coming_, [&](const EvaluateRequest& next) { return build.answers(next); });
  return static_cast<size_t>(found - coming_.begin());
}

ComingCandidate RunnerSupply::view(const EvaluateRequest& request) const {
  const Needs needs = history_.expected(request.question.candidate);
  const bool fresh = !rules_.hands_on || request.question.rule.fresh_runners || needs.python;
  return {.author = fresh ? "" : request.question.candidate.author,
          .kind = needs.kind,
          .begun = has_begun(request)};
}

std::unique_ptr<CandidateBuild> RunnerSupply::take(const EvaluateRequest& request) {
  pause();
  store_->expect_more(request.more);
  const auto found =
      std::ranges::find_if(begun_, [&](const auto& each) { return each->answers(request); });
  std::unique_ptr<CandidateBuild> build;
  if (found != begun_.end()) {
    build = std::move(*found);
    begun_.erase(found);
  }
  if (!build) build = take_parked(request);
  plan(request);
  std::erase_if(begun_, [&](const auto& each) { return place_of(*each) == coming_.size(); });
  if (!build) {
    auto runner = take_runner_for(request, false);
    enter(Phase::preparing, request);
    build = new_build(std::move(runner), request);
  }
  build->runner().spare_processors(false);
  build->runner().stand_by(false);
  pause();
  measured_author_ = view(request).author;
  return build;
}

/// Null where it is not parked. Those whose requests were withdrawn are ended.
std::unique_ptr<CandidateBuild> RunnerSupply::take_parked(const EvaluateRequest& request) {
  // A request comes again after each other one, in turn with those that are parked, too.
  constexpr uint64_t kLongest = 4 * kMostLeft;
  ++requests_;
  std::unique_ptr<CandidateBuild> found;
  for (auto each = parked_.begin(); each != parked_.end();) {
    if (each->build->answers(request)) {
      found = std::move(each->build);
    } else if (requests_ - each->since > kLongest) {
      end(each->build->release());
    } else {
      ++each;
      continue;
    }
    each = parked_.erase(each);
  }
  return found;
}

void RunnerSupply::park(std::unique_ptr<CandidateBuild> build) {
  pause();
  measured_author_.clear();
  build->runner().end_when({});
  build->runner().spare_processors(true);  // The judge's clock needs some.
  parked_.push_back({std::move(build), requests_});
}

std::unique_ptr<CandidateBuild> RunnerSupply::take_beside(const EvaluateRequest& request) {
  constexpr size_t kFew = 2;  // Several open the device in little more time than one.
  pause();
  if (waiting_.empty()) top_up(kFew, view(request).kind);
  return new_build(take_runner_for(request, true), request);
}

std::unique_ptr<CandidateBuild> RunnerSupply::new_build(std::unique_ptr<RunnerProcess> runner,
                                                        const EvaluateRequest& request) {
  runner->wait_open(uuid());
  return std::make_unique<CandidateBuild>(std::move(runner), request, device_->snapshot(), *store_,
                                          history_);
}

void RunnerSupply::put_back(std::unique_ptr<CandidateBuild> build, bool clean) {
  pause();
  measured_author_.clear();
  const std::string author = view(build->request()).author;
  const bool again = clean && !author.empty() && !build->needs_python() &&
                     build->runner().served() + 1 < kCandidatesARunner &&
                     build->runner().grown_bytes() <= kMostGrownBytes;
  auto runner = build->release();
  if (again) {
    try {
      runner->hand_on(author);
      waiting_.push_back(std::move(runner));
    } catch (const RunnerFailure&) {  // It has ended meanwhile.
    }
    return;
  }
  end_stopped();
  runner->hold();
  stopped_ = std::move(runner);
}

std::unique_ptr<RunnerProcess> RunnerSupply::take_runner(size_t index) {
  auto runner = std::move(waiting_.at(index));
  waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(index));
  return runner;
}

/// A runner that is open or opening, or a new one. If many requests follow and no runner is left,
/// starts several: they open at once in little more time than one.
std::unique_ptr<RunnerProcess> RunnerSupply::take_runner_for(const EvaluateRequest& request,
                                                             bool fresh) {
  ComingCandidate wanted = view(request);
  if (fresh) wanted.author.clear();
  auto chosen = choose_runner(state().waiting, wanted, false);
  const bool opens_now =
      !chosen || !waiting_[*chosen]->told_to_open();  // None is open, or about to be.
  if (!fresh && !alone_ && request.more && rules_.while_measuring && opens_now) {
    top_up(wanted.author.empty() ? state().most_fresh : kRunnersAnAuthor, wanted.kind);
    chosen = choose_runner(state().waiting, wanted, false);
  }
  auto runner =
      chosen ? take_runner(*chosen) : std::make_unique<RunnerProcess>(RunnerKind::vulkan, options_);
  runner->begin_open(wanted.kind);
  return runner;
}

void RunnerSupply::top_up(size_t runners, RunnerKind kind) {
  while (waiting_.size() < runners) {
    waiting_.push_back(std::make_unique<RunnerProcess>(RunnerKind::vulkan, options_));
  }
  for (const auto& each : waiting_) each->begin_open(kind);
}

// --- The present task ----------------------------------------------------------------------------

void RunnerSupply::ready_baseline() {
  if (!task_.baseline) {
    pause();
    task_.baseline = new_baseline();
  }
  task_.baseline->runner().wait_open(uuid());
}

void RunnerSupply::drop_baseline() {
  pause();
  task_ = {};  // A new process has not imported the memory.
}

bool RunnerSupply::take_task(const CandidateBuild& build) {
  pause();
  const auto found = std::ranges::find_if(
      ahead_, [&](const ReadyTask& each) { return each.memory->key() == build.key(); });
  const bool there = found != ahead_.end();
  if (there) {
    ReadyTask before = std::exchange(task_, std::move(*found));
    ahead_.erase(found);
    leave(std::move(before));
    task_.baseline->runner().spare_processors(false);
  }
  for (size_t i = 0; i < ahead_.size();) {  // The client skipped some.
    const TaskAt& key = ahead_[i].memory->key();
    const bool wanted = std::ranges::any_of(
        begun_, [&](const auto& each) { return each->well() && each->key() == key; });
    if (wanted) {
      ++i;
      continue;
    }
    ReadyTask skipped = std::move(ahead_[i]);
    ahead_.erase(ahead_.begin() + static_cast<ptrdiff_t>(i));
    leave(std::move(skipped));
  }
  return there;
}

size_t RunnerSupply::most_tasks() const {
  return one_for_each(kBytesATask, device_->snapshot(), kMostTasks);
}

size_t RunnerSupply::most_baselines() const {
  return one_for_each(kBytesABaseline, device_->snapshot(), kMostBaselines);
}

/// The baseline process will serve another task.
void RunnerSupply::leave(ReadyTask old) {
  if (!old.baseline || spares_.size() + ahead_.size() >= most_tasks() + most_baselines()) return;
  try {
    if (old.memory) old.memory->wait_baseline(*old.baseline);
    spares_.push_back(std::move(old.baseline));
  } catch (const RunnerFailure&) {  // Another one is started when it is needed.
  }
}

void RunnerSupply::make_task(const CandidateBuild& build) {
  pause();
  if (task_.memory) task_.memory->wait_baseline(*task_.baseline);
  task_.memory.reset();
  if (const Spare made = spare_for(build.key()); made != spares_.end()) {
    const bool another_maps =
        rules_.shares_pipelines && maps_memory(task_.baseline) && !maps_memory(*made);
    if (another_maps) (*made)->wait_prepared();
    if (!another_maps || !leaves_pipelines(**made, build.key())) {
      std::swap(task_.baseline, *made);
      task_.baseline->runner().spare_processors(false);
    }
  }
  task_.memory =
      std::make_unique<TaskMemory>(*device_, *store_, *task_.baseline, build.key(), secret_.next());
}

void RunnerSupply::make_room(uint64_t bytes) {
  pause();
  while (!ahead_.empty()) {
    leave(std::move(ahead_.front()));
    ahead_.pop_front();
  }
  const uint64_t reserve = device_->snapshot().device_local_bytes / kReserve;
  store_->drop_unused(bytes == kAllBytes ? bytes : bytes + reserve);
  if (task_.memory && task_.baseline->runner().holds_dropped(*store_)) {
    task_.memory->import_again(*store_, *task_.baseline);
  } else if (task_.baseline) {
    task_.baseline->release_memory(*store_);
  }
  std::erase_if(spares_,
                [&](const auto& spare) { return fails([&] { spare->release_memory(*store_); }); });
  // A candidate's code has run in these: they are not waited for longer than unmapping takes.
  constexpr double kSeconds = 5;
  for (auto& each : waiting_) {
    const bool failed = each->holds_dropped(*store_) && fails([&] {
                          each->wait_open(uuid());
                          each->release_memory(*store_, kSeconds);
                        });
    if (failed) end(std::exchange(each, nullptr));
  }
  std::erase(waiting_, nullptr);
  const auto ends = [&](CandidateBuild& build) {
    if (!build.runner().holds_dropped(*store_)) return false;
    if (bytes != kAllBytes && !fails([&] { build.begin_release(); })) return false;
    end(build.release());  // It is begun anew.
    return true;
  };
  std::erase_if(begun_, [&](const auto& each) { return ends(*each); });
  std::erase_if(parked_, [&](const Parked& each) { return ends(*each.build); });
  end_stopped();
  if (bytes != kAllBytes) return;
  for (const auto& each : ending_) each->wait_end();
  ending_.clear();
}

void RunnerSupply::stand_alone(bool alone) {
  alone_ = alone;
  if (!alone) return;
  pause();
  for (auto& each : waiting_) end(std::move(each));
  waiting_.clear();
  for (const auto& each : begun_) end(each->release());  // They are begun anew.
  begun_.clear();
  for (const Parked& each : parked_) end(each.build->release());
  parked_.clear();
  make_room();  // Waits until they have ended.
}

uint64_t RunnerSupply::wait_for_memory(uint64_t bytes) {
  constexpr std::chrono::seconds kMost(10), kWithoutMore(3);
  constexpr milliseconds kLookEvery(20);
  const auto free = [&] { return device_->available_bytes() + store_->unused_bytes(); };
  uint64_t most = free();
  const bool may_come =
      !device_->snapshot().software() && bytes <= device_->snapshot().device_local_bytes;
  const auto start = Clock::now();
  for (auto grown = start; may_come && most < bytes;) {
    const auto now = Clock::now();
    if (now - start > kMost || now - grown > kWithoutMore) break;
    std::this_thread::sleep_for(kLookEvery);
    const uint64_t there = free();
    if (there > most) grown = now;
    most = std::max(most, there);
  }
  return most;
}

// --- The thread ----------------------------------------------------------------------------------

void RunnerSupply::plan(const EvaluateRequest& request) {
  now_ = request;
  const auto here = std::ranges::find_if(
      first_, [&](const EvaluateRequest& each) { return same_question(each, request); });
  if (here != first_.end()) {
    coming_.assign(here + 1, first_.end());
    coming_.insert(coming_.end(), announced_.begin(), announced_.end());
    return;
  }
  EvaluateRequest alike = request;
  alike.next_files.clear();
  coming_.assign(request.next_files.size(), alike);
  for (size_t i = 0; i < coming_.size(); ++i) coming_[i].question.candidate = request.next_files[i];
  announced_ = coming_;
}

void RunnerSupply::ask_first(std::vector<EvaluateRequest> requests) {
  pause();
  first_ = std::move(requests);
}

void RunnerSupply::enter(Phase phase, const EvaluateRequest& request) {
  if (alone_) return;
  if (!rules_.while_measuring) {
    if (phase == Phase::running) quiet();
    if (phase == Phase::sampling || phase == Phase::resting) end_stopped();
    if (phase != Phase::resting || !request.more) return;
    try {
      top_up(1, RunnerKind::vulkan);  // The client asks for one at a time.
    } catch (const RunnerFailure&) {  // The next request will report it.
    }
    return;
  }
  if (phase == Phase::preparing && request.next_files.empty() && first_.empty()) return;
  if (phase == Phase::resting && !request.more) return;
  const bool goes_on = phase == Phase::running || phase == Phase::sampling;
  if (goes_on) {
    const std::lock_guard lock(mutex_);
    phase_ = phase;
    memory_from_ = phase == Phase::running ? Clock::time_point::max() : Clock::now();
    if (going_) return;
  }
  pause();
  plan(request);
  // One thread is kept, as runners end with the thread that started them.
  try {
    if (!thread_.joinable()) thread_ = start_thread<std::thread>([this] { work(); });
  } catch (const Error&) {  // Nothing is made ready.
    return;
  }
  const std::lock_guard lock(mutex_);
  phase_ = phase;
  if (!goes_on)
    memory_from_ = Clock::now() + (phase == Phase::resting ? milliseconds(0) : kPreparing);
  going_ = true;
  changed_.notify_all();
}

void RunnerSupply::quiet() {
  pause();
  const auto fails_to_open = [&](RunnerProcess& runner) {
    return runner.told_to_open() && fails([&] { runner.wait_open(uuid()); });
  };
  std::erase_if(waiting_, [&](const auto& each) { return fails_to_open(*each); });
  std::erase_if(spares_, [&](const auto& each) { return fails_to_open(each->runner()); });
}

void RunnerSupply::pause() {
  std::unique_lock lock(mutex_);
  going_ = false;
  changed_.wait(lock, [&] { return !working_; });
}

void RunnerSupply::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return going_ || ending_thread_; });
    if (ending_thread_) return;
    working_ = true;
    lock.unlock();
    bool more = false;
    try {
      more = do_step();
    } catch (const RunnerFailure&) {
    } catch (const std::exception&) {
    }  // What was to be made ready is not there: its trial makes it, and reports what goes wrong.
    lock.lock();
    working_ = false;
    if (!more) going_ = false;
    changed_.notify_all();
  }
}

SupplyState RunnerSupply::state() {
  SupplyState state;
  {
    const std::lock_guard lock(mutex_);
    state.phase = phase_;
    state.memory_may_be_made = Clock::now() >= memory_from_;
  }
  state.more = now_.more;
  state.now = view(now_);
  for (const EvaluateRequest& each : coming_) state.coming.push_back(view(each));
  for (size_t i = 0; i < waiting_.size();) {
    RunnerProcess& runner = *waiting_[i];
    WaitingRunner seen{.kind = runner.kind(), .author = runner.author()};
    if (runner.told_to_open()) {
      try {
        seen.state = runner.opens_within(milliseconds(0), uuid()) ? WaitingRunner::State::open
                                                                  : WaitingRunner::State::opening;
      } catch (const RunnerFailure&) {
        waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(i));
        throw;
      }
    }
    state.waiting.push_back(std::move(seen));
    ++i;
  }
  for (const auto& each : begun_) ++state.working[view(each->request()).author];
  ++state.working[measured_author_];
  state.begun = begun_.size();
  state.needs_baseline = !now_.question.check;
  state.tasks_without_baseline = now_.question.check ? 0 : without_baseline().size();
  if (const CandidateBuild* next = first_without_memory(); next && !now_.question.check) {
    const bool ready = spare_to_map(next->key()).has_value();
    (ready ? state.task_lacks_memory : state.task_waits) = true;
  }
  state.candidate_lacks_memory = first_unattached() != nullptr;
  for (const auto& each : spares_) {
    if (!is_for_none(*each)) {
      ++state.baselines_made;
    } else {
      const bool open = is_open(each->runner(), milliseconds(0)) && each->is_prepared();
      ++(open ? state.baselines_open : state.baselines_opening);
    }
  }
  state.tasks_ready = ahead_.size();
  state.runner_to_end = stopped_ != nullptr;
  std::erase_if(ending_, [](const auto& each) { return each->ended(); });
  state.runner_ending = !ending_.empty();
  state.most_fresh = one_for_each(kBytesARunner, device_->snapshot(), kMostRunners);
  state.most_tasks = most_tasks();
  state.most_baselines = most_baselines();
  state.most_begun = one_for_each(kBytesACandidate, device_->snapshot(), kMostBegun);
  return state;
}

/// Does one thing that takes milliseconds, or makes one task's memory. False when nothing is left
/// to do.
bool RunnerSupply::do_step() {
  release_dropped();
  const Step step = next_step(state());
  std::optional<trace::Span> span;
  if (const char* what = name_of(step.what); what != nullptr) span.emplace(what);
  switch (step.what) {
    case Step::What::nothing:
      return false;
    case Step::What::look_again:
      std::this_thread::sleep_for(kLook);
      break;
    case Step::What::end_runner:
      end_stopped();
      break;
    case Step::What::start_runner:
      start_runner(step.kind);
      break;
    case Step::What::start_baseline:
      spares_.push_back(new_baseline());
      break;
    case Step::What::begin_candidate:
      begin_candidate(coming_.at(step.candidate), step.runner);
      break;
    case Step::What::make_baseline:
      make_baseline_ahead();
      break;
    case Step::What::make_task:
      make_task_ahead();
      break;
    case Step::What::attach_candidate:
      attach_one();
      break;
    case Step::What::wait_for_device:
      wait_for_device();
      break;
  }
  return true;
}

void RunnerSupply::start_runner(RunnerKind kind) {
  const auto started =
      std::ranges::find_if(waiting_, [](const auto& each) { return !each->told_to_open(); });
  if (started == waiting_.end()) {
    waiting_.push_back(std::make_unique<RunnerProcess>(RunnerKind::vulkan, options_));
    waiting_.back()->begin_open(kind);
  } else {
    (*started)->begin_open(kind);
  }
}

void RunnerSupply::begin_candidate(const EvaluateRequest& request, size_t runner) {
  auto build = new_build(take_runner(runner), request);
  build->begin([&] {
    build->runner().spare_processors(true);  // The judge's clock needs some.
    const TaskMemory* memory = memory_for(build->key());
    if (memory != nullptr && !build->needs_python()) build->attach(*memory);
  });
  begun_.push_back(std::move(build));
  std::ranges::stable_sort(begun_, {}, [&](const auto& each) { return place_of(*each); });
}

const TaskMemory* RunnerSupply::memory_for(const TaskAt& key) const {
  if (task_.memory && task_.memory->key() == key) return task_.memory.get();
  const auto found = std::ranges::find_if(
      ahead_, [&](const ReadyTask& each) { return each.memory->key() == key; });
  return found == ahead_.end() ? nullptr : found->memory.get();
}

bool RunnerSupply::lacks_memory(const CandidateBuild& build) const {
  return build.well() && memory_for(build.key()) == nullptr;
}

RunnerSupply::Spare RunnerSupply::spare_for(const TaskAt& key) {
  return std::ranges::find_if(spares_, [&](const auto& each) { return each->prepared_for(key); });
}

// The memory that a process has mapped is free only once it has unmapped it, which takes seconds
// where many have: so few map any. Where pipelines are kept, others compile, and one of those finds
// what they have compiled.

/// Whether a process other than the one that has made the task's baseline can have it at once, too.
bool RunnerSupply::leaves_pipelines(BaselineProcess& made, const TaskAt& key) {
  if (!made.is_prepared()) return false;
  made.wait_prepared();
  return key.task.own.empty() && notes_.has(key.task);
}

size_t RunnerSupply::mapping_memory() const {
  return ahead_.size() + (maps_memory(task_.baseline) ? 1 : 0) +
         static_cast<size_t>(std::ranges::count_if(spares_, maps_memory));
}

/// The process that gets the task's memory: the one that has made its baseline, or one that has
/// memory. Nothing: it is to wait for one of them.
std::optional<RunnerSupply::Spare> RunnerSupply::spare_to_map(const TaskAt& key) {
  const Spare made = spare_for(key);
  if (maps_memory(*made) || mapping_memory() <= most_tasks() || !rules_.shares_pipelines)
    return made;
  if (!leaves_pipelines(**made, key))
    return (*made)->is_prepared() ? std::optional(made) : std::nullopt;
  const Spare other = std::ranges::find_if(spares_, [&](const auto& each) {
    return maps_memory(each) && is_for_none(*each) && each->is_prepared();
  });
  return other == spares_.end() ? std::nullopt : std::optional(other);
}

/// Whether no candidate that was begun waits for the task that it makes or has made.
bool RunnerSupply::is_for_none(const BaselineProcess& spare) const {
  return std::ranges::none_of(begun_, [&](const auto& each) {
    return lacks_memory(*each) && spare.prepared_for(each->key());
  });
}

/// The tasks of the candidates begun that have neither baseline nor memory, in order, each once.
std::vector<TaskAt> RunnerSupply::without_baseline() {
  std::vector<TaskAt> tasks;
  for (const auto& each : begun_) {
    const bool lacks = lacks_memory(*each) && spare_for(each->key()) == spares_.end();
    if (lacks && std::ranges::count(tasks, each->key()) == 0) tasks.push_back(each->key());
  }
  return tasks;
}

/// The first of the candidates begun whose task has a baseline, and no memory, and may fit; null:
/// none.
CandidateBuild* RunnerSupply::first_without_memory() {
  const auto found = std::ranges::find_if(begun_, [&](const auto& each) {
    return lacks_memory(*each) && does_not_fit_ != each->key() &&
           spare_for(each->key()) != spares_.end();
  });
  return found == begun_.end() ? nullptr : found->get();
}

/// One that was begun before its task's memory was made.
CandidateBuild* RunnerSupply::first_unattached() {
  const auto found = std::ranges::find_if(begun_, [&](const auto& each) {
    const TaskMemory* memory =
        each->well() && !each->needs_python() ? memory_for(each->key()) : nullptr;
    return memory != nullptr && !each->attached_to(*memory);
  });
  return found == begun_.end() ? nullptr : found->get();
}

void RunnerSupply::attach_one() {
  CandidateBuild* const build = first_unattached();
  try {
    build->attach(*memory_for(build->key()));
  } catch (const RunnerFailure&) {  // It will be begun anew.
    std::erase_if(begun_, [build](const auto& each) { return each.get() == build; });
  }
}

/// Tells idle processes to give back the memory that the store holds no more, as it is not free
/// until they have. A driver that finds the device full puts a process's own memory, its kernels'
/// code among it, into the host's: on an H100 a runner that was opened then took three times as
/// long for the same kernel.
void RunnerSupply::release_dropped() {
  std::erase_if(spares_, [&](const auto& each) {
    RunnerProcess& runner = each->runner();
    return runner.holds_dropped(*store_) && fails([&] { runner.begin_release(*store_); });
  });
  std::erase_if(waiting_, [&](const auto& each) {
    return each->holds_dropped(*store_) && fails([&] { each->begin_release(*store_); });
  });
  std::erase_if(begun_, [&](const auto& each) {
    return each->runner().holds_dropped(*store_) && fails([&] { each->begin_release(); });
  });
}

/// Does not wait for it.
void RunnerSupply::make_baseline_ahead() {
  const TaskAt key = without_baseline().front();
  const auto idle = [&](const auto& each) {
    return is_for_none(*each) && is_open(each->runner(), milliseconds(0)) && each->is_prepared();
  };
  // Rather one that has no memory.
  Spare open = std::ranges::find_if(
      spares_, [&](const auto& each) { return !maps_memory(each) && idle(each); });
  if (open == spares_.end()) open = std::ranges::find_if(spares_, idle);
  (*open)->runner().spare_processors(true);  // The judge's clock needs some.
  try {
    (*open)->prepare(key, secret_.next());
  } catch (const RunnerFailure&) {
    spares_.erase(open);
    throw;
  }
}

void RunnerSupply::make_task_ahead() {
  const CandidateBuild& build = *first_without_memory();
  const vulkan::DeviceSnapshot& snapshot = device_->snapshot();
  // PyTorch's processes hold about as much as the task each.
  const Question& asked = build.request().question;
  const uint64_t holders =
      1 + (build.kind() == RunnerKind::torch ? 1 : 0) + (asked.opponent.is_pytorch() ? 1 : 0);
  const uint64_t needed = holders * trial::required_bytes(build.graph(), snapshot) +
                          snapshot.device_local_bytes / kReserve;
  if (needed > device_->available_bytes() + store_->bytes()) {
    does_not_fit_ = build.key();  // Beside what others hold; the trial makes room.
    return;
  }
  const Spare chosen = spare_to_map(build.key()).value();
  ReadyTask ready{nullptr, std::move(*chosen)};
  spares_.erase(chosen);
  try {
    ready.memory = std::make_unique<TaskMemory>(*device_, *store_, *ready.baseline, build.key(),
                                                secret_.next());
    ahead_.push_back(std::move(ready));
  } catch (const Error&) {  // The driver has less memory than it says. The baseline process, told
                            // in part, is dropped.
    does_not_fit_ = build.key();
  }
}

void RunnerSupply::end_stopped() {
  std::erase_if(ending_, [](const auto& each) { return each->ended(); });
  if (!stopped_) return;
  end(std::move(stopped_));
}

void RunnerSupply::end(std::unique_ptr<RunnerProcess> runner) {
  runner->begin_kill();
  ending_.push_back(std::move(runner));
}

/// A process that fails to open its device is dropped, and its failure thrown.
bool RunnerSupply::is_open(RunnerProcess& runner, milliseconds most) {
  try {
    return runner.opens_within(most, uuid());
  } catch (const RunnerFailure&) {
    std::erase_if(waiting_, [&](const auto& each) { return each.get() == &runner; });
    std::erase_if(spares_, [&](const auto& each) { return &each->runner() == &runner; });
    throw;
  }
}

/// Waits a moment for a process that is opening its device.
void RunnerSupply::wait_for_device() {
  for (const auto& each : waiting_) {
    if (each->told_to_open() && !is_open(*each, milliseconds(0))) {
      is_open(*each, kLook);
      return;
    }
  }
  for (const auto& each : spares_) {
    if (!is_open(each->runner(), milliseconds(0))) {
      is_open(each->runner(), kLook);
      return;
    }
  }
}

}  // namespace kbench::judge
