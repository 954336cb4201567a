// In which order sums are added up, by all threads that work on one run.
#pragma once

#include "kbench/reference.h"

namespace kbench::reference {

/// The order that the calling thread is to keep. parallel.h hands it to the threads that share its
/// work.
inline thread_local ReferenceOptions::Summation current_summation =
    ReferenceOptions::Summation::library;

inline bool is_sequential() { return current_summation == ReferenceOptions::Summation::sequential; }

/// The calling thread's order, as long as this lives.
class SummationScope {
 public:
  explicit SummationScope(ReferenceOptions::Summation order) : before_(current_summation) {
    current_summation = order;
  }
  ~SummationScope() { current_summation = before_; }
  SummationScope(const SummationScope&) = delete;
  SummationScope& operator=(const SummationScope&) = delete;

 private:
  ReferenceOptions::Summation before_;
};

}  // namespace kbench::reference
