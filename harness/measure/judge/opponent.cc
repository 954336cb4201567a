#include "harness/measure/judge/opponent.h"

#include <algorithm>
#include <utility>

#include "harness/measure/runner/torch/call_tensors.h"
#include "harness/measure/trial/slab_layout.h"
#include "kbench/error.h"
#include "kbench/listing.h"

namespace kbench::judge {
namespace {

/// For importing torch, and for what torch.compile makes.
constexpr double kPrepareSeconds = 60;

constexpr char kCompiled[] = R"(

Eager = ModelNew


class ModelNew(torch.nn.Module):
  def __init__(self, *_):
    super().__init__()
    self.eager = Eager()
    self.compiled = torch.compile(self.eager)

  def forward(self, *inputs):
    return self.compiled(*inputs)
)";

/// The task's program as a candidate: its steps, one built-in kernel an operator, or PyTorch's.
CandidateSource program_of(const TaskAt& key, Opponent mode) {
  if (mode == Opponent::eager) {
    const std::string steps = eager_candidate_yaml(find_task(key.task), *build_graph(key));
    CandidateSource source(std::map<std::string, std::string>{{"eager.yaml", steps}});
    source.manifest = "eager.yaml";
    return source;
  }
  const std::string text = pytorch_module(find_task(key.task), *build_graph(key)) +
                           (mode == Opponent::torch_compile ? kCompiled : "");
  CandidateSource source(std::map<std::string, std::string>{{"pytorch.py", text}});
  source.manifest = "pytorch.py";
  return source;
}

}  // namespace

void OpponentRunner::prepare(RunnerSupply& supply, const TaskAt& key, Opponent mode) {
  if (build_ && key_ == key && mode_ == mode) return;
  if (awaited_) {  // The candidate was refused before this was needed.
    try {
      wait_built();
    } catch (const Error&) {
    } catch (const RunnerFailure&) {
    }
  }
  client::EvaluateRequest request;
  request.candidate = program_of(key, mode);
  request.options.preset = key.preset;
  request.options.overrides = key.variables;
  request.options.dtype = key.dtype;
  request.options.limits.compile_seconds = kPrepareSeconds;
  if (build_) {
    build_->ask_other(request);
  } else {
    build_ = supply.take_beside(request);
    hand_over_ns = 0;
  }
  key_ = key;
  mode_ = mode;
  slab_ = {};
  awaited_ = true;
  build_->begin();
}

ErrorCode code_of(const runner::Refused& refused) {
  return refused.verdict == Verdict::out_of_memory ? ErrorCode::kOutOfMemory : ErrorCode::kInternal;
}

/// What it cannot run is no fault of the candidate's.
void OpponentRunner::fail(const runner::Refused& refused) {
  build_.reset();
  throw RunnerFailure{RunnerFailure::Kind::ended, code_of(refused), words_of(refused)};
}

std::string OpponentRunner::words_of(const runner::Refused& refused) const {
  return "the opponent " + std::string(name_of(mode_)) + " cannot run the task: " + refused.message;
}

void OpponentRunner::wait_built() {
  if (!std::exchange(awaited_, false)) return;
  runner::Refused refused;
  bool built = false;
  try {
    built = build_->built(built_, refused);
  } catch (const RunnerFailure& failure) {
    if (failure.code != ErrorCode::kUnsupported) throw;
    build_.reset();
    throw Error(ErrorCode::kUnsupported,
                "the opponent " + std::string(name_of(mode_)) + ": " + failure.message);
  }
  if (built && mode_ == Opponent::torch_compile && built_.version.starts_with("PyTorch 1.")) {
    build_.reset();
    throw Error(ErrorCode::kUnsupported, "the opponent " + std::string(name_of(mode_)) + ": " +
                                             shown(built_.version, 60) +
                                             " has no torch.compile, which came with PyTorch 2");
  }
  if (built) return;
  if (refused.verdict == Verdict::unsupported) {  // The device lacks what it needs.
    build_.reset();
    throw Error(ErrorCode::kUnsupported, words_of(refused));
  }
  fail(refused);
}

void OpponentRunner::attach(SlabStore& store, const TaskMemory& task,
                            const runner::Built* candidate, const Slab& candidates_memory) {
  wait_built();
  const Graph& graph = task.graph();
  outputs_ = graph.outputs().size();
  const runner::CallTensors tensors(graph);
  const int places = python() ? tensors.calls(built_.wanted.size()) : 1;
  const int calls = candidate ? std::min(places, tensors.calls(candidate->wanted.size())) : 1;
  trial::SlabLayout layout;
  for (int call = 0; call < calls; ++call) {
    for (size_t i = 0; i < outputs_; ++i) {
      layout.add(graph.output_name(i),
                 static_cast<uint64_t>(graph.stored_type(graph.outputs()[i]).bytes()));
    }
  }
  // PyTorch's wants are the memory of further calls; kbench's own kernels want scratch.
  const size_t own_wanted = python() ? 0 : built_.wanted.size();
  for (size_t i = 0; i < own_wanted; ++i) {
    layout.add(built_.wanted[i].name, built_.wanted[i].bytes);
  }
  slab_ = {};
  slab_ = Slab(store, std::move(layout), SlabUse::opponent);
  Attachment attachment(runner().imported(), store);
  task.place(attachment, /*given_read_only=*/true, slab_);
  const int own = attachment.add(slab_, false);
  const int theirs = attachment.add(candidates_memory, false);
  const auto inputs = graph.values_of(Graph::Kind::input);
  const runner::Attach first = attachment.message;
  for (int call = 1; call < places; ++call) {
    // Beyond the calls that there will be the first one's places stand in.
    const bool there = call < calls;
    for (size_t i = 0; i < outputs_; ++i) {
      attachment.message.wanted.push_back(
          there ? slab_.place(static_cast<size_t>(call) * outputs_ + i, own) : first.outputs[i]);
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      attachment.message.wanted.push_back(
          there ? candidates_memory.place(tensors.input(call, i), theirs)
                : first.given[static_cast<size_t>(inputs[i])]);
    }
  }
  for (size_t i = 0; i < own_wanted; ++i) {
    attachment.message.wanted.push_back(slab_.place(outputs_ + i, own));
  }
  runner().attach(attachment);
  runner::Refused refused;
  if (!runner().receive<runner::Attached>(kAttachSeconds, refused)) {
    fail(refused);
  }
}

void OpponentRunner::release_memory() {
  if (build_ && !awaited_) build_->release_memory();
  slab_ = {};
}

vulkan::Region OpponentRunner::output(int call, size_t i) const {
  return slab_.tensor(static_cast<size_t>(call) * outputs_ + i);
}

std::optional<Opponent> Opponents::faster(const TaskAt& key) const {
  const auto found = std::ranges::find(faster_, key, &std::pair<TaskAt, Opponent>::first);
  return found == faster_.end() ? std::nullopt : std::optional(found->second);
}

std::string OpponentRunner::text() const {
  if (!python()) return "kbench's own kernels in " + std::string(name_of(key_.dtype));
  return built_.version + ", " + std::string(name_of(mode_));
}

}  // namespace kbench::judge
