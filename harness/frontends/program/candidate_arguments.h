// Candidates given on the command line.
#pragma once

#include <string>
#include <vector>

#include "harness/frontends/program/options.h"
#include "kbench/candidate_source.h"

namespace kbench::program {

struct NamedCandidate {
  CandidateSource source;
  std::string name;  ///< as shown in messages and results
};

/// The candidates that arguments name: YAML files, Python files with a ModelNew, folders (every
/// candidate below them), and at most once "-", standard input. A ModelNew that names no task is
/// for `task`. Candidates of one folder argument, or of files in one folder, have one author.
/// Throws Error if a path does not exist, is no manifest or contains none.
std::vector<NamedCandidate> named_candidates(const std::vector<std::string>& words,
                                             const std::string& task = {});

/// The type to run a candidate in: --dtype, else the one that it is written for, else f32.
DType dtype_for(const CandidateSource& candidate, const SizeOptions& size);

/// Throws if a path has the suffix of a kernel's file, which is given by its manifest.
void expect_no_kernel(const std::string& path);

}  // namespace kbench::program
