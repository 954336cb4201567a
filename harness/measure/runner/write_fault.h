// On a software device, tensors that a candidate may only read, and the redzones around them, are
// mapped read-only. A write there faults; the process then reports the tensor and ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/measure/vulkan/commands.h"

namespace kbench::runner {

/// The exit status after such a write; its last line of output says where the write was.
inline constexpr int kWriteFaultStatus = 86;

/// Follows the tensor's name in a message.
inline constexpr const char* kWrittenTo = " was written to; a candidate may only read it";

/// In a tensor, or so many bytes before its start or past its end.
struct WriteFault {
  enum class Place { inside, before, behind };
  int tensor = -1;  ///< its index; -1: unknown
  Place place = Place::inside;
  uint64_t bytes = 0;
};

/// Reports writes to these tensors, and to what lies between them in their buffers, from now on, in
/// place of those of the last call. They must stay mapped until the next call. Other faults end the
/// process as usual. Regions without a host pointer are not watched.
void report_write_faults(const std::vector<vulkan::Region>& tensors);

/// Reads the process's last line of output; tensor -1 if it reports no such write.
WriteFault write_fault_of(const std::string& last_words);

}  // namespace kbench::runner
