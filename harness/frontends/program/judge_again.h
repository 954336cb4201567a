// Judges the candidates that a run of `kbench generate` keeps, without asking a model.
#pragma once

#include <string>

#include "harness/frontends/program/options.h"

namespace kbench::program {

/// Whether the path is the folder of a run.
bool is_run(const std::string& path);

/// As the run was begun, judges in the run itself what is not judged yet; on another device or at
/// other sizes judges every different candidate, into a file of results under RUN/judged. Returns
/// the exit code. With `confirm` measures the winners once more, and nothing else. Throws Error.
int judge_again(const std::string& run, const SizeOptions& size, const DeviceOptions& device,
                const MeasureOptions& measure, bool confirm, bool json);

}  // namespace kbench::program
