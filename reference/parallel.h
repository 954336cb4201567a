// Spreading loops over the threads of the arena the reference runs in.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kbench/reference.h"

namespace kbench::reference {

/// A loop's body by reference: what is called is compiled once, not the loop for each body. The
/// body must outlive the call that it is given to.
template <class... Indices>
class LoopBody {
 public:
  template <class Body>
  LoopBody(const Body& body)
      : body_(&body), call_([](const void* called, Indices... indices) {
          (*static_cast<const Body*>(called))(indices...);
        }) {}
  void operator()(Indices... indices) const { call_(body_, indices...); }

 private:
  const void* body_;
  void (*call_)(const void* body, Indices... indices);
};

/// Calls body(i) for every i in [0, n), each a piece of work worth handing to another thread. A
/// thread takes the next piece when it has finished one.
void parallel_tasks(int64_t n, LoopBody<int64_t> body);

/// Calls body(begin, end) over [0, n) in blocks of `block`, the last one shorter. The blocks follow
/// from the extents alone, so that what is computed block by block has the same bits on any number
/// of threads.
void parallel_blocks(int64_t n, int64_t block, LoopBody<int64_t, int64_t> body);

/// Elementary steps that are worth handing to another thread.
constexpr int64_t kWorthwhile = 1 << 14;

/// How many items that cost `work` elementary steps each are worth handing to another thread.
inline int64_t grain_of(int64_t work) {
  return std::max<int64_t>(1, kWorthwhile / std::max<int64_t>(work, 1));
}

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
