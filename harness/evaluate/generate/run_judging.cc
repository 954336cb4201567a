// Judging: the queue gives each answer to a device, which judges and investigates its candidate,
// and the outcome is recorded.
#include <mutex>
#include <utility>

#include "harness/evaluate/generate/ledger.h"
#include "harness/evaluate/generate/live_run.h"
#include "kbench/error.h"

namespace kbench::generate {

void Run::queue_step(std::shared_ptr<Waiting> waiting) {
  queue::Job job;
  job.request.question.candidate = waiting->candidate;
  job.group = to_string(task(*waiting->chain).id);
  job.work = [this, waiting](queue::QueueJudge& device, const judge::EvaluateRequest& asked) {
    return step_on(static_cast<RunEvaluator&>(device), *waiting, asked);
  };
  job.on_outcome = [this, waiting](const queue::Outcome& outcome) {
    guarded([&] { take_outcome(waiting, outcome); });
  };
  queue_->add(std::move(job));
}

Result Run::step_on(RunEvaluator& evaluator, Waiting& waiting,
                    const judge::EvaluateRequest& asked) {
  if (!scheduler_.judges()) throw Cancelled();
  // A step that counts has moved its chain on; where the device was lost by it, that is its result.
  if (waiting.step && waiting.step->counted) return *waiting.step->result;
  scheduler_.begin_judging(waiting);
  const std::string& hash = waiting.reading.hash;
  const Judge judge = [&](const JudgeRequest& request) {
    const DType dtype = request.at.dtype;
    if (std::optional<Result> known =
            store_.results().find(hash, preset_from_name(request.at.preset), dtype)) {
      const std::lock_guard hold(mutex_);
      ++counts_.reused;
      return *std::move(known);
    }
    // A candidate that was judged at the full sizes has run at the small ones.
    if (request.quick && options_.episode.smoke == Smoke::first) {
      if (std::optional<Result> known =
              store_.results().find(hash, options_.episode.prompt.preset, dtype)) {
        known->verdict = Verdict::passed;
        return *std::move(known);
      }
    }
    const double begin = now_();
    Result result = evaluator.judge(request, asked);
    const std::lock_guard hold(mutex_);
    counts_.device_seconds += now_() - begin;
    ++counts_.judged;
    return result;
  };
  const Investigate investigate = [&](const JudgeRequest& request, const Result& result) {
    const double begin = now_();
    Evidence evidence = evaluator.investigate(request, waiting.candidate.path, result);
    const std::lock_guard hold(mutex_);
    counts_.device_seconds += now_() - begin;
    return evidence;
  };
  waiting.step = waiting.chain->episode->step(waiting.answer, waiting.reading, judge, investigate);
  return *waiting.step->result;
}

void Run::take_outcome(const std::shared_ptr<Waiting>& waiting, const queue::Outcome& outcome) {
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

Result Run::confirmed_on(RunEvaluator& evaluator, const Attempt& winner,
                         const judge::EvaluateRequest& asked) {
  if (options_.interrupt.stop_requested()) throw Cancelled();
  const CandidateSource source = in_memory(asked.question.candidate);
  return evaluator.judge(
      {options_.episode.prompt.at(winner.task), *source.files, winner.candidate_hash}, asked);
}

void Run::confirm_winners() {
  try {
    const std::vector<Attempt> winners = winners_of(store_.folder(), /*unconfirmed=*/true);
    if (winners.empty()) return;
    ResultWriter writer(store_.folder().confirmed());
    std::mutex writing;
    std::optional<Error> trouble;
    size_t done = 0;
    std::vector<queue::Job> jobs;
    for (const Attempt& winner : winners) {
      queue::Job& job = jobs.emplace_back();
      // Of no author: it has a process that nothing ran in before.
      job.request.question.candidate = store_.folder().path() + "/" + winner.candidate;
      job.group = to_string(winner.task);
      job.work = [&](queue::QueueJudge& device, const judge::EvaluateRequest& asked) {
        return confirmed_on(static_cast<RunEvaluator&>(device), winner, asked);
      };
      job.on_outcome = [&](const queue::Outcome& outcome) {
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
    queue_->add_all(std::move(jobs));
    queue_->wait();
    counts_.confirmed = static_cast<int64_t>(done);
    if (trouble) throw Error(*trouble);
  } catch (const Error& e) {
    if (options_.on_warning) {
      options_.on_warning("not all winners were measured again: " + shown(e.what(), 500));
    }
  }
}

}  // namespace kbench::generate
