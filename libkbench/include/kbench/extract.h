// From a model's answer to a candidate's files.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/attempt.h"
#include "kbench/task.h"

namespace kbench {

/// What an answer is asked to hold: a manifest and the files of its kernels, or a Python file that
/// defines ModelNew (docs/modelnew.md).
enum class AnswerForm { kernels, model };

struct ExtractOptions {
  /// Tags that models put around their thoughts: text is cut up to the last end tag (`</think>`)
  /// outside a fence, whether or not a start tag is there.
  std::vector<std::string> thinking_tags = {"think", "thinking", "reasoning"};
  /// The form that was asked for, which is what an answer without a candidate is said to lack;
  /// unset: either. A candidate of the other form is taken all the same.
  std::optional<AnswerForm> asked = std::nullopt;
};

/// The result of extract(): nothing was written, resolved or compiled.
struct Extraction {
  /// candidate, no_candidate, wrong_task, truncated, refused or too_long.
  Outcome outcome = Outcome::no_candidate;
  std::optional<AnswerForm> asked = std::nullopt;  ///< ExtractOptions::asked
  /// Relative path -> text; "candidate.yaml" is the manifest. Empty unless a candidate was found,
  /// be it for another task. Of a ModelNew it is "model_new.py", and a manifest that names it and
  /// its task.
  std::map<std::string, std::string> files;
  /// What was overlooked, sorted, each once:
  ///   folder_name         the files were named inside a folder, the manifest's own
  ///   inline_name         a name stood before the block or in its first line, not on the fence
  ///   joined_name         the one unnamed shader took the one name that the manifest lacked
  ///   several_manifests   the last of several was taken
  ///   several_models      the last of several blocks that define ModelNew was taken
  ///   repeated_name       the last of several blocks with one name was taken
  ///   unclosed_fence      the text ended before the last block's fence did
  ///   unsafe_name         a name held "..", a leading "/" or odd characters, which were taken out
  ///   untagged_manifest   the manifest's fence does not say yaml
  ///   untagged_model      the fence of ModelNew does not say python
  ///   wrapped_answer      the whole answer stood inside one fence, as Markdown
  std::vector<std::string> leniencies;
  std::string explanation;  ///< one line for feedback: what was found and what is missing
};

/// Reads an answer by CommonMark's rules; never throws on any text (but std::bad_alloc). The last
/// manifest (a block with a top-level `kbench:`) wins that is not for another task; where there is
/// none, the last block that defines ModelNew and whose comment `# task:` names no other task. Of
/// two files with one name the last wins. Names are relative, without "..", of [A-Za-z0-9_./-], and
/// can all be written into one folder; files within kbench/candidate_limits.h. Takes time in
/// proportion to the text.
Extraction extract(const Answer& answer, TaskId task, const ExtractOptions& options = {});

}  // namespace kbench
