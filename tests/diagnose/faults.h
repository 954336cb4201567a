// Candidates that are wrong in a known way, and what feedback has to say of each.
#pragma once

#include <string>
#include <vector>

namespace kbench::testing {

struct Fault {
  std::string name;   ///< "a missing ReLU"
  std::string yaml;   ///< the candidate
  std::string named;  ///< in the feedback where it locates the fault
  bool found = true;  ///< false: beyond what it can name today; counted in the rate
};

/// docs/feedback.md has the table.
const std::vector<Fault>& faults();

/// A candidate of one kernel. `body` sees i, the invocation's number, and buffers b0, b1, ... of
/// float in the order of `bind`; `elements`: as many invocations at least, an expression.
std::string one_kernel(const std::string& task, const std::vector<std::string>& bind,
                       const std::string& elements, const std::string& body,
                       const std::string& groups = "");

}  // namespace kbench::testing
