// Access to the client in a JudgeProcess, for kbench's own program.
#pragma once

#include "harness/evaluate/client/judge_client.h"
#include "kbench/evaluate.h"

namespace kbench {

/// Not thread-safe: for a JudgeProcess that no other thread uses.
class JudgeInside {
 public:
  /// The client of the judge that measures.
  static client::JudgeClient& client(JudgeProcess& judge);
  /// The questions will ask for the validation layer: it is there from the judge's start.
  static void expect_validation(JudgeProcess& judge);
};

}  // namespace kbench
