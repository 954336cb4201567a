// Reads single attempts from a run's folder, in which any file may be missing.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kbench/attempt.h"
#include "kbench/model.h"

namespace kbench::report {

/// One line of a transcript.
struct Spoken {
  int sample = 0, attempt = 0;
  std::string answer, reasoning, finish;
};

/// The exchanges of a transcript for which wanted(sample, attempt) is true. Returns the bytes read.
/// Malformed lines are skipped.
size_t read_spoken(const std::string& path, const std::function<bool(int, int)>& wanted,
                   const std::function<void(Spoken)>& take);

/// The messages of a prompt; empty if its file is missing.
std::vector<std::pair<std::string, std::string>> read_prompt(const std::string& run,
                                                             const std::string& hash);

/// The contents of an attempt's folder.
struct AttemptFiles {
  std::vector<std::pair<std::string, std::string>> code;  ///< relative path, text
  std::string answer, feedback;
};
/// Each file is cut to `most` bytes. Links are not followed.
AttemptFiles read_attempt_files(const std::string& run, const Attempt& attempt, size_t most);

/// The text, or its beginning and end with a note in between.
std::string cut_in_the_middle(const std::string& text, size_t most);

}  // namespace kbench::report
