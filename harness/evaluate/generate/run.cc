#include "harness/evaluate/generate/run.h"

#include <chrono>
#include <thread>
#include <utility>

#include "harness/evaluate/generate/live_run.h"
#include "kbench/error.h"
#include "libkbench/base/files.h"
#include "libkbench/base/start_thread.h"

namespace kbench::generate {
namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Run::Run(const RunFolder& folder, RunOptions options)
    : options_(std::move(options)),
      plan_(options_.plan),
      store_(folder),
      ledger_(folder, plan_, options_.episode.attempts, options_.episode.goal, options_.judging),
      now_(options_.now ? options_.now : steady_seconds),
      scheduler_(plan_,
                 {options_.judging ? options_.evaluators.size() : 0, options_.asking,
                  options_.limits, now_},
                 ledger_.spent()),
      unanswered_(options_.members.size()) {}

RunOutcome Run::run() {
  start_ = now_();
  counts_.chains = plan_.chains();
  counts_.done = ledger_.chains_done();
  counts_.attempts = ledger_.attempts();
  counts_.passed = ledger_.passed();
  for (uint32_t number = 0; number < plan_.chains(); ++number) {
    const Ledger::ChainState& state = ledger_.state(number);
    if (state.done) {
      scheduler_.add_done(number);
    } else if (state.answered) {
      scheduler_.add_answered(number);
    } else if (state.counted > 0) {
      scheduler_.add_open(number);
    }
  }
  behind_ = std::make_unique<Background>();
  const size_t devices = options_.evaluators.size();
  pool_ = std::make_unique<Pool>(std::move(options_.evaluators));
  {
    const std::stop_callback on_interrupt(options_.interrupt, [this] {
      scheduler_.stop(Scheduler::Stop::interrupted, "interrupted");
    });
    const std::stop_callback on_cancel(options_.cancel, [this] { cancel_.request_stop(); });
    std::vector<std::jthread> threads;
    const auto start = [&](const std::function<void()>& work) {
      threads.push_back(start_thread<std::jthread>([this, work] { guarded(work); }));
    };
    guarded([&] {
      for (uint32_t member = 0; member < options_.members.size(); ++member) {
        for (int i = 0; i < options_.members[member].connections; ++i) {
          start([this, member] { ask_for(member); });
        }
      }
    });
  }
  // The asking threads end when every step is taken, or when the run is stopped: then a device ends
  // the step it is at, and the steps that wait are cancelled when they come to one. What is written
  // last may still hand the pool another step, which is cancelled too.
  pool_->wait();
  behind_.reset();
  if (options_.judging && scheduler_.judges() && !failure_) confirm_winners();
  for (size_t device = 0; device < devices && options_.on_warning; ++device) {
    const std::string why = pool_->trouble_of(device);
    if (why.empty()) continue;
    options_.on_warning("device " + std::to_string(device + 1) +
                        " of the run was lost: " + shown(why, 500));
  }
  pool_.reset();
  if (failure_) std::rethrow_exception(failure_);
  // Chains of a model that is not asked any more are open, too, whether they had begun or not.
  if (options_.asking && scheduler_.stopped() == Scheduler::Stop::none) {
    counts_.lost = counts_.chains - counts_.done;
  }
  return {scheduler_.stopped(), scheduler_.reason(), status()};
}

/// An exception in one thread stops all of them, and run() throws it.
void Run::guarded(const std::function<void()>& work) {
  try {
    work();
  } catch (...) {
    const std::lock_guard hold(mutex_);
    if (!failure_) failure_ = std::current_exception();
    scheduler_.stop(Scheduler::Stop::interrupted, "an error");
  }
}

/// Fills in the fields of an attempt that an episode does not know.
Attempt Run::described(const Chain& chain, const Answer& answer, const Reading& reading,
                       Attempt attempt) const {
  const Member& member = options_.members[chain.id.member];
  attempt.model = model(chain);
  attempt.task = task(chain).id;
  attempt.sample = chain.id.sample;
  if (!reading.extraction.files.empty()) {
    attempt.candidate = place(chain, attempt.attempt) + "/candidate.yaml";
  }
  attempt.usage = answer.usage;
  attempt.seconds = answer.seconds;
  if (member.price) attempt.cost = cost_of(answer.usage, *member.price);
  return attempt;
}

void Run::lose_chain(const Chain& chain, const ModelError& why) {
  Attempt attempt;
  attempt.attempt = chain.episode->next_attempt();
  attempt.parent = chain.episode->parent();
  attempt.prompt_hash = chain.episode->prompt_hash();
  attempt.preset = name_of(options_.episode.prompt.preset);
  attempt = described(chain, {}, {}, std::move(attempt));
  attempt.cost.reset();
  if (!with_run_files(chain, [&] { store_.keep_attempt(attempt); })) return;
  if (why.reach() == ModelError::Reach::model) return;
  count(attempt, /*done=*/false, /*lost=*/true);
  if (options_.on_warning) {
    options_.on_warning(purpose_of(attempt.task, attempt.sample, attempt.attempt) + " of " +
                        attempt.model + " stays unanswered: " + shown(why.message(), 500));
  }
}

bool Run::with_files(const Chain& chain, const std::function<void()>& work) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    lose_files(chain, error);
    return false;
  }
}

bool Run::with_run_files(const Chain& chain, const std::function<void()>& work) {
  try {
    work();
    return true;
  } catch (const SystemError& error) {
    if (!error.disk_is_full()) throw;
    lose_files(chain, error);
    return false;
  }
}

void Run::lose_files(const Chain& chain, const Error& why) {
  const auto* system = dynamic_cast<const SystemError*>(&why);
  if (system != nullptr && system->disk_is_full()) {
    scheduler_.stop(Scheduler::Stop::disk_full, why.message());
  }
  {
    const std::lock_guard hold(mutex_);
    ++counts_.lost;
  }
  if (options_.on_warning) {
    options_.on_warning(purpose_of(task(chain).id, chain.id.sample, chain.episode->next_attempt()) +
                        " of " + model(chain) + " goes no further: " + shown(why.what(), 500));
  }
}

void Run::lose_member(uint32_t member, const std::string& why) {
  if (scheduler_.lose(member) && options_.on_warning) {
    options_.on_warning("model " + plan_.members()[member] +
                        " is not asked any more: " + shown(why, 500));
  }
}

void Run::count(const Attempt& attempt, bool done, bool lost) {
  {
    const std::lock_guard hold(mutex_);
    counts_.done += done;
    counts_.lost += lost;
    if (attempt.sample > 0 && !attempt.model.empty() && !lost) {
      ++counts_.attempts;
      counts_.passed += attempt.correct();
    }
  }
  if (!options_.on_attempt || attempt.model.empty()) return;
  const std::lock_guard hold(report_);
  options_.on_attempt(attempt, status());
}

Status Run::status() const {
  const Scheduler::Counts queues = scheduler_.counts();
  const std::lock_guard hold(mutex_);
  Status status = counts_;
  status.waiting = queues.waiting;
  status.under_way = queues.under_way;
  status.most_waiting = queues.most_waiting;
  status.spent = queues.spent;
  status.seconds = now_() - start_;
  return status;
}

RunOutcome run(const RunFolder& folder, RunOptions options) {
  return Run(folder, std::move(options)).run();
}

}  // namespace kbench::generate
