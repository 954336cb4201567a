#include "harness/evaluate/episode/reading.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "kbench/candidate_limits.h"
#include "kbench/candidate_source.h"
#include "kbench/error.h"
#include "kbench/version.h"
#include "libkbench/base/hash.h"

namespace kbench {
namespace {

Extraction extracted(const Answer& answer, const Task& task, const EpisodeOptions& options) {
  ExtractOptions own = options.extract;
  own.asked = answer_form_of(options.prompt.language);
  return extract(answer, task.id, own);
}

std::string hash_of(const CandidateFiles& files) {
  Sha256 hash;
  for (const auto& [name, text] : files) hash.add(name).add(text);
  return hash.hex();
}

/// Why the policy refuses the candidate's built-in steps; empty where it does not. A ModelNew may
/// use PyTorch's operators, which is no matter where one was asked for.
std::string against_policy(const Candidate& candidate, const PromptContext& prompt, Location& at) {
  const Builtins policy = prompt.builtins;
  if (policy == Builtins::any) return "";
  if (candidate.torch) {
    at = candidate.torch->at;
    if (answer_form_of(prompt.language) == AnswerForm::model) return "";
    return "a ModelNew may use PyTorch's operators, which are not allowed here: write kernels, and "
           "the steps that launch them";
  }
  bool own_kernel = false;
  for (const auto* steps : {&candidate.setup, &candidate.dispatch}) {
    for (const auto& step : *steps) {
      if (step.kind == Step::Kind::kernel) {
        own_kernel |= steps == &candidate.dispatch;
      } else if (step.kind == Step::Kind::op && policy == Builtins::forbid) {
        at = step.at;
        return "built-in operators (`op: " + shown(step.op, 40) +
               "`) are not allowed here: every step has to be a kernel of your own";
      }
    }
  }
  if (own_kernel) return "";
  at = candidate.dispatch_at;
  return "dispatch has no kernel of its own: built-in operators are allowed beside at least one";
}

/// Throws where built-in operators stand beside kernels that have no part in the outputs.
void require_working_kernel(const Candidate& candidate, const Graph& graph) {
  DeviceNumbers some;  // the buffers of steps do not depend on them
  for (const std::string& name : device_number_names()) some[name] = 32;
  try {
    if (own_kernel_reaches_output(resolve(candidate, graph, some))) return;
  } catch (const Error&) {
    return;  // it may fit the real device's numbers
  }
  throw Error(ErrorCode::kParse, candidate.dispatch_at,
              "no kernel of your own has a part in the outputs: what it writes is overwritten or "
              "never read; built-in operators are allowed beside one that does part of the work");
}

bool has_operators(const Candidate& candidate) {
  const auto is_operator = [](const auto& step) { return step.kind == Step::Kind::op; };
  return std::any_of(candidate.setup.begin(), candidate.setup.end(), is_operator) ||
         std::any_of(candidate.dispatch.begin(), candidate.dispatch.end(), is_operator);
}

/// Buffers by their number.
using Buffers = std::set<int>;

/// The buffers that a kernel can reach: it may read them, and write those that are not read-only.
Buffers reached(const ResolvedStep& kernel) {
  Buffers all(kernel.bind.begin(), kernel.bind.end());
  for (const auto& [offset, buffer] : kernel.addresses) all.insert(buffer);
  for (const ResolvedArgument& argument : kernel.arguments) {
    if (argument.buffer >= 0) all.insert(argument.buffer);
  }
  return all;
}

class Flow {
 public:
  explicit Flow(const ResolvedCandidate& candidate) : candidate_(candidate) {}

  /// Goes from the last step to the first with the set of buffers whose values reach an output, and
  /// around again: dispatch is run many times, so the first step may read what the last wrote.
  bool kernel_reaches_output() const {
    Buffers needed_at_end;
    for (int i = 0; i < std::ssize(candidate_.buffers); ++i) {
      if (buffer(i).kind == BufferSlot::Kind::output) needed_at_end.insert(i);
    }
    for (;;) {
      Buffers needed = needed_at_end;
      for (auto step = candidate_.dispatch.rbegin(); step != candidate_.dispatch.rend(); ++step) {
        if (step->kind != Step::Kind::kernel) {
          pass(*step, needed);
        } else if (may_write_any(*step, needed)) {
          return true;
        }
      }
      const size_t before = needed_at_end.size();
      needed_at_end.merge(needed);
      if (needed_at_end.size() == before) return false;
    }
  }

