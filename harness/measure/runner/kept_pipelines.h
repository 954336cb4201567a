// Compiled pipelines of kbench's own shaders, shared by its processes and kept from run to run.
#pragma once

#include "harness/measure/process/own_folder.h"
#include "harness/measure/vulkan/device.h"

namespace kbench::runner {

/// The folder "pipelines" of process::cache_folder(), made if it is missing; none where nothing is
/// kept. It holds no secret: a process that is locked in may read it.
process::OwnFolder pipelines_folder();
/// Its path; empty where nothing is kept.
std::string pipelines_path();

/// Lets device.pipelines(), which are kbench's own, be found there and, where the process `writes`,
/// be kept there. One that another process compiles at that moment is waited for. Never a
/// candidate's pipelines: its next run would compile faster. Does nothing on a software device,
/// whose driver has nothing to keep.
void share_pipelines(vulkan::Device& device, const process::OwnFolder& folder, bool writes);

/// Removes those that were used longest ago, where they take more than 512 MiB.
void drop_old_pipelines();

}  // namespace kbench::runner
