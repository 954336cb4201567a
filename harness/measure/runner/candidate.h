// The judged program: a candidate, from its files to something that can be recorded.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "harness/measure/runner/program.h"
#include "harness/measure/runner/python_helper.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/candidate.h"
#include "kbench/candidate_source.h"

namespace kbench::runner {

/// A candidate on its way: loaded, then built. What is wrong with it arrives as an Error with a
/// place (load, resolve) or as a Refused (build).
class CandidateLoader {
 public:
  explicit CandidateLoader(vulkan::Device& device) : device_(device) {}

  /// Parses the candidate whose files `read` brings.
  Loaded load(const Load& request, const kbench::ReadFile& read);
  /// True when a kernel of the loaded candidate is Triton's, or CUDA C++.
  bool needs_python() const { return has(Kernel::Language::triton); }
  bool needs_nvrtc() const { return has(Kernel::Language::cuda); }
  /// Works out names and sizes, compiles. Nothing when the candidate is refused.
  std::unique_ptr<Program> build(const Build& request, PythonHelper* python, Refused& refused);
  /// Where the candidate names its task.
  const Location& task_at() const { return candidate_->task_at; }

 private:
  bool has(Kernel::Language language) const;

  vulkan::Device& device_;
  std::unique_ptr<Candidate> candidate_;
};

}  // namespace kbench::runner
