// Mistakes that authors make, each in a candidate of its own, and the hint that feedback gives.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kbench/feedback.h"

namespace kbench::testing {

/// The findings about a candidate that cannot run everywhere: messages of the compilers of CUDA and
/// Triton, or what a run on a GPU shows.
struct Recorded {
  std::string message;
  std::string error = {};     ///< a compiler's; empty: none
  std::string error_at = {};  ///< words of the candidate's line that it is about
  Evidence evidence = {};
};

struct Mistake {
  std::string name;       ///< "float16_t without its extension"
  std::string candidate;  ///< YAML, or a ModelNew file
  Verdict verdict;
  std::string hint;                       ///< words of the hint
  bool named = true;                      ///< false: no hint names the cause; counted in the rate
  std::optional<Recorded> recorded = {};  ///< nothing: it is run, on the CPU device

  bool is_module() const { return candidate.find("class ModelNew") != std::string::npos; }
};

/// docs/feedback.md has the table.
const std::vector<Mistake>& mistakes();

}  // namespace kbench::testing
