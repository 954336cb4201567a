// Spreading loops over the threads of the arena the reference runs in.
#pragma once

#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstdint>

namespace kbench::reference {

/// Threads that parallel_for may use here.
inline int64_t thread_count() { return std::max(1, tbb::this_task_arena::max_concurrency()); }

/// Calls body(begin, end) over disjoint ranges that cover [0, n), none much smaller than `grain`:
/// the least work worth handing to another thread. Short loops are dealt out once, so that a
/// thread meets in its cache what it wrote before; long ones in more pieces, to even out.
template <class Body>
void parallel_for(int64_t n, int64_t grain, const Body& body) {
  const int64_t threads = thread_count();
  const int64_t pieces = n / std::max<int64_t>(grain, 1);
  if (threads == 1 || pieces < 2) {
    if (n > 0) body(int64_t{0}, n);
    return;
  }
  const bool deal_once = pieces < 16 * threads;
  const int64_t chunks = std::min(pieces, deal_once ? threads : 8 * threads);
  const auto run = [&](int64_t chunk) {
    const auto at = [&](int64_t i) { return n / chunks * i + std::min(i, n % chunks); };
    body(at(chunk), at(chunk + 1));
  };
  if (deal_once) {
    tbb::parallel_for(int64_t{0}, chunks, run, tbb::static_partitioner());
  } else {
    tbb::parallel_for(int64_t{0}, chunks, run, tbb::simple_partitioner());
  }
}

/// Calls body(i) for every i in [0, n), each a piece of work worth handing to another thread;
/// threads fetch the next as they finish, so that a slow one holds nobody up.
template <class Body>
void parallel_tasks(int64_t n, const Body& body) {
  if (n <= 1 || thread_count() == 1) {
    for (int64_t i = 0; i < n; ++i) body(i);
    return;
  }
  tbb::parallel_for(int64_t{0}, n, body, tbb::simple_partitioner());
}

/// Calls body(begin, end) over [0, n) in blocks of `block`, the last one shorter. The blocks follow
/// from the extents alone, so that what is computed block by block has the same bits on any number
/// of threads.
template <class Body>
void parallel_blocks(int64_t n, int64_t block, const Body& body) {
  parallel_tasks((n + block - 1) / block,
                 [&](int64_t i) { body(i * block, std::min(n, (i + 1) * block)); });
}

/// The grain for items that cost `work` elementary steps each.
inline int64_t grain_of(int64_t work) {
  constexpr int64_t kWorthwhile = 1 << 14;
  return std::max<int64_t>(1, kWorthwhile / std::max<int64_t>(work, 1));
}

}  // namespace kbench::reference
