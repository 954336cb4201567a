// What `kbench baseline` says about what it measured or read.
#pragma once

#include <string>

#include "harness/evaluate/report/svg_plot.h"
#include "kbench/baseline.h"
#include "kbench/recorded.h"

namespace kbench::program {

/// Device, preset and roofline.
std::string format_heading(const Baseline& baseline);
/// A line a task that was timed.
std::string format_times(const Baseline& baseline);
/// Which tasks have no time and why; empty when all have.
std::string format_untimed(const Baseline& baseline);
/// Both sides a task, geometric means, the tasks below half their speed, and the ten slowest.
std::string format_comparison(const BaselineComparison& comparison, const Baseline& ours,
                              const RecordedTimes& theirs);

/// The baseline's document with the comparison as one more member.
std::string comparison_json(const BaselineComparison& comparison, const Baseline& ours,
                            const RecordedTimes& theirs);

report::Plot roofline_plot(const Baseline& baseline);
report::Plot ratio_plot(const BaselineComparison& comparison, const Baseline& ours,
                        const RecordedTimes& theirs);

/// The line that says where recorded times come from, with a warning where that was another device;
/// and where they do not say their sizes.
std::string recorded_notice(const RecordedTimes& theirs, const std::string& device);

}  // namespace kbench::program
