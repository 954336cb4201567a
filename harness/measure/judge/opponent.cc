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

constexpr std::string_view kCompile = "torch.compile";

/// The task's program through torch.compile; MODE stands for the mode.
constexpr char kCompiled[] = R"(

Eager = ModelNew


class ModelNew(torch.nn.Module):
  def __init__(self, *_):
    super().__init__()
    self.eager = Eager()
    self.compiled = torch.compile(self.eager, mode="MODE")

  def forward(self, *inputs):
    return self.compiled(*inputs)
)";

/// Where the mode replays CUDA graphs of its own. Inside a graph of kbench's the same kernels are
/// launched without those, and are compiled before any is captured.
constexpr char kWithGraphs[] = R"(

Compiled = ModelNew


class ModelNew(Compiled):
  writes_over_outputs = True  # driver.py

  def __init__(self, *_):
    super().__init__()
    self.plain = torch.compile(self.eager, mode="PLAIN")
    self.plain_ran = not torch.cuda.is_available()

  def forward(self, *inputs):
    if torch.cuda.is_available() and torch.cuda.is_current_stream_capturing():
      return self.plain(*inputs)
    if not self.plain_ran:
      self.plain(*inputs)
      self.plain_ran = True
    torch.compiler.cudagraph_mark_step_begin()
    return self.compiled(*inputs)
)";

/// Modes with CUDA graphs, and those that make the same kernels without.
constexpr std::pair<std::string_view, std::string_view> kGraphModes[] = {
    {"reduce-overhead", "default"}, {"max-autotune", "max-autotune-no-cudagraphs"}};

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  return text.replace(text.find(what), what.size(), by);
}

/// What follows PyTorch's program, to run it in this way.
std::string compiled_in(std::string_view way) {
  if (!way.starts_with(kCompile)) return "";
  const bool named = way.size() > kCompile.size();
  const std::string_view mode = named ? way.substr(kCompile.size() + 1) : "default";
  std::string text = replaced(kCompiled, "MODE", mode);
  for (const auto& [with_graphs, without] : kGraphModes) {
    if (mode == with_graphs) text += replaced(kWithGraphs, "PLAIN", without);
  }
  return text;
}

/// The task's program as a candidate: PyTorch's, or its steps, one built-in kernel an operator.
CandidateSource program_of(const TaskAt& key, const std::string& way, bool tf32) {
  if (way.empty()) {
    const std::string steps = eager_candidate_yaml(find_task(key.task), *build_graph(key));
    CandidateSource source(std::map<std::string, std::string>{{"eager.yaml", steps}});
    source.manifest = "eager.yaml";
    return source;
  }
  std::string text = pytorch_module(find_task(key.task), *build_graph(key)) + compiled_in(way);
  // The process may have run the other kind before.
  text += "\ntorch.backends.cudnn.allow_tf32 = " + std::string(tf32 ? "True" : "False") + "\n";
  CandidateSource source(std::map<std::string, std::string>{{"pytorch.py", text}});
  source.manifest = "pytorch.py";
  return source;
}

}  // namespace

void OpponentRunner::prepare(RunnerSupply& supply, const TaskAt& key, const std::string& way,
                             bool tf32) {
  if (build_ && key_ == key && way_ == way && tf32_ == tf32) return;
  if (awaited_) {  // The candidate was refused before this was needed.
    try {
      wait_built();
    } catch (const Error&) {
    } catch (const RunnerFailure&) {
    }
  }
  EvaluateRequest request;
  request.question.candidate = program_of(key, way, tf32);
  request.question.preset = key.preset;
  request.question.overrides = key.variables;
  request.question.dtype = key.dtype;
  request.question.limits.compile_seconds = kPrepareSeconds;
  if (build_) {
    build_->ask_other(request);
  } else {
    build_ = supply.take_beside(request);
  }
  key_ = key;
  way_ = way;
  tf32_ = tf32;
  slab_ = {};
  awaited_ = true;
  build_->begin();
}

ErrorCode code_of(const runner::Refused& refused) {
  return refused.verdict == Verdict::out_of_memory ? ErrorCode::kOutOfMemory : ErrorCode::kInternal;
}

/// What it cannot run is no fault of the candidate's.
void OpponentRunner::fail(const runner::Refused& refused) {
  const std::string words = words_of(refused);
  drop();
  throw RunnerFailure{RunnerFailure::Kind::ended, code_of(refused), words};
}

void OpponentRunner::drop() {
  build_.reset();
  slab_ = {};
  way_.reset();
  awaited_ = false;
}

std::string OpponentRunner::name() const {
  return "the opponent " + (python_ ? way_.value_or("torch") : name_of(Opponent{}));
}

std::string OpponentRunner::words_of(const runner::Refused& refused) const {
  return name() + " cannot run the task: " + refused.message;
}

void OpponentRunner::wait_built() {
  if (!std::exchange(awaited_, false)) return;
  runner::Refused refused;
  bool built = false;
  try {
    built = build_->built(built_, refused);
  } catch (const RunnerFailure& failure) {
    if (failure.code != ErrorCode::kUnsupported) throw;
    const std::string words = name() + ": " + failure.message;
    drop();
    throw Error(ErrorCode::kUnsupported, words);
  }
  if (built && way_->starts_with(kCompile) && built_.version.starts_with("PyTorch 1.")) {
    const std::string words = name() + ": " + shown(built_.version, 60) +
                              " has no torch.compile, which came with PyTorch 2";
    way_.reset();  // The process is well, and takes another way.
    throw Error(ErrorCode::kUnsupported, words);
  }
  if (built) return;
  if (refused.verdict == Verdict::unsupported) {  // The device lacks what it needs.
    const std::string words = words_of(refused);
    drop();
    throw Error(ErrorCode::kUnsupported, words);
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

const Opponents::Choice* Opponents::choice(const TaskAt& key, const Opponent& asked) const {
  const auto found = std::ranges::find_if(
      choices_, [&](const Choice& each) { return each.key == key && each.asked == asked; });
  return found == choices_.end() ? nullptr : &*found;
}

std::string Opponents::too_slow(const TaskAt& key, const std::string& way) const {
  const auto found = std::ranges::find_if(
      too_slow_, [&](const TooSlow& each) { return each.key == key && each.way == way; });
  return found == too_slow_.end() ? "" : found->message;
}

std::string OpponentRunner::text() const {
  if (!python()) return "kbench's own kernels in " + std::string(name_of(key_.dtype));
  return built_.version + ", " + way_.value();
}

}  // namespace kbench::judge