 private:
  const BufferSlot& buffer(int number) const { return candidate_.buffers[size_t(number)]; }

  bool may_write_any(const ResolvedStep& kernel, const Buffers& needed) const {
    const Buffers all = reached(kernel);
    return std::any_of(all.begin(), all.end(), [&](int each) {
      const BufferSlot& slot = buffer(each);
      const bool writable = slot.kind == BufferSlot::Kind::output ||
                            (slot.kind == BufferSlot::Kind::temporary && !slot.setup);
      return writable && needed.contains(each);
    });
  }

  /// An operator: the buffers that it writes are not needed before it, those it reads are.
  void pass(const ResolvedStep& step, Buffers& needed) const {
    const size_t inputs = step.call.inputs.size();
    bool useful = false;
    for (size_t i = inputs; i < step.bind.size(); ++i) useful |= needed.contains(step.bind[i]);
    if (!useful) return;
    for (size_t i = inputs; i < step.bind.size(); ++i) needed.erase(step.bind[i]);
    for (size_t i = 0; i < inputs; ++i) needed.insert(step.bind[i]);
  }

  const ResolvedCandidate& candidate_;
};

}  // namespace

Result unjudged(const Task& task, const EpisodeOptions& options, const std::string& message) {
  Result result;
  result.task = task.id;
  result.task_name = task.name;
  result.preset = name_of(options.prompt.preset);
  result.dtype = options.prompt.dtype;
  result.version = version();
  result.verdict = Verdict::invalid_candidate;
  result.message = shown(message, limits::kMessageBytes);
  return result;
}

CandidateFiles read_files(const Answer& answer, const Task& task, const EpisodeOptions& options) {
  return extracted(answer, task, options).files;
}

Reading read_answer(const Answer& answer, const Task& task, const EpisodeOptions& options) {
  Reading reading;
  reading.extraction = extracted(answer, task, options);
  if (reading.extraction.outcome != Outcome::candidate) return reading;
  const CandidateFiles& files = reading.extraction.files;
  reading.hash = hash_of(files);
  const auto graph = build_graph(options.prompt.at(task.id));
  const auto refuse = [&](const Error& error) {
    Result result = unjudged(task, options, error.what());
    result.candidate_hash = reading.hash;
    result.diagnostics = diagnostics_of(error);
    reading.refused = std::move(result);
  };
  try {
    auto candidate = std::make_shared<Candidate>(candidate_from_files("candidate.yaml", files));
    reading.candidate = candidate;
    reading.hash = candidate->hash;  // as results and candidate sets have it
    reading.operator_steps = has_operators(*candidate);
    Location place;
    if (candidate->task != task.id) {
      throw Error(ErrorCode::kParse, candidate->task_at,
                  "the candidate is for " + to_string(candidate->task) + ", asked was " +
                      to_string(task.id));
    }
    if (const std::string why = against_policy(*candidate, options.prompt, place); !why.empty()) {
      throw Error(ErrorCode::kParse, place, why);
    }
    if (options.prompt.builtins == Builtins::some && reading.operator_steps) {
      require_working_kernel(*candidate, *graph);
    }
    if (!is_for(*candidate, graph->dtype())) {
      throw Error(ErrorCode::kParse, candidate->dtype_at,
                  "the candidate says that it is not for " + std::string(name_of(graph->dtype())) +
                      ", which was asked for");
    }
    if (!candidate->torch) resolve(*candidate, *graph);
  } catch (const Error& error) {
    // An expression over numbers of the device cannot be checked here.
    if (error.code() != ErrorCode::kUnsupported) refuse(error);
  }
  return reading;
}

bool own_kernel_reaches_output(const ResolvedCandidate& candidate) {
  return Flow(candidate).kernel_reaches_output();
}

}  // namespace kbench
