// The judge of a device for an Episode of one's own.
#pragma once

#include "kbench/episode.h"
#include "kbench/evaluate.h"
#include "kbench/feedback.h"

namespace kbench {

/// What an Episode takes: both keep the device's judges, with kernels and memory warm, as long as a
/// copy of either lives. Not to be called from two threads at once. Sizes come from the episode;
/// everything else from the options, as Evaluator has it, and so do the errors thrown.
struct DeviceJudge {
  Judge judge;
  Investigate investigate;  ///< smallest failing size, pattern, mutants, profile
};
DeviceJudge device_judge(const EvaluateOptions& options = {});

}  // namespace kbench
