// What stands behind the cells of a page: prompts, answers, code, diagnostics and times of
// attempts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/evaluate/report/study.h"
#include "harness/evaluate/report/tables_json.h"

namespace kbench::report {

/// Which attempt, of whom.
struct AttemptId {
  size_t participant = 0;  ///< index into Study::participants
  TaskId task = {};
  int sample = 1, attempt = 1;
  auto operator<=>(const AttemptId&) const = default;
};

struct ConversationLimits {
  size_t attempts = 6000;                ///< looked up at most
  size_t total = size_t{32} << 20;       ///< bytes of text in a page
  size_t text = size_t{32} << 10;        ///< of one text; longer ones are cut in the middle
  size_t reasoning = size_t{8} << 10;    ///< the same for a model's thoughts
  size_t transcripts = size_t{1} << 30;  ///< bytes of transcripts that are read
};

struct Conversations {
  Json texts = Json::array();       ///< one an attempt that is included
  Json pool = Json::array();        ///< the texts, which several may share
  std::vector<AttemptId> included;  ///< of texts, in the same order
};

/// The texts of attempts, those first that are named first, until a limit is reached. What is not
/// on disk is left out; nothing outside of a run's folder is read.
Conversations collect(const Study& study, std::vector<AttemptId> wanted,
                      const ConversationLimits& limits);

}  // namespace kbench::report
