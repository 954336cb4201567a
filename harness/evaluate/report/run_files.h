// Reading single attempts out of a run's folder, where any file may be missing.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kbench/attempt.h"
#include "kbench/model.h"

namespace kbench::report {

/// Of one line of a transcript.
struct Spoken {
  int sample = 0, attempt = 0;
  std::string answer, reasoning, finish;
};

/// The exchanges of a transcript that are wanted(sample, attempt). Returns the bytes read. Lines
/// that are no exchange are passed over.
size_t read_spoken(const std::string& path, const std::function<bool(int, int)>& wanted,
                   const std::function<void(Spoken)>& take);

/// The messages of a prompt; empty where they are not on disk.
std::vector<std::pair<std::string, std::string>> read_prompt(const std::string& run,
                                                             const std::string& hash);

/// What the folder of an attempt holds.
struct AttemptFiles {
  std::vector<std::pair<std::string, std::string>> code;  ///< relative path, text
  std::string answer, feedback;
};
/// Files of at most `most` bytes each; longer ones are cut. Links are not followed.
AttemptFiles read_attempt_files(const std::string& run, const Attempt& attempt, size_t most);

/// The text, or its beginning and its end with a note in between.
std::string cut_in_the_middle(const std::string& text, size_t most);

}  // namespace kbench::report
