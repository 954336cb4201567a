// Why a candidate is not run, or did not pass.
#pragma once

#include <string>
#include <utility>

#include "kbench/result.h"

namespace kbench::runner {

struct Refusal {
  Verdict verdict = Verdict::invalid_candidate;
  std::string message;
  bool size = false;  ///< for the size of a buffer alone: all else has been looked at
};

inline Refusal invalid(std::string message) {
  return {Verdict::invalid_candidate, std::move(message)};
}
inline Refusal unsupported(std::string message) {
  return {Verdict::unsupported, std::move(message)};
}

}  // namespace kbench::runner
