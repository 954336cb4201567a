// Evaluators without processes and devices.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/vulkan/snapshot.h"
#include "kbench/evaluate.h"

namespace kbench::evaluators::testing {

/// A question that was asked, with what its Pool said of the next ones.
struct Request {
  Question question;
  Turn turn;
};

/// What fake evaluators were asked, by all of a test.
class Asked {
 public:
  void add(const std::string& device, Request request) {
    const std::lock_guard lock(mutex_);
    list_.emplace_back(device, std::move(request));
  }
  std::vector<std::pair<std::string, Request>> list() {
    const std::lock_guard lock(mutex_);
    return list_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<std::string, Request>> list_;
};

/// Passes everything at once; what it is told otherwise, by the candidate's path, it does.
class FakeEvaluator : public Evaluator {
 public:
  FakeEvaluator(std::string name, Asked& asked) : name_(std::move(name)), asked_(asked) {}

  using Evaluator::evaluate;
  Result evaluate(const Question& question, const Observer& observer,
                  std::stop_token stop) override {
    return take_turn(question, {}, observer, std::move(stop));
  }
  Result take_turn(const Question& question, const Turn& turn, const Observer& observer,
                   std::stop_token stop) override {
    const Request request{question, turn};
    asked_.add(name_, request);
    if (observer.on_stage) observer.on_stage("load");
    if (on_run) on_run(request, stop);
    Result result;
    result.task = {.level = 1, .number = 19};
    result.candidate = question.candidate.path;
    result.device = name_;
    result.verdict = Verdict::passed;
    result.samples = 10;
    result.candidate_ms = result.baseline_ms = 1;
    result.speedup = {1, 1, 1};
    if (verdict) result.verdict = verdict(request);
    return result;
  }
  std::string trouble() override { return trouble_now ? trouble_now() : ""; }
  std::vector<DeviceSummary> devices() override { return {{.name = name_, .type = type_}}; }
  void be_software() { type_ = "cpu"; }

  std::function<void(const Request&, const std::stop_token&)> on_run;
  std::function<Verdict(const Request&)> verdict;
  std::function<std::string()> trouble_now;

 private:
  std::string name_, type_ = "discrete";
  Asked& asked_;
};

/// Holds back who comes until it is opened.
class Gate {
 public:
  void open() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    changed_.notify_all();
  }
  /// Throws Cancelled when asked to.
  void pass(const std::stop_token& stop = {}) {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    if (!changed_.wait(lock, stop, [&] { return open_; })) {
      throw Cancelled();
    }
  }
  void wait_for(int arrived) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return arrived_ >= arrived; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool open_ = false;
  int arrived_ = 0;
};

}  // namespace kbench::evaluators::testing
