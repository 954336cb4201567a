// The device threads: candidates are judged and investigated, and the outcome is recorded.
#include <utility>

#include "harness/evaluate/generate/live_run.h"

namespace kbench::generate {

void Run::judge_on(RunEvaluator& evaluator) {
  while (std::optional<Waiting> waiting = scheduler_.next_waiting()) {
    const auto done = std::make_shared<Waiting>(*std::move(waiting));
    const std::string& hash = done->reading.hash;
    const Preset asked = options_.episode.prompt.preset;
    const Judge judge = [&](const JudgeRequest& request) {
      if (std::optional<Result> known =
              store_.results().find(hash, preset_from_name(request.at.preset))) {
        const std::lock_guard hold(mutex_);
        ++counts_.reused;
        return *std::move(known);
      }
      // A candidate that was judged at the full sizes has run at the small ones.
      if (request.quick && options_.episode.smoke == Smoke::first) {
        if (std::optional<Result> known = store_.results().find(hash, asked)) {
          known->verdict = Verdict::passed;
          return *std::move(known);
        }
      }
      const double begin = now_();
      Result result = evaluator.judge(request, done->candidate, scheduler_.waiting_candidates());
      const std::lock_guard hold(mutex_);
      counts_.device_seconds += now_() - begin;
      ++counts_.judged;
      return result;
    };
    const Investigate investigate = [&](const JudgeRequest& request, const Result& result) {
      const double begin = now_();
      Evidence evidence = evaluator.investigate(request, done->candidate.path, result);
      const std::lock_guard hold(mutex_);
      counts_.device_seconds += now_() - begin;
      return evidence;
    };
    const auto step = std::make_shared<EpisodeStep>(
        done->chain->episode->step(done->answer, done->reading, judge, investigate));
    behind_->post([this, done, step] {  // so that the device does not wait for the disk
      guarded([&] {
        finish(std::move(done->chain), done->answer, done->reading, std::move(*step));
        scheduler_.looked_at(done->reading.hash);
      });
    });
  }
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
  const uint32_t member = next_member(*chain);
  scheduler_.go_on(std::move(chain), member);
}

void Run::keep_result(const Attempt& attempt, Result result) {
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
  store_.results().append(result);
}

}  // namespace kbench::generate
