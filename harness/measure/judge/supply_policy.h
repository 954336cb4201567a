// What to make ready next for the candidates to come: decided from a description of what is there,
// without doing any of it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/runner/protocol.h"

namespace kbench::judge {

/// What the judge does meanwhile.
enum class Phase {
  preparing,  ///< a candidate is loaded, compiled and given its memory
  running,    ///< it runs, or memory of its own is made: other memory would be waited for
  sampling,   ///< samples are taken
  resting,    ///< no request has come for a moment
};

/// A runner that waits for a candidate.
struct WaitingRunner {
  enum class State { started, opening, open };  ///< its device
  State state = State::started;
  runner::RunnerKind kind = runner::RunnerKind::vulkan;  ///< once it is told to open
  std::string author = {};  ///< whose candidates it has served; empty: nobody's
};

/// A candidate that was or will be asked for.
struct ComingCandidate {
  /// Whose runner may be handed on to it; empty: it gets a fresh one.
  std::string author = {};
  runner::RunnerKind kind = runner::RunnerKind::vulkan;  ///< that it needs
  bool begun = false;  ///< it has a runner, which compiles it or has
};

struct SupplyState {
  Phase phase = Phase::preparing;
  bool memory_may_be_made = false;
  bool more = false;  ///< candidates will follow the present one
  ComingCandidate now = {};
  std::vector<ComingCandidate> coming = {};  ///< in order; empty: not known
  std::vector<WaitingRunner> waiting = {};
  std::map<std::string, size_t> working = {};  ///< runners at a candidate, by author
  size_t begun = 0;                            ///< candidates with a runner

  bool needs_baseline = false;  ///< trials will need one
  /// Tasks of candidates that were begun for which no baseline is made, or being made.
  size_t tasks_without_baseline = 0;
  bool task_lacks_memory = false;       ///< the next that has a baseline, and it may fit
  bool task_waits = false;              ///< one, for the process that is to have its memory
  bool candidate_lacks_memory = false;  ///< which its task has
  size_t baselines_open = 0, baselines_opening = 0;  ///< baseline processes without a task
  size_t baselines_made = 0;                         ///< of tasks without memory
  size_t tasks_ready = 0;                            ///< made ahead: baseline and memory
  bool runner_to_end = false;                        ///< stopped, of a candidate that was judged
  bool runner_ending = false;

  // Limits, from the device's memory: each open runner holds some.
  size_t most_fresh = 2, most_begun = 2;
  size_t most_tasks = 2;      ///< made ahead
  size_t most_baselines = 2;  ///< made ahead, beside those
};

struct Step {
  enum class What {
    nothing,       ///< until the judge goes on
    look_again,    ///< soon: something may have changed by itself
    end_runner,    ///< the one that is stopped
    start_runner,  ///< of that `kind`, or let a started one open its device as one
    start_baseline,
    begin_candidate,  ///< `candidate` in the runner `runner`
    make_baseline,    ///< compiled, and held to the reference; its memory comes later
    make_task,        ///< the memory of one that has a baseline
    attach_candidate,
    wait_for_device,  ///< that is being opened
  };
  What what = What::nothing;
  size_t candidate = 0;  ///< index into `coming`
  size_t runner = 0;     ///< index into `waiting`
  runner::RunnerKind kind = runner::RunnerKind::vulkan;
  bool operator==(const Step&) const = default;
};

/// Most runners of one author: one is measured while the others compile, for up to two seconds
/// each.
inline constexpr size_t kRunnersAnAuthor = 8;

Step next_step(const SupplyState& state);

/// The runner for a candidate, as an index: one of its author before a fresh one, one that is open
/// before one that is not. Never one of another author. Nothing: a new one has to be started.
std::optional<size_t> choose_runner(const std::vector<WaitingRunner>& waiting,
                                    const ComingCandidate& candidate, bool open_only);

}  // namespace kbench::judge
