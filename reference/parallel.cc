#include "reference/parallel.h"

#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

namespace kbench::reference {

void parallel_tasks(int64_t n, LoopBody<int64_t> body) {
  if (n <= 1 || tbb::this_task_arena::max_concurrency() <= 1) {
    for (int64_t i = 0; i < n; ++i) body(i);
    return;
  }
  const auto in_callers_order = [&, order = current_summation](int64_t i) {
    const SummationScope scope(order);
    body(i);
  };
  tbb::parallel_for(int64_t{0}, n, in_callers_order, tbb::simple_partitioner());
}

void parallel_blocks(int64_t n, int64_t block, LoopBody<int64_t, int64_t> body) {
  parallel_tasks((n + block - 1) / block,
                 [&](int64_t i) { body(i * block, std::min(n, (i + 1) * block)); });
}

}  // namespace kbench::reference
