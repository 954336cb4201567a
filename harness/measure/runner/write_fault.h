// What a candidate may only read is mapped read-only on a software device, with the redzones around
// it, where a write is a fault of the process: the process then says which tensor that was in or
// beside, and ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/measure/vulkan/commands.h"

namespace kbench::runner {

/// How the process exits after such a write; its last words are where that was.
inline constexpr int kWriteFaultStatus = 86;

/// Where it was: in a tensor, or so many bytes before its start or past its end.
struct WriteFault {
  enum class Place { inside, before, behind };
  int tensor = -1;  ///< its index; -1: unknown
  Place place = Place::inside;
  uint64_t bytes = 0;
};

/// From now on for these tensors and what lies between them in their buffers, in place of those of
/// the last call. They must stay mapped until the next one. Other faults end the process as ever.
/// Nothing for regions without a host pointer.
void report_write_faults(const std::vector<vulkan::Region>& tensors);

/// What a process's last words say.
WriteFault write_fault_of(const std::string& last_words);

}  // namespace kbench::runner
