// Prompts: a task's graph through templates that are data.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/evaluate.h"
#include "kbench/graph.h"
#include "kbench/model.h"
#include "kbench/task.h"

namespace kbench {

/// May a model's candidate use built-in operators (`op:` steps)?
enum class Builtins { forbid, some, any };  ///< some: at least one kernel of its own in dispatch
Builtins builtins_from_name(std::string_view name);  ///< throws kInvalidArgument
std::string_view name_of(Builtins builtins);

/// What a prompt says besides the task.
struct PromptContext {
  Preset preset = Preset::smoke;
  Variables overrides = {};
  std::optional<DeviceSummary> device = {};  ///< the judging device; unset: the block is left out
  double roof_gbytes_per_s = 0, roof_tflops = 0;  ///< measured on it; 0: left out
  int shots = 1;                                  ///< worked examples, never of the asked task
  bool precision = true;                          ///< the block on tolerance
  bool code = false;                              ///< also the graph as PyTorch-like code
  bool reference = false;  ///< also the shipped shader of the task's operators
  Builtins builtins = Builtins::forbid;
};

/// An attempt as a repair prompt shows it: code and feedback are always of one attempt.
struct ShownAttempt {
  std::map<std::string, std::string> files;  ///< empty: the answer held none
  std::string answer;                        ///< what is shown where there are no files
  std::string feedback;
};

class Prompts {
 public:
  /// The prompts that come with kbench.
  static Prompts shipped();
  /// Those of a folder. Throws kIo, kParse with file and line: an unknown tag, an unfilled part.
  static Prompts load(const std::string& folder);

  std::string name() const;
  std::string hash() const;  ///< SHA-256 over the template files

  std::vector<Message> first(const Task& task, const PromptContext& context) const;
  /// The conversation that asks for a better candidate: the first prompt, then the attempts shown,
  /// oldest first (one for the contexts "last" and "best", several for "history").
  std::vector<Message> repair(const Task& task, const PromptContext& context,
                              const std::vector<ShownAttempt>& shown) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace kbench
