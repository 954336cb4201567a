// The judge of a device for an Episode of one's own.
#pragma once

#include "kbench/episode.h"
#include "kbench/evaluate.h"
#include "kbench/feedback.h"

namespace kbench {

/// The two functions that an Episode takes. The device's judge processes stay open, with kernels
/// and memory warm, as long as a copy of either lives. Not to be called from two threads at once.
/// Sizes come from the episode, everything else from the options; errors are those of Evaluator.
struct DeviceJudge {
  Judge judge;
  Investigate investigate;  ///< smallest failing size, pattern, mutants, profile
};
DeviceJudge device_judge(const EvaluateOptions& options = {});

}  // namespace kbench
