// Linux's Landlock: a process gives up its rights to files, TCP ports and signals.
#pragma once

#include "harness/measure/runner/lock_in.h"

namespace kbench::runner {

/// Restricts the calling thread, and those it starts from now on, to reading the files of Vulkan
/// drivers and in `readable`, and using the device files of the device with this UUID.
LockLayer restrict_files(const std::vector<std::string>& readable, const std::string& device);

/// Restricts them to reading and running files in the system's folders and in `readable`, and to
/// everything but running below `scratch`. Of devices only the files `devices` are in reach.
LockLayer restrict_files_of_python(const std::vector<std::string>& readable,
                                   const std::string& scratch,
                                   const std::vector<std::string>& devices);

}  // namespace kbench::runner
