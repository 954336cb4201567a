// What a parent and its worker say to each other.
//
// The job is one line of JSON on the worker's standard input. Answers are lines on descriptor 3:
// "stage NAME" as the evaluation goes along, then "result JSON" or "error JSON".
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "kbench/error.h"
#include "kbench/evaluate.h"

namespace kbench::worker {

inline constexpr int kAnswerDescriptor = 3;

struct Job {
  std::string candidate_file;
  EvaluateOptions options;  ///< without worker and on_stage, which stay with the parent
  pid_t parent = 0;         ///< the worker ends when this process does
};

std::string to_json(const Job& job);           ///< one line, no newline at the end
Job job_from_json(const std::string& line);    ///< throws kParse
std::string to_json(const Error& error);       ///< one line, no newline at the end
Error error_from_json(std::string_view line);  ///< throws kParse

}  // namespace kbench::worker
