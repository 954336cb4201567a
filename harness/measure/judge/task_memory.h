// A task's memory on the judge's device, kept from candidate to candidate.
#pragma once

#include <memory>

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
  /// Asks the process to make the task's baseline, and finds or allocates memory meanwhile. Submits
  /// nothing to the device, and writes nothing: the memory may be another task's, too. Throws
  /// kOutOfMemory where the task does not fit the device.
  TaskMemory(vulkan::Device& device, SlabStore& store, BaselineProcess& baseline, const TaskAt& key,
             uint64_t seed);
  /// Without a baseline, for runs of a candidate alone. Throws kOutOfMemory.
  TaskMemory(SlabStore& store, const TaskAt& key);
  /// wait_baseline() and upload_constants(), before each trial. Throws RunnerFailure if the
  /// baseline process fails.
  void finish(vulkan::Device& device, BaselineProcess* baseline) {
    if (baseline != nullptr) wait_baseline(*baseline);
    upload_constants(device);
  }
  /// Has the process give back what the store holds no more.
  void import_again(SlabStore& store, BaselineProcess& baseline);
  /// Waits until the process has made the baseline and imported the memory.
  void wait_baseline(BaselineProcess& baseline);
  /// Unless the memory holds them since the last call.
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
  /// The same of the graph's own type, for the maker of the truth.
  vulkan::Region wide(int value) const;
  /// The task's tensors for a runner: given ones, and one side's outputs.
  void place(Attachment& attachment, bool given_read_only, const Slab& outputs) const;
  /// The same for the maker of the truth.
  void place_truth(Attachment& attachment) const;
  uint64_t bytes() const;

 private:
  void number_items();
  const Slab& given_to_truth() const { return wide_.empty() ? given_ : wide_; }
  void place(Attachment& attachment, const Slab& given, bool read_only, const Slab& outputs) const;
  void import_into(const SlabStore& store, BaselineProcess& baseline);
  void make_slabs(SlabStore& store, uint64_t intermediate_bytes);

  TaskAt key_;
  std::shared_ptr<const Task> task_;
  std::unique_ptr<Graph> graph_;
  std::vector<int> item_of_;  ///< by value id: index in the slab of given tensors, or -1
  Slab given_, wide_, truth_, intermediates_, outputs_;  ///< as in trial::TaskLayout
  uint64_t serial_;
  bool awaited_ = true;  ///< the baseline has yet to answer
};

}  // namespace kbench::judge
