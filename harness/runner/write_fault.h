// What a candidate may only read is mapped read-only on a software device, where a write to it is a
// fault of the process: the process then says which tensor that was, and ends.
#pragma once

#include <string>
#include <vector>

#include "harness/vulkan/commands.h"

namespace kbench::runner {

/// How the process exits after such a write; its last words are the tensor's index.
inline constexpr int kWriteFaultStatus = 86;

/// From now on for these tensors, in place of those of the last call. They must stay mapped until
/// the next one. Other faults end the process as ever. Nothing for regions without a host pointer.
void report_write_faults(const std::vector<vulkan::Region>& tensors);

/// The index that a process's last words say; -1 for other words.
int write_fault_index(const std::string& last_words);

}  // namespace kbench::runner
