// Makes the judged program out of a candidate's files.
#pragma once

#include <memory>

#include "harness/measure/runner/program.h"
#include "harness/measure/runner/python_helper.h"
#include "harness/measure/runner/torch/torch_host.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/candidate.h"
#include "kbench/candidate_source.h"

namespace kbench::runner {

/// What runs Python in this runner; null where it has none.
struct PythonParts {
  PythonHelper* helper = nullptr;
  TorchHost* torch = nullptr;
};

/// Loads one candidate and builds it at a size. What is wrong with it is thrown as an Error with a
/// place in its files, or returned by build() as a Refused.
class CandidateLoader {
 public:
  explicit CandidateLoader(vulkan::Device& device) : device_(device) {}

  /// Parses the candidate; `read` gives its files.
  Loaded load(const Load& request, const kbench::ReadFile& read);
  /// Whether the loaded candidate has kernels in Triton or is a ModelNew; is one.
  bool needs_python() const;
  bool is_torch() const { return candidate_ && candidate_->torch; }
  bool has(Kernel::Language language) const;
  /// Resolves names and sizes, and compiles. Null, with `refused` filled, if it is refused.
  std::unique_ptr<Program> build(const Build& request, const PythonParts& python, Refused& refused);
  /// Where the candidate names its task.
  const Location& task_at() const { return candidate_->task_at; }

 private:
  vulkan::Device& device_;
  std::unique_ptr<Candidate> candidate_;
};

}  // namespace kbench::runner
