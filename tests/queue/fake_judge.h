// Judges without processes and devices.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "harness/evaluate/queue/queue.h"
#include "kbench/evaluate.h"

namespace kbench::queue::testing {

/// What a fake judge was asked, by all of a test.
class Asked {
 public:
  void add(const std::string& device, judge::EvaluateRequest request) {
    const std::lock_guard lock(mutex_);
    list_.emplace_back(device, std::move(request));
  }
  std::vector<std::pair<std::string, judge::EvaluateRequest>> list() {
    const std::lock_guard lock(mutex_);
    return list_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<std::string, judge::EvaluateRequest>> list_;
};

/// Passes everything at once; what it is told otherwise, by the candidate's path, it does.
class FakeJudge : public QueueJudge {
 public:
  FakeJudge(std::string name, Asked& asked) : asked_(asked) { snapshot_.name = std::move(name); }

  Result run(const judge::EvaluateRequest& request,
             const std::function<void(const char*)>& on_stage,
             const std::stop_token& stop) override {
    asked_.add(snapshot_.name, request);
    if (on_stage) on_stage("load");
    if (on_run) on_run(request, stop);
    Result result;
    result.task = {.level = 1, .number = 19};
    result.candidate = request.question.candidate.path;
    result.device = snapshot_.name;
    result.verdict = Verdict::passed;
    result.samples = 10;
    result.candidate_ms = result.baseline_ms = 1;
    result.speedup = {1, 1, 1};
    if (verdict) result.verdict = verdict(request);
    return result;
  }
  std::string trouble() override { return trouble_now ? trouble_now() : ""; }
  const vulkan::DeviceSnapshot& snapshot() override { return snapshot_; }
  void be_software() { snapshot_.type = VK_PHYSICAL_DEVICE_TYPE_CPU; }

  std::function<void(const judge::EvaluateRequest&, const std::stop_token&)> on_run;
  std::function<Verdict(const judge::EvaluateRequest&)> verdict;
  std::function<std::string()> trouble_now;

 private:
  Asked& asked_;
  vulkan::DeviceSnapshot snapshot_;
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

}  // namespace kbench::queue::testing
