// Candidates as text in a prompt.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kbench/candidate.h"

namespace kbench::prompts {

/// A candidate of the sets that ship, with its files; parsed, not resolved.
struct Example {
  std::string path;  ///< "simple/level1_019_relu.yaml"
  Candidate candidate;
  std::map<std::string, std::string> files;  ///< those it needs; the manifest as candidate.yaml
};

/// Throws kNotFound where no such candidate ships, and what parsing it throws.
Example load_example(const std::string& path);

}  // namespace kbench::prompts
