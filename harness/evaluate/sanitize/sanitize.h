// Candidates under NVIDIA's compute-sanitizer, which looks for races in shared memory, accesses out
// of bounds, reads of memory before anything was written to it, and barriers that some threads of a
// block skip.
// Once, untimed, at small sizes: kernels in `kbench checked-process`, a ModelNew in a python3
// (runner/torch/checked.py), each locked in as runners are once its device is open. A checker is
// believed on a machine once it has found its planted fault there, and nothing in the fault's twin
// (self_test/plants/sanitize).
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "harness/measure/vulkan/snapshot.h"
#include "kbench/question.h"
#include "kbench/result.h"

namespace kbench::sanitize {

/// compute-sanitizer's path: in PATH, or in the usual folders of toolkits. Throws kUnsupported,
/// saying what is missing, where there is none or CUDA does not know the device.
std::string find_sanitizer(const vulkan::DeviceSnapshot& device);

struct CheckerReport {
  std::optional<int> errors;  ///< by its summary; nothing: it has not come to its end
  std::vector<SanitizerFinding> findings;
  std::string last_words;  ///< of the process under it, or the checker's own error
};
/// Of all that a checker and the process under it have printed. What is in no kernel, and warnings,
/// which may be meant so, are no findings.
CheckerReport read_report(std::string_view checker, const std::string& printed);

struct Machine {
  vulkan::DeviceSnapshot device;
  std::string program;    ///< kbench
  std::string sanitizer;  ///< compute-sanitizer
};
/// A path of the program for another process, which /proc/self/exe is not.
std::string path_for_others(const std::string& program);

/// Runs a judged candidate under all checkers that are believed here, and writes what they find
/// into its result; where findings are to `fail`, what passed becomes a race. Throws Cancelled.
void check(const Machine& machine, const Question& question, const std::stop_token& stop,
           Result& result);

/// The process `kbench checked-process FILE`, which runs under a checker.
int run_checked_process(int argc, char** argv);

}  // namespace kbench::sanitize
