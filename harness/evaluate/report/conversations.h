// The details behind the cells of a page: prompts, answers, code, diagnostics and times of
// attempts.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness/evaluate/report/study.h"
#include "harness/evaluate/report/tables.h"
#include "kbench/exchange.h"

namespace kbench::report {

/// An attempt, and whose it is.
struct AttemptId {
  size_t participant = 0;  ///< index into Study::participants
  TaskId task = {};
  int sample = 1, attempt = 1;
  auto operator<=>(const AttemptId&) const = default;
};

struct ConversationLimits {
  size_t attempts = 6000;           ///< most attempts that are read
  size_t total = size_t{32} << 20;  ///< most bytes of text in a page
  size_t text = size_t{32} << 10;   ///< most bytes of one text; longer ones are cut in the middle
  size_t reasoning = size_t{8} << 10;    ///< the same for a model's reasoning
  size_t transcripts = size_t{1} << 30;  ///< most bytes of transcripts that are read
};

struct Conversations {
  Json texts = Json::array();       ///< by included attempt
  Json pool = Json::array();        ///< the distinct texts
  std::vector<AttemptId> included;  ///< the attempts of `texts`
};

/// Collects the texts of attempts in the given order until a limit is reached. Files that are
/// missing are skipped; nothing outside a run's folder is read.
Conversations collect(const Study& study, std::vector<AttemptId> wanted,
                      const ConversationLimits& limits);

// --- single attempts of a run's folder, in which any file may be missing -------------------------

/// The exchanges of a transcript for which wanted(sample, attempt) is true. Returns the bytes read.
/// Malformed lines are skipped.
size_t read_exchanges(const std::string& path, const std::function<bool(int, int)>& wanted,
                      const std::function<void(Exchange)>& take);

/// The messages of a prompt; empty if its file is missing or malformed.
std::vector<Message> read_prompt(const std::string& run, const std::string& hash);

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
