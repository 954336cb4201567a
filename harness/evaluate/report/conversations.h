// The details behind the cells of a page: prompts, answers, code, diagnostics and times of
// attempts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/evaluate/report/study.h"
#include "harness/evaluate/report/tables_json.h"

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

}  // namespace kbench::report
