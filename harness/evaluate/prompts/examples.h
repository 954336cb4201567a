// Candidates as text in a prompt.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kbench/candidate.h"

namespace kbench::prompts {

/// A shipped candidate with its files, parsed but not resolved.
struct Example {
  std::string path;  ///< "simple/level1_019_relu.yaml"
  Candidate candidate;
  std::map<std::string, std::string> files;  ///< the files it needs; the manifest is candidate.yaml
};

/// Throws kNotFound if no such candidate ships, and the errors of parse_candidate().
Example load_example(const std::string& path);

}  // namespace kbench::prompts
