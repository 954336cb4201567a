// The messages between a client (evaluate(), the program) and its judge.
//
// Jobs are lines of JSON on the judge's standard input. Answers are lines on descriptor 3: once
// "hello JSON" (the device) or "error JSON"; then for each request "stage NAME" as it goes along,
// "progress JSON" where it is wanted, "inspection JSON" or "profile JSON"
// (Findings) where one was asked for, and "result JSON", "error JSON" or "later begun" or "later"
// (StillCompiling).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/measure/vulkan/snapshot.h"
#include "kbench/error.h"
#include "kbench/evaluate.h"

namespace kbench::judge {

inline constexpr int kAnswerDescriptor = 3;
/// Sent during a request, it ends it: the answer is then `cancelled`, or the result if that was
/// sent already.
inline constexpr const char* kCancelLine = "cancel";
/// Sent during a request: others wait for the device (StillCompiling).
inline constexpr const char* kOthersLine = "others";
/// The stage in which a judge waits until another process releases the device: it counts neither in
/// a limit nor in wall_s.
inline constexpr const char* kQueueStage = "queue";
/// The most that the first run of an opponent takes, in which it compiles: max-autotune tries
/// dozens of kernels for each operator.
inline constexpr double kOpponentCompileSeconds = 600;
/// At most so many requests to come are announced.
inline constexpr size_t kMostFilesAhead = 12;
/// Of one judge at most so many are left to their compilers at a time (StillCompiling): each keeps
/// processors and memory. What is begun beyond it the judge would have to drop.
inline constexpr size_t kMostLeft = 4;

/// The seeds of the values that an inspection runs a candidate on, the last ones in its last run.
struct InspectedDraws {
  uint64_t parameters = 0, inputs = 0, other_inputs = 0;
};

struct EvaluateRequest {
  Question question = {};
  bool more = false;  ///< others will follow: start runners ahead
  /// The candidates of the requests that follow, the next one first, of which the same is asked;
  /// empty: not known. What can be done for them without the device is done while this one is
  /// measured.
  std::vector<CandidateSource> next_files = {};
  // Ways to look closer instead of judging. The result then says `passed` of a candidate that
  // ran and stayed inside its buffers, right or wrong; with `values_only`, that was right too.
  std::optional<InspectedDraws> inspect = {};  ///< run it on these, and hand back what it wrote
  std::optional<int> profile_runs = {};        ///< time its steps, and the baseline's
  bool values_only = false;                    ///< hold it to the CPU's reference once
  bool looks_closer() const { return inspect || profile_runs || values_only; }
  bool progress = false;  ///< "progress" lines are wanted
  /// Whether other requests wait, asked again and again: StillCompiling may then be the answer.
  std::function<bool()> others = {};
  /// The files of tasks of one's own, for the judge to know. to_json() writes the candidate's, or
  /// else those that this process knows; only the judge reads them here.
  std::vector<std::string> task_files = {};
};
/// In place of a result: what compiles long is not waited for while others wait. The request is to
/// be made again.
struct StillCompiling {
  bool begun = false;  ///< the judge goes on compiling it; else it has too many such already
};
/// True when both ask for the same; what they say of other requests may differ.
bool same_question(const EvaluateRequest& a, const EvaluateRequest& b);

std::string to_json(const EvaluateRequest& request);          ///< one line, no newline at the end
EvaluateRequest request_from_json(const std::string& line);   ///< throws kParse
std::string to_json(const Progress& progress);                ///< one line
Progress progress_from_json(std::string_view line);           ///< throws kParse
std::string to_json(const Error& error);                      ///< one line, no newline at the end
Error error_from_json(std::string_view line);                 ///< throws kParse
std::string to_json(const vulkan::DeviceSnapshot& snapshot);  ///< one line
vulkan::DeviceSnapshot snapshot_from_json(std::string_view line);                ///< throws kParse
std::string to_json(const std::vector<vulkan::DeviceSnapshot>& list);            ///< one line
std::vector<vulkan::DeviceSnapshot> snapshots_from_json(std::string_view line);  ///< throws kParse

}  // namespace kbench::judge
