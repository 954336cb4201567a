// What a client (evaluate(), the program) and its judge say to each other.
//
// Jobs are lines of JSON on the judge's standard input. Answers are lines on descriptor 3: once
// "hello JSON" (the device) or "error JSON"; then for each request "stage NAME" as it goes along,
// "inspection JSON" or "profile JSON" (harness/client/findings.h) where one was asked for, and
// "result JSON" or "error JSON".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/vulkan/snapshot.h"
#include "kbench/error.h"
#include "kbench/evaluate.h"

namespace kbench::client {

inline constexpr int kAnswerDescriptor = 3;
/// As many requests ahead are worth naming.
inline constexpr size_t kMostFilesAhead = 4;

struct Request {
  std::string candidate_file;
  /// Without device, program and on_stage, which stay with the client, and validate, which is the
  /// judge's from its start.
  EvaluateOptions options;
  bool check_only = false;  ///< compile, run nothing
  bool more = false;        ///< others will follow: start runners ahead
  /// The files of the requests that follow, the next one first, with the same options; empty: not
  /// known. What can be done for them without the device is done while this one is measured.
  std::vector<std::string> next_files = {};
  // Two ways to look closer, in place of judging. The result then says `passed` of a candidate that
  // ran and stayed inside its buffers, whatever it computed.
  std::optional<uint64_t> inspect_seed = {};  ///< run it twice on the draws of this seed
  int profile_runs = 0;                       ///< time its steps, and the baseline's
};
/// True when both ask for the same, whatever follows them.
bool same_question(const Request& a, const Request& b);

std::string to_json(const Request& request);                  ///< one line, no newline at the end
Request request_from_json(const std::string& line);           ///< throws kParse
std::string to_json(const Error& error);                      ///< one line, no newline at the end
Error error_from_json(std::string_view line);                 ///< throws kParse
std::string to_json(const vulkan::DeviceSnapshot& snapshot);  ///< one line
vulkan::DeviceSnapshot snapshot_from_json(std::string_view line);                ///< throws kParse
std::string to_json(const std::vector<vulkan::DeviceSnapshot>& list);            ///< one line
std::vector<vulkan::DeviceSnapshot> snapshots_from_json(std::string_view line);  ///< throws kParse

}  // namespace kbench::client
