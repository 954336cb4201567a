// What a driver has made of kbench's own shaders, kept from run to run. Never a candidate's: one
// run would prepare the next.
#pragma once

#include <string>

#include "harness/measure/process/own_folder.h"
#include "harness/measure/vulkan/pipeline.h"

namespace kbench::runner {

class KeptPipelines {
 public:
  /// Gives the driver what was kept in the folder, for a subject (a build, a device, its driver),
  /// of `what`: a task's baseline, the trial. An empty path keeps nothing.
  KeptPipelines(vulkan::PipelineCache& pipelines, const std::string& folder,
                const std::string& subject, const std::string& what);
  /// Keeps what has been made since beside that, if there is any.
  void keep() const;

 private:
  vulkan::PipelineCache& pipelines_;
  process::OwnFolder folder_;
  std::string subject_, prefix_, name_, before_;
};

}  // namespace kbench::runner
