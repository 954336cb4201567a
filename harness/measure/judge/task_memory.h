// A task's memory on the judge's device, kept from candidate to candidate.
#pragma once

#include <memory>
#include <string>

#include "harness/measure/judge/baseline_process.h"
#include "harness/measure/judge/slab.h"
#include "harness/measure/trial/secret.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/graph.h"
#include "kbench/task.h"

namespace kbench::judge {

/// One task at one size: its graph and its memory, which a baseline process imports.
class TaskMemory {
 public:
  /// Asks the process to make the task's baseline, and allocates meanwhile. Takes over each slab of
  /// `before`, the process's last task (may be null), that fits for the same purpose (a truth's
  /// slab was never imported by a candidate's runner), so that it need not be imported again; gives
  /// back the others. Submits nothing to the device. Throws kOutOfMemory where the task does not
  /// fit the device.
  TaskMemory(vulkan::Device& device, BaselineProcess& baseline, const TaskAt& key, uint64_t seed,
             std::unique_ptr<TaskMemory> before);
  /// Without a baseline, for runs of a candidate alone. Throws kOutOfMemory.
  TaskMemory(vulkan::Device& device, const TaskAt& key);
  /// wait_baseline() and upload_constants(). Throws RunnerFailure if the baseline process fails.
  void finish(vulkan::Device& device, BaselineProcess& baseline) {
    wait_baseline(baseline);
    upload_constants(device);
  }
  /// Waits until the process has made the baseline and imported the memory.
  void wait_baseline(BaselineProcess& baseline);
  /// Once; before any run.
  void upload_constants(vulkan::Device& device);

  const TaskAt& key() const { return key_; }
  /// Unique among all task memories of this process, past ones too.
  uint64_t serial() const { return serial_; }
  const Task& task() const { return *task_; }
  const Graph& graph() const { return *graph_; }
  const Slab& given() const { return given_; }
  const Slab& truth() const { return truth_; }
  const Slab& outputs() const { return outputs_; }  ///< the candidate's
  /// The memory of an input, parameter or constant, by value id.
  vulkan::Region given(int value) const;
  /// The task's tensors for a runner: given ones, and one side's outputs.
  void place(Attachment& attachment, bool given_read_only, const Slab& outputs) const;
  uint64_t bytes() const;

 private:
  void number_items();

  TaskAt key_;
  const Task* task_;
  std::unique_ptr<Graph> graph_;
  std::vector<int> item_of_;  ///< by value id: index in the slab of given tensors, or -1
  Slab given_, truth_, arena_, outputs_;
  uint64_t serial_;
  bool awaited_ = true;    ///< the baseline has yet to answer
  bool uploaded_ = false;  ///< constants are in their places
};

}  // namespace kbench::judge
