// Compiled pipelines of kbench's own shaders, kept from run to run. Never a candidate's, whose next
// run would compile faster.
#pragma once

#include <string>

#include "harness/measure/process/own_folder.h"
#include "harness/measure/vulkan/pipeline.h"

namespace kbench::runner {

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
