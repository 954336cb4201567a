// The record of a trial as it goes along: its stage, the time of each stage, and its verdict.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "harness/measure/judge_protocol/findings.h"
#include "harness/measure/runner/protocol.h"
#include "kbench/result.h"
#include "libkbench/base/trace.h"

namespace kbench::judge {

/// How a trial ended, for the judge's decisions.
struct TrialEnd {
  bool baseline_failed = false;       ///< it must be started anew
  bool infrastructure_fault = false;  ///< a runner was killed from outside, or lacked what it needs
  bool times_in_doubt = false;        ///< the judge's clock contradicts the device's times
  bool device_in_doubt = false;       ///< a run hung, crashed or lost the device
  /// PyTorch had too little memory, beside what was held for candidates to come.
  bool lacked_memory = false;
  runner::RunnerKind launched_by = runner::RunnerKind::vulkan;
  uint64_t stack_bytes = 0;  ///< of the candidate's kernels (runner::Built)
  Findings findings = {};    ///< of a request that asked to look closer
};

class TrialReport {
 public:
  /// `result`: filled in as the trial goes along.
  TrialReport(Result& result, std::function<void(const char*)> on_stage)
      : result(result), on_stage_(std::move(on_stage)) {}

  void stage(const char* name) {
    stage_ = name;
    on_stage_(name);
  }
  const std::string& stage() const { return stage_; }
  /// Tells the client another name than the stage's.
  void tell(const char* name) { on_stage_(name); }
  /// The stage, without telling the client.
  void set_stage(const char* name) { stage_ = name; }

  /// Adds the time since the last call to this stage's.
  void lap(const char* name) {
    const auto now = std::chrono::steady_clock::now();
    result.stage_s[name] += std::chrono::duration<double>(now - lap_).count();
    trace::add(name, lap_, now);
    lap_ = now;
  }
  /// The time since the last lap goes to the present stage.
  void lap_stage() { lap(stage_ == "warm-up" ? "warm_up" : stage_.c_str()); }

  /// Each returns false: the trial goes no further.
  bool refuse(Verdict verdict, std::string message) {
    result.verdict = verdict;
    result.message = std::move(message);
    return false;
  }
  bool refuse(const runner::Refused& refused) {
    result.diagnostics = refused.diagnostics;
    return refuse(refused.verdict, refused.message);
  }
  void note(std::string text) { result.diagnostics.push_back({"note", "", 0, 0, std::move(text)}); }

  Result& result;
  TrialEnd end;

 private:
  std::function<void(const char*)> on_stage_;
  std::string stage_ = "load";
  std::chrono::steady_clock::time_point lap_ = std::chrono::steady_clock::now();
};

}  // namespace kbench::judge
