// Prompts: a task's graph through templates that are data.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/evaluate.h"
#include "kbench/extract.h"
#include "kbench/graph.h"
#include "kbench/model.h"
#include "kbench/task.h"

namespace kbench {

/// May a model's candidate use built-in operators (`op:` steps)?
enum class Builtins { forbid, some, any };  ///< some: at least one kernel of its own in dispatch
Builtins builtins_from_name(std::string_view name);  ///< throws kInvalidArgument
std::string_view name_of(Builtins builtins);

/// What is asked for: kernels in a language, or a ModelNew in PyTorch (docs/modelnew.md).
enum class PromptLanguage { glsl, hlsl, cuda, triton, torch };
inline constexpr PromptLanguage kLastPromptLanguage = PromptLanguage::torch;
PromptLanguage prompt_language_from_name(std::string_view name);  ///< throws kInvalidArgument
std::string_view name_of(PromptLanguage language);                ///< "cuda"
std::string_view title_of(PromptLanguage language);               ///< "CUDA C++"
AnswerForm answer_form_of(PromptLanguage language);

/// What a prompt says besides the task.
struct PromptContext {
  Preset preset = Preset::smoke;
  Variables overrides = {};
  DType dtype = DType::f32;  ///< of kTaskDTypes: what the task's floats are stored in
  TaskAt at(TaskId task) const { return task_at(task, preset, overrides, dtype); }
  std::optional<DeviceSummary> device = {};  ///< the judging device; unset: the block is left out
  double roof_gbytes_per_s = 0, roof_tflops = 0;  ///< measured on it; 0: left out
  int shots = 1;                                  ///< worked examples, never of the asked task
  bool precision = true;                          ///< the block on tolerance
  bool code = false;       ///< also the graph as PyTorch code, which is always there for a ModelNew
  bool reference = false;  ///< also the shipped shader of the task's operators
  Builtins builtins = Builtins::forbid;
  PromptLanguage language = PromptLanguage::glsl;
};

/// An attempt as a repair prompt shows it: code and feedback are always of one attempt.
struct ShownAttempt {
  std::map<std::string, std::string> files;  ///< empty: the answer held none
  std::string answer;                        ///< what is shown where there are no files
  std::string feedback;
  std::string outcome = {};  ///< name_of its Verdict or Outcome: which hint is given; empty: none
};

/// What a folder of prompts says of how it is used, in its prompt.yaml; the members are those of
/// PromptContext, which first() goes by alone.
struct PromptSettings {
  int shots = 1;
  Builtins builtins = Builtins::forbid;
  bool code = false, reference = false, precision = true;
  bool device = true;    ///< the block on the device
  bool evidence = true;  ///< failures are investigated for the feedback
};

class Prompts {
 public:
  /// The prompts that come with kbench, which are part of the library. Throws kNotFound.
  static Prompts shipped(const std::string& name = "default");
  /// Loads prompts from a folder, which docs/prompts.md describes. Throws kIo, kNotFound, and
  /// kParse with file and line: an unknown tag, value or key, a section that is not closed, a part
  /// that is not there.
  static Prompts load(const std::string& folder);

  std::string name() const;
  std::string hash() const;  ///< SHA-256 over the template files
  const PromptSettings& settings() const;
  /// Characters that a first prompt with one example may have, code and reference aside. A longer
  /// one is given all the same: `kbench model prompt --check` tells.
  size_t budget() const;
  /// The tasks whose candidates first() shows as examples: never the asked one, and none that is
  /// not written for the type that is asked for.
  std::vector<TaskId> examples(const Task& task, const PromptContext& context) const;

  /// A line for each example, of any language, that does not fit its task at these sizes in a type
  /// that it is written for.
  std::vector<std::string> check_examples(Preset preset) const;

  /// Throws what build_graph() throws, and kInvalidArgument for templates that do not know the
  /// language that is asked for.
  std::vector<Message> first(const Task& task, const PromptContext& context) const;
  /// The conversation that asks for a better candidate: the first prompt, then the attempts shown,
  /// oldest first (one for the contexts "last" and "best", several for "history"), each as the
  /// model's own words and a message with the feedback and the form of the answer again.
  std::vector<Message> repair(const Task& task, const PromptContext& context,
                              const std::vector<ShownAttempt>& shown) const;

 private:
  Prompts() = default;
  struct State;
  std::shared_ptr<const State> state_;
};

/// A candidate's files as an answer has them: a fenced block each, "candidate.yaml" as yaml and
/// first; of a ModelNew as extract() gives it that one file. extract() reads it back.
std::string canonical_answer(const std::map<std::string, std::string>& files);

/// The output of `kbench show --json`, which docs/prompts.md describes.
std::string facts_json(const Task& task, const Graph& graph);

}  // namespace kbench
