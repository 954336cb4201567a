// The load of other processes on the processors that this process may use.
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
  double busy_s = 0;      ///< of all processes and the hypervisor on them
  double own_s = 0;       ///< of our processes
  double tick_s = 0;      ///< resolution of busy_s, for each processor
  std::optional<ProcessorQuota> quota = std::nullopt;
};

/// The share of the usable processor time, 0 to 1, that other processes took: those on the same
/// processors, and those that use up the quota of the same control group. Nothing if the clocks
/// have not advanced.
std::optional<double> taken_by_others(const ProcessorClocks& before, const ProcessorClocks& after);

/// Nothing if the system does not say. `own`: our other processes.
std::optional<ProcessorClocks> processor_clocks(const std::vector<pid_t>& own,
                                                const SystemFolders& folders = {});

}  // namespace kbench::process
