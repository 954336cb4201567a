// A candidate before its trial: its runner loads its files and compiles its kernels.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "harness/measure/judge/runner_process.h"
#include "harness/measure/judge/task_memory.h"
#include "harness/measure/judge_protocol/protocol.h"
#include "harness/measure/runner/protocol.h"
#include "harness/measure/vulkan/snapshot.h"
#include "kbench/candidate_source.h"
#include "kbench/error.h"
#include "kbench/graph.h"
#include "kbench/result.h"

namespace kbench::judge {

// Which kind of runner a candidate will need, foretold from those parsed before it.

/// What a candidate needs of its runner.
struct Needs {
  runner::RunnerKind kind = runner::RunnerKind::vulkan;
  bool python = false;  ///< that its Python helper lives, which ends with the first build
  bool operator==(const Needs&) const = default;
};

/// What the candidate that a runner last parsed needed, by the candidate's folder. A runner opens
/// its device before it is given a candidate, and the judge reads none: a candidate gets a runner
/// of the kind that the last one in its folder needed (in a new folder: the last one of all). If
/// its own runner then says otherwise, it gets another runner. Thread-safe.
class NeedsHistory {
 public:
  Needs expected(const CandidateSource& candidate) const {
    if (candidate.path.ends_with(".py")) return {runner::RunnerKind::torch, true};  // a ModelNew
    const std::lock_guard lock(mutex_);
    const auto found = by_folder_.find(folder_of(candidate));
    return found == by_folder_.end() ? last_ : found->second;
  }
  void note(const CandidateSource& candidate, Needs needs) {
    constexpr size_t kMostFolders = 1000;
    const std::lock_guard lock(mutex_);
    if (by_folder_.size() >= kMostFolders) by_folder_.clear();
    by_folder_[folder_of(candidate)] = last_ = needs;
  }

 private:
  /// Empty for a candidate in memory.
  static std::string folder_of(const CandidateSource& candidate) {
    return std::filesystem::path(candidate.path).lexically_normal().parent_path().string();
  }

  mutable std::mutex mutex_;
  std::map<std::string, Needs> by_folder_;
  Needs last_;
};

/// A request with a runner of its own. begin() returns while the runner compiles, so that the judge
/// can do other work; built() waits for it. No code of the candidate is executed here.
class CandidateBuild {
 public:
  CandidateBuild(std::unique_ptr<RunnerProcess> runner, const EvaluateRequest& request,
                 const vulkan::DeviceSnapshot& snapshot, const SlabStore& store,
                 NeedsHistory& history);

  /// Loads the candidate, chooses its sizes, calls `before_build` if given, and starts compiling.
  /// built() reports what goes wrong.
  void begin(const std::function<void()>& before_build = {});
  /// Whether this is what a request asks for.
  bool answers(const EvaluateRequest& request) const;
  /// Whether it runs Python code while it compiles: its runner can build nothing after it.
  bool needs_python() const { return needs_python_; }
  /// Whether its runner can build it once more.
  bool can_be_built_again() const { return loaded_ && !needs_python_; }
  /// Lets the same runner build the candidate, which has run, at the sizes of this request; call
  /// begin() again. The candidate may control its runner by now, so only correct results count.
  void ask_again(const EvaluateRequest& request);
  /// Builds another candidate, of kbench's own, in the same runner.
  void ask_other(const EvaluateRequest& request);

  /// Waits until it is loaded. False if the candidate is refused, as `refused` says. Throws
  /// RunnerFailure, and Error for what is wrong with the request's options.
  bool loaded(runner::Refused& refused, const std::function<void()>& before_build = {});
  /// Waits until it is compiled; the same.
  bool built(runner::Built& built, runner::Refused& refused);

  /// Has the runner import a task's memory (unless it was told so last); it does not answer. While
  /// it compiles that costs no time, but must not be where it runs Python code of the candidate's.
  void attach(const TaskMemory& task_memory);
  bool attached_to(const TaskMemory& task_memory) const {
    return attached_ == task_memory.serial();
  }
  /// Waits until the runner has given back what the store holds no more.
  void release_memory();
  /// The same without waiting; a runner that compiles does it then.
  void begin_release();

  /// It was begun and has not failed so far: key() and graph() are valid.
  bool well() const { return graph_ && !refused_ && !failure_ && !error_; }

  /// Its runner was told to compile it; whether it has answered, the runner knows.
  bool compiling() const { return begun_ && well(); }

  runner::RunnerKind kind() const { return runner_->kind(); }
  RunnerProcess& runner() { return *runner_; }
  std::unique_ptr<RunnerProcess> release() { return std::move(runner_); }
  /// The candidate in memory, of all files that were read of it. Once loaded.
  CandidateSource read_source() const;
  const EvaluateRequest& request() const { return request_; }
  /// Once loaded.
  const Experiment& experiment() const { return experiment_; }
  const TaskAt& key() const { return key_; }
  const Graph& graph() const { return *graph_; }

 private:
  double compile_seconds() const;  ///< Once loaded.
  bool load();
  std::optional<runner::Loaded> load_in_runner();
  void identify();

  std::unique_ptr<RunnerProcess> runner_;
  EvaluateRequest request_;
  const vulkan::DeviceSnapshot& snapshot_;
  const SlabStore& store_;
  NeedsHistory& history_;
  Experiment experiment_;
  TaskAt key_;
  std::unique_ptr<Graph> graph_;
  bool begun_ = false;
  bool loaded_ = false, needs_python_ = false;  ///< its runner has parsed it; what it needs
  uint64_t attached_ = 0;                       ///< TaskMemory::serial that it was told of; 0: none
  std::optional<runner::Refused> refused_;
  std::optional<RunnerFailure> failure_;
  std::optional<Error> error_;
  std::map<std::string, std::string> files_;  ///< as they were read, by path
  std::string manifest_;                      ///< which of them is the candidate's YAML
};

}  // namespace kbench::judge
