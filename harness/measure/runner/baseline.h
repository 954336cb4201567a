// The eager baseline of a task as a program. Its outputs are also the truth.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "harness/measure/process/own_folder.h"
#include "harness/measure/runner/program.h"
#include "harness/measure/vulkan/device.h"
#include "harness/measure/vulkan/pipeline.h"
#include "kbench/task.h"

namespace kbench::runner {

/// Prepares baselines on one device and remembers which have been compared with the reference.
class BaselineLoader {
 public:
  explicit BaselineLoader(vulkan::Device& device) : device_(device) {}

  /// Throws kInternal, with the difference, if the baseline differs from the float64 reference on
  /// this device at the sizes of preset smoke, and what build_graph() and the eager planner throw.
  std::unique_ptr<Program> prepare(const Prepare& request);

 private:
  vulkan::Device& device_;
  std::set<TaskId> verified_;
};

/// Compiled pipelines of kbench's own shaders, kept from run to run. Never a candidate's, whose
/// next run would compile faster.
class KeptPipelines {
 public:
  /// Loads the pipelines kept in `folder` (empty: none are kept) into the driver's cache. The key
  /// is `subject`, which names build, device and driver, and `what`: a task's baseline, or the
  /// trial.
  KeptPipelines(vulkan::PipelineCache& pipelines, const std::string& folder,
                const std::string& subject, const std::string& what);
  /// Writes the file again if pipelines were made since.
  void keep() const;

 private:
  vulkan::PipelineCache& pipelines_;
  process::OwnFolder folder_;
  std::string subject_, prefix_, name_, before_;
};

}  // namespace kbench::runner
