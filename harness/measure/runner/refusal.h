// A verdict against a candidate, with its reason.
#pragma once

#include <string>
#include <utility>

#include "kbench/result.h"

namespace kbench::runner {

struct Refusal {
  Verdict verdict = Verdict::invalid_candidate;
  std::string message;
  bool size = false;  ///< only because a buffer is too large: all else has been checked
};

inline Refusal invalid(std::string message) {
  return {Verdict::invalid_candidate, std::move(message)};
}
inline Refusal unsupported(std::string message) {
  return {Verdict::unsupported, std::move(message)};
}

}  // namespace kbench::runner
