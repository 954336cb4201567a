// Linux's Landlock: a process gives up its rights to files, TCP ports and signals.
#pragma once

#include "harness/measure/runner/lock_in.h"

namespace kbench::runner {

/// Restricts the calling thread, and those it starts from now on, to reading what Vulkan drivers
/// read, the files in `readable`, and using the files of the device with this UUID.
LockLayer restrict_files(const std::vector<std::string>& readable, const std::string& device);

/// To reading and running what lies in the system's folders and the files and folders in
/// `readable`, and everything below `scratch`: no device's file among them.
LockLayer restrict_files_of_python(const std::vector<std::string>& readable,
                                   const std::string& scratch);

}  // namespace kbench::runner
