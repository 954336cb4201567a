// The verdict and message for a failure of a candidate's runner. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/measure/judge/checks.h"
#include "harness/measure/judge/runner_process.h"
#include "harness/measure/runner/protocol.h"
#include "kbench/evaluate.h"
#include "kbench/graph.h"

namespace kbench::judge {

/// How long a candidate's answer is waited for, and the part of the command line that sets it:
/// "--device-seconds".
struct TimeLimit {
  double seconds = 0;
  std::string set_by = {};
};

/// What the runner was doing.
struct RunnerState {
  std::string stage;                      ///< "load", "compile", "warm-up", "sample"
  bool ran = false;                       ///< a line of the candidate may have been executed
  const Graph* graph = nullptr;           ///< the task's, where it is known
  std::vector<std::string> kernels = {};  ///< the candidate's, where they are known
  TimeLimit limit = {};                   ///< of the stage, once the file is read
};

/// For compiling a candidate: no more than its whole trial may take.
TimeLimit compile_limit(const Limits& limits, runner::RunnerKind kind);
/// For one run on the device. The first runs of a module may compile kernels (`compiles`), and have
/// the time of compiling if that is longer.
TimeLimit run_limit(const Limits& limits, bool compiles);

/// True while the candidate is on the device.
bool on_device(const std::string& stage);
/// "while compiling".
std::string while_in(const std::string& stage);
/// "input x", as messages name what may only be read.
std::string name_of_given(const Graph::ValueInfo& value);

/// A failure of the machine's or the harness's is a harness_error, all others are the candidate's.
Finding failure_verdict(const RunnerFailure& failure, const RunnerState& state,
                        const Limits& limits);

/// A finding of wrong values with what may have caused it. Values that are off by little everywhere
/// say low_precision only where the task's check is certified to tell float16 from float32
/// (`certificate`, as Experiment has it; kUntried: not known); elsewhere the module's own types do.
Finding with_causes(Finding finding, const runner::Built& built, const Graph& graph,
                    std::string_view certificate);

}  // namespace kbench::judge
