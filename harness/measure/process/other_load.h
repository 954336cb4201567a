// How busy others keep the processors that this process may use.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

#include "harness/measure/process/cgroups.h"

namespace kbench::process {

/// Clocks that only go forward, in seconds.
struct ProcessorClocks {
  double wall_s = 0;
  double processors = 0;  ///< that this process may use
  double busy_s = 0;      ///< of those, by all processes and by the hypervisor
  double own_s = 0;       ///< of what is ours
  double tick_s = 0;      ///< of the clocks of what was used: each may lag behind by one
  std::optional<ProcessorQuota> quota = std::nullopt;
};

/// The share of the processors that others left no room on, 0 to 1: what is free is what others on
/// the same processors, and others of the same group with a quota, leave. Nothing where the clocks
/// stand still.
std::optional<double> taken_by_others(const ProcessorClocks& before, const ProcessorClocks& after);

/// Nothing where the system does not say. `own`: processes that are ours beside this one.
std::optional<ProcessorClocks> processor_clocks(const std::vector<pid_t>& own,
                                                const SystemFolders& folders = {});

}  // namespace kbench::process
