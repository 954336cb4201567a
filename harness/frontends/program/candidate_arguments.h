// Candidates as a command line names them.
#pragma once

#include <string>
#include <vector>

#include "kbench/candidate_source.h"

namespace kbench::program {

struct NamedCandidate {
  CandidateSource source;
  std::string name;  ///< as messages and results have it
};

/// The candidates that words of a command line name: YAML files, folders with every candidate below
/// them, and once "-", standard input. Throws Error where one is not there, is no manifest or holds
/// none.
std::vector<NamedCandidate> named_candidates(const std::vector<std::string>& words);

/// The one candidate of a word: a YAML file, a folder that holds one alone, or "-". Throws Error.
NamedCandidate one_candidate(const std::string& word);

/// Throws where a path has the suffix of a kernel's file, which a manifest has to name.
void expect_no_kernel(const std::string& path);

/// The candidate read and parsed; throws Error as load_candidate() does.
Candidate load(const NamedCandidate& candidate);

}  // namespace kbench::program
