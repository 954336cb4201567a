// Spreading loops over the threads of the arena the reference runs in.
#pragma once

#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstdint>

#include "reference/summation.h"

namespace kbench::reference {

/// Calls body(i) for every i in [0, n), each a piece of work worth handing to another thread;
/// threads fetch the next as they finish, so that a slow one holds nobody up.
template <class Body>
void parallel_tasks(int64_t n, const Body& body) {
  if (n <= 1 || tbb::this_task_arena::max_concurrency() <= 1) {
    for (int64_t i = 0; i < n; ++i) body(i);
    return;
  }
  const auto order = current_summation;
  const auto in_that_order = [&](int64_t i) {
    const SummationScope scope(order);
    body(i);
  };
  tbb::parallel_for(int64_t{0}, n, in_that_order, tbb::simple_partitioner());
}

/// Calls body(begin, end) over [0, n) in blocks of `block`, the last one shorter. The blocks follow
/// from the extents alone, so that what is computed block by block has the same bits on any number
/// of threads.
template <class Body>
void parallel_blocks(int64_t n, int64_t block, const Body& body) {
  parallel_tasks((n + block - 1) / block,
                 [&](int64_t i) { body(i * block, std::min(n, (i + 1) * block)); });
}

/// Elementary steps that are worth handing to another thread.
constexpr int64_t kWorthwhile = 1 << 14;

/// How many items that cost `work` elementary steps each are worth handing to another thread.
inline int64_t grain_of(int64_t work) {
  return std::max<int64_t>(1, kWorthwhile / std::max<int64_t>(work, 1));
}

}  // namespace kbench::reference
