// Judging: the pool gives each answer to a device, which judges and investigates its candidate,
// and the outcome is recorded.
#include <mutex>
#include <utility>

#include "harness/evaluate/generate/ledger.h"
#include "harness/evaluate/generate/live_run.h"
#include "kbench/error.h"

namespace kbench::generate {

/// One step's evaluator, for one chain: what is known already is not judged again.
class Run::StepJudge : public Evaluator {
 public:
  StepJudge(Run& run, Evaluator& device, const Waiting& waiting, const Turn& turn)
      : run_(run), device_(device), waiting_(waiting), turn_(turn) {}

  using Evaluator::evaluate;
  Result evaluate(const Question& question, const Observer& observer,
                  std::stop_token stop) override {
    if (std::optional<Result> known = run_.known(waiting_.reading.hash, question)) {
      const std::lock_guard hold(run_.mutex_);
      ++run_.counts_.reused;
      return *std::move(known);
    }
    const double begin = run_.now_();
    Question asked = question;
    asked.candidate = waiting_.candidate;
    Result result = device_.take_turn(asked, turn_, observer, std::move(stop));
    const std::lock_guard hold(run_.mutex_);
    run_.counts_.device_seconds += run_.now_() - begin;
    ++run_.counts_.judged;
    return result;
  }
  std::vector<DeviceSummary> devices() override { return device_.devices(); }
  Evidence investigate(const Question& question, const Result& result) override {
    const double begin = run_.now_();
    Evidence evidence = device_.investigate(question, result);
    const std::lock_guard hold(run_.mutex_);
    run_.counts_.device_seconds += run_.now_() - begin;
    return evidence;
  }

 private:
  Run& run_;
  Evaluator& device_;
  const Waiting& waiting_;
  const Turn& turn_;
};

std::optional<Result> Run::known(const std::string& hash, const Question& question) {
  const Preset asked = options_.episode.prompt.preset, preset = preset_from_name(question.preset);
  std::optional<Result> result = store_.results().find(hash, preset, question.dtype);
  if (result || preset == asked || options_.episode.smoke != Smoke::first) return result;
  // A candidate that was judged at the full sizes has run at the small ones.
  result = store_.results().find(hash, asked, question.dtype);
  if (result) result->verdict = Verdict::passed;
  return result;
}

void Run::queue_step(std::shared_ptr<Waiting> waiting) {
  Pool::Job job;
  job.question.candidate = waiting->candidate;
  job.group = to_string(task(*waiting->chain).id);
  job.work = [this, waiting](Evaluator& device, const Turn& turn) {
    return step_on(device, *waiting, turn);
  };
  job.on_outcome = [this, waiting](const Pool::Outcome& outcome) {
    guarded([&] { take_outcome(waiting, outcome); });
  };
  pool_->add(std::move(job));
}

Result Run::step_on(Evaluator& device, Waiting& waiting, const Turn& turn) {
  if (!scheduler_.judges()) throw Cancelled();
  // A step that counts has moved its chain on; where the device was lost by it, that is its result.
  if (waiting.step && waiting.step->counted) return *waiting.step->result;
  scheduler_.begin_judging(waiting);
  StepJudge judge(*this, device, waiting, turn);
  waiting.step = waiting.chain->episode->step(waiting.answer, waiting.reading, &judge);
  return *waiting.step->result;
}

void Run::take_outcome(const std::shared_ptr<Waiting>& waiting, const Pool::Outcome& outcome) {
  if (outcome.error) throw Error(*outcome.error);
  if (!waiting->step) {
    // It came to no device: the next run in the folder judges it.
    if (!scheduler_.judges()) return;
    // No device is left. Models are not asked any more for what could not be judged.
    throw Error(ErrorCode::kDeviceLost, outcome.result->message);
  }
  behind_->post([this, waiting] {  // so that the device does not wait for the disk
    guarded([&] {
      finish(std::move(waiting->chain), waiting->answer, waiting->reading,
             *std::move(waiting->step));
      if (auto next = scheduler_.looked_at(waiting->reading.hash)) queue_step(std::move(next));
    });
  });
}

void Run::finish(std::unique_ptr<Chain> chain, const Answer& answer, const Reading& reading,
                 EpisodeStep step) {
  const Attempt attempt = described(*chain, answer, reading, std::move(step.attempt));
  const auto feedback = [&] {
    if (step.counted) {
      store_.keep_feedback(place(*chain, attempt.attempt), step.feedback.text);
    }
  };
  const auto outcome = [&] {
    keep_result(attempt, *std::move(step.result));
    store_.keep_attempt(attempt);
  };
  if (!with_files(*chain, feedback) || !with_run_files(*chain, outcome)) return scheduler_.leave();
  const bool done = chain->episode->done();
  count(attempt, done, !step.counted);
  if (!step.counted || done) return scheduler_.leave();
  scheduler_.go_on(std::move(chain));
}

Result Run::labelled(const Attempt& attempt, Result result) const {
  result.set = attempt.model;
  result.task = attempt.task;
  result.candidate_hash = attempt.candidate_hash;
  // Relative to the candidate set, the model's folder.
  const std::string set = "candidates/" + run_folder_name(attempt.model) + "/";
  std::string candidate =
      attempt.candidate.empty()
          ? run_attempt_folder(attempt.model, attempt.task, attempt.sample, attempt.attempt)
          : attempt.candidate;
  candidate.erase(0, set.size());
  result.candidate = candidate;
  return result;
}

void Run::keep_result(const Attempt& attempt, Result result) {
  store_.results().append(labelled(attempt, std::move(result)));
}

void Run::confirm_winners() {
  try {
    const std::vector<Attempt> winners = winners_of(store_.folder(), /*unconfirmed=*/true);
    if (winners.empty()) return;
    ResultWriter writer(store_.folder().confirmed());
    std::mutex writing;
    std::optional<Error> trouble;
    size_t done = 0;
    std::vector<Pool::Job> jobs;
    for (const Attempt& winner : winners) {
      Pool::Job& job = jobs.emplace_back();
      const TaskAt at = options_.episode.prompt.at(winner.task);
      job.question = options_.episode.asked;
      // Of no author: it has a process that nothing ran in before.
      job.question.candidate = store_.folder().path() + "/" + winner.candidate;
      job.question.preset = at.preset;
      job.question.overrides = at.variables;
      job.question.dtype = at.dtype;
      job.group = to_string(winner.task);
      job.on_outcome = [&](const Pool::Outcome& outcome) {
        const std::lock_guard hold(writing);
        if (outcome.error) trouble = outcome.error;
        if (!outcome.result) return;
        const Result result = labelled(winner, *outcome.result);
        try {
          writer.append(result);
        } catch (const Error& e) {
          trouble = e;
        }
        ++done;
        if (options_.on_confirmed) options_.on_confirmed(result, done, winners.size());
      };
    }
    {
      const std::stop_callback stopping(options_.interrupt, [this] { pool_->cancel_waiting(); });
      pool_->add_all(std::move(jobs));
      if (options_.interrupt.stop_requested()) pool_->cancel_waiting();
      pool_->wait();
    }
    counts_.confirmed = static_cast<int64_t>(done);
    if (trouble) throw Error(*trouble);
  } catch (const Error& e) {
    if (options_.on_warning) {
      options_.on_warning("not all winners were measured again: " + shown(e.what(), 500));
    }
  }
}

}  // namespace kbench::generate
