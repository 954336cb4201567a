// Models and evaluators that are functions, and candidates that say what is to become of them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/evaluate/generate/run.h"
#include "kbench/attempt.h"
#include "kbench/error.h"
#include "kbench/exchange.h"
#include "kbench/model.h"
#include "tests/candidate/support.h"

namespace kbench::testing {

/// An answer with a candidate for ReLU whose comment is `fate`, which FakeEvaluator goes by:
/// "right 1.5" passes with that speedup, "harness" fails through no fault of it, anything else is
/// wrong. `own` makes it differ from others of the same fate.
inline std::string answer_with(const std::string& fate, const std::string& own = "",
                               const std::string& task = "level1/19") {
  return "Here it is.\n\n```yaml\nkbench: 1\ntask: " + task +
         "\nkernels:\n  k: {file: k.comp}\ndispatch:\n  - {kernel: k, bind: [x, output], "
         "groups: [1]}\n```\n\n```glsl k.comp\n// fate: " +
         fate + "\n// " + own + "\nvoid main() {}\n```\n";
}

/// What a request is for, from its purpose: "level1/19 s3 a2".
struct Asked {
  std::string task;
  int sample = 0, attempt = 0;
};
inline Asked asked_for(const Ask& ask) {
  Asked asked;
  char task[40] = {};
  if (std::sscanf(ask.purpose.c_str(), "%39s s%d a%d", task, &asked.sample, &asked.attempt) != 3) {
    ADD_FAILURE() << "a purpose of another form: " << ask.purpose;
  }
  asked.task = task;
  return asked;
}

/// Counts its requests by purpose.
class ScriptedModel : public Model {
 public:
  using Script = std::function<std::string(const Asked&)>;
  ScriptedModel(std::string name, Script script)
      : name_(std::move(name)), script_(std::move(script)) {}
  std::string name() const override { return name_; }
  Answer ask(const Ask& ask, std::stop_token) override {
    {
      const std::lock_guard hold(mutex_);
      ++requests_[ask.purpose];
      prompts_[ask.purpose] = ask.messages;
    }
    Answer answer;
    answer.text = script_(asked_for(ask));
    answer.finish = "stop";
    answer.usage = {.input = 100, .output = 50};
    return answer;
  }
  std::map<std::string, int> requests() const {
    const std::lock_guard hold(mutex_);
    return requests_;
  }
  std::map<std::string, std::vector<Message>> prompts() const {
    const std::lock_guard hold(mutex_);
    return prompts_;
  }

 private:
  std::string name_;
  Script script_;
  mutable std::mutex mutex_;
  std::map<std::string, int> requests_;
  std::map<std::string, std::vector<Message>> prompts_;
};

/// Judges by the fate in the files, in `seconds`.
class FakeEvaluator : public Evaluator {
 public:
  explicit FakeEvaluator(double seconds = 0) : seconds_(seconds) {}
  using Evaluator::evaluate;
  Result evaluate(const Question& question, const Observer& observer,
                  std::stop_token stop) override {
    return take_turn(question, {}, observer, std::move(stop));
  }
  Result take_turn(const Question& question, const Turn& turn, const Observer&,
                   std::stop_token) override {
    if (seconds_ > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds_));
    ++judged;
    Result result = result_of(question);
    if (on_judge) on_judge(question, turn, result);
    return result;
  }
  std::string trouble() override { return lost ? "it fell off the bus" : ""; }
  std::vector<DeviceSummary> devices() override { return {{.name = "a fake device"}}; }
  static Result result_of(const Question& question) {
    const CandidateSource source = in_memory(question.candidate);
    const std::string& text = source.files->at("k.comp");
    const std::string begin = "// fate: ";
    const size_t at = text.find(begin) + begin.size();
    const std::string fate = text.substr(at, text.find('\n') - at);
    Result result;
    const Candidate candidate = candidate_of(source);
    result.task = candidate.task;
    result.task_name = "ReLU";
    result.candidate_hash = candidate.hash;
    result.preset = question.preset;
    result.device = "a fake device";
    double speedup = 0;
    if (std::sscanf(fate.c_str(), "right %lf", &speedup) == 1) {
      result.verdict = Verdict::passed;
      result.speedup = {0.9 * speedup, speedup, 1.1 * speedup};
      result.samples = 12;
      result.baseline_ms = speedup;
      result.candidate_ms = 1;
    } else if (fate == "harness") {
      result.verdict = Verdict::harness_error;
    } else {
      result.verdict = Verdict::wrong_values;
      result.message = fate;
    }
    return result;
  }
  int judged = 0;
  std::atomic<bool> lost = false;  ///< the device, for good
  std::function<void(const Question&, const Turn&, Result&)> on_judge;

 private:
  double seconds_;
};

/// A run over tasks of level 1, in a folder of its own.
class RunTest : public ::testing::Test {
 protected:
  using Plan = generate::Plan;

  static Plan plan(const std::vector<std::string>& models, int samples,
                   const std::string& tasks = "1/19") {
    return Plan(select_tasks(tasks), models, samples);
  }
  /// Options with an evaluator, whose count `evaluator()` has.
  generate::RunOptions options(Plan plan, const std::vector<std::shared_ptr<Model>>& models,
                               int attempts = 1, double judge_seconds = 0) {
    generate::RunOptions options{
        .plan = std::move(plan), .members = {}, .prompts = Prompts::shipped()};
    options.episode.attempts = attempts;
    for (const auto& model : models) options.members.push_back({.model = model});
    auto evaluator = std::make_unique<FakeEvaluator>(judge_seconds);
    evaluator_ = evaluator.get();
    options.evaluators.push_back(std::move(evaluator));
    return options;
  }
  generate::RunOutcome run(generate::RunOptions options) {
    generate::make_folder(folder());
    const generate::RunFolder run(folder());
    const generate::RunLock lock(run);
    // The evaluator goes with the options.
    const auto outcome = generate::run(run, std::move(options));
    return outcome;
  }
  std::string folder() const { return scratch_.path("run"); }
  std::vector<Attempt> attempts() const { return read_attempts(folder() + "/attempts.jsonl"); }
  std::vector<Result> results() const { return read_results(folder() + "/results.jsonl"); }
  std::string text_of(const std::string& relative) const {
    std::ifstream file(folder() + "/" + relative);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  testing_support::ScratchFolder scratch_;
  FakeEvaluator* evaluator_ = nullptr;
};

}  // namespace kbench::testing
