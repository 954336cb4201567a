// Runners for candidates to come: opening a device and compiling take longer than most trials.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "harness/client/protocol.h"
#include "harness/judge/candidacy.h"
#include "harness/judge/runner_process.h"
#include "harness/vulkan/snapshot.h"

namespace kbench::judge {

class RunnersAhead {
 public:
  /// Starts one.
  explicit RunnersAhead(RunnerProcess::Options options);

  /// Has several runners open the device while the caller goes on.
  void top_up(const vulkan::DeviceSnapshot& snapshot, bool for_cuda);
  /// No runner is left that waits for a candidate.
  bool empty() const { return idle_.empty(); }

  /// The candidacy that was begun for this request, or a new one. Throws RunnerFailure.
  std::unique_ptr<Candidacy> candidacy_of(const client::Request& request,
                                          const vulkan::DeviceSnapshot& snapshot);

  /// While one candidate is measured, the next may compile, which takes processors; opening a
  /// device disturbs times (on an H200 it showed in intervals of a tenth of a percent): this waits
  /// for those that are at it. On a software device processors are what is measured, and nothing
  /// is compiled ahead.
  void before_sampling(const client::Request& measured, const vulkan::DeviceSnapshot& snapshot);
  /// Of the candidacies begun, the task of the first that is for another than `now`.
  std::optional<BenchKey> next_task(const BenchKey& now);

 private:
  void start(size_t wanted);
  std::unique_ptr<RunnerProcess> take_idle(bool for_cuda);
  bool has_begun(const client::Request& request) const;

  RunnerProcess::Options options_;
  std::deque<std::unique_ptr<RunnerProcess>> idle_;  ///< open, or opening
  std::deque<std::unique_ptr<Candidacy>> begun_;     ///< compiling or compiled
};

}  // namespace kbench::judge
