// Why a candidate is not run, or did not pass.
#pragma once

#include <string>

#include "kbench/result.h"

namespace kbench::runner {

struct Refusal {
  Verdict verdict = Verdict::invalid_candidate;
  std::string message;
};

}  // namespace kbench::runner
