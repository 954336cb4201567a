// From a model's answer to a candidate's files.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/attempt.h"
#include "kbench/task.h"

namespace kbench {

struct ExtractOptions {
  /// End tags of thinking: content is cut up to the last one outside a fence.
  std::vector<std::string> thinking_tags = {"think", "thinking", "reasoning"};
};

/// What was found. Pure data: nothing is written and nothing of it has been resolved or compiled.
struct Extraction {
  Outcome outcome =
      Outcome::no_candidate;  ///< candidate, no_candidate, wrong_task, truncated, refused
  std::map<std::string, std::string>
      files;                            ///< relative path -> text; "candidate.yaml" is the manifest
  std::vector<std::string> leniencies;  ///< "joined_name", "unclosed_fence", "inline_name", ...
  std::string explanation;  ///< one line for feedback: what was found and what is missing
};

/// Reads an answer by CommonMark's rules; never throws on any text. The last manifest (a YAML block
/// with a top-level `kbench:`) wins, of two files with one name the last. Names are relative,
/// without
/// "..", of [A-Za-z0-9_./-], within kbench/candidate_limits.h.
Extraction extract(const Answer& answer, TaskId task, const ExtractOptions& options = {});

}  // namespace kbench
