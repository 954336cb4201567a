// The worker's side: what `kbench worker` does.
#pragma once

namespace kbench::worker {

/// Reads one job from standard input, evaluates it in this process, answers on descriptor 3 and
/// ends the process. Returns (2, with a line on standard error) only when there is no parent to
/// answer to.
int run_worker();

}  // namespace kbench::worker
