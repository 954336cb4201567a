// The output of `kbench baseline` and of `kbench-dev baseline`.
#pragma once

#include <string>

#include "kbench/baseline.h"

namespace kbench::program {

/// Device, preset and roofline.
std::string format_heading(const Baseline& baseline);
/// One line for each timed task.
std::string format_times(const Baseline& baseline);
/// The tasks without a time, and why; empty if there are none.
std::string format_untimed(const Baseline& baseline);
/// Both times of each task, geometric means, the tasks below half the recorded speed, and the ten
/// slowest.
std::string format_comparison(const BaselineComparison& comparison, const Baseline& ours,
                              const RecordedTimes& theirs);

/// The baseline as JSON with the comparison added.
std::string comparison_json(const BaselineComparison& comparison, const Baseline& ours,
                            const RecordedTimes& theirs);

/// A line on where recorded times come from; warns if that is another device, or if they do not say
/// their sizes.
std::string recorded_notice(const RecordedTimes& theirs, const std::string& device);

}  // namespace kbench::program
