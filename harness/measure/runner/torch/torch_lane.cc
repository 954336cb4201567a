#include "harness/measure/runner/torch/torch_lane.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "kbench/error.h"
#include "kbench/text.h"
#include "kbench/variables.h"

namespace kbench::runner {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr size_t kMostAnswer = size_t{64} << 10;
constexpr size_t kMostMessage = 600;
constexpr double kAttachSeconds = 60;
constexpr int kHandOvers = 30;
constexpr double kMostHandOverNs = 200e3;

/// A variable as Python has it.
Json python_value(const VariableValue& value) {
  return std::visit([](const auto& each) { return Json(each); }, value);
}

/// A value's name, type and size, as the driver takes them.
Json tensor_of(const Graph& graph, int value) {
  const Graph::ValueInfo& info = graph.value(value);
  return {{"name", info.name},
          {"dtype", name_of(info.type.dtype)},
          {"shape", info.type.shape},
          {"bytes", info.type.bytes()}};
}

/// The candidate's fault, by what its process says it is: any of these it may also claim.
Refused refused_as(const std::string& kind, const std::string& said) {
  const std::string text = shown(said, kMostMessage);
  if (kind == "module") return {Verdict::compile_error, "its module cannot be loaded: " + text, {}};
  if (kind == "init") return {Verdict::invalid_candidate, "ModelNew cannot be made: " + text, {}};
  if (kind == "parameters") return {Verdict::invalid_candidate, text, {}};
  if (kind == "outputs") return {Verdict::invalid_candidate, text, {}};
  if (said.find("out of memory") != std::string::npos) {
    return {Verdict::out_of_memory, "its forward fails: " + text, {}};
  }
  return {Verdict::crashed, "its forward fails: " + text, {}};
}

}  // namespace

Json torch_task(const TorchModule& module, const TaskAt& at) {
  Json task = {{"do", "attach"}, {"source", module.source}, {"init_inputs", init_inputs(at.task)}};
  Json& variables = task["variables"] = Json::object();
  for (const auto& [name, value] : variables_of(at)) variables[name] = python_value(value);
  return task;
}

std::vector<Wanted> tensors_of_calls(const Graph& graph) {
  std::vector<std::pair<std::string, TensorType>> tensors;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    tensors.emplace_back(graph.output_name(i), graph.value(graph.outputs()[i]).type);
  }
  for (const int id : graph.values_of(Graph::Kind::input)) {
    tensors.emplace_back(graph.value(id).name, graph.value(id).type);
  }
  uint64_t bytes = 1;
  for (const auto& each : tensors) bytes += static_cast<uint64_t>(each.second.bytes());
  const int more = static_cast<int>(std::min<uint64_t>(kMostCallBytes / bytes, kMostCalls - 1));
  std::vector<Wanted> wanted;
  for (int call = 2; call <= more + 1; ++call) {
    for (const auto& [name, type] : tensors) {
      wanted.push_back({name + " of call " + std::to_string(call), type.dtype,
                        static_cast<uint64_t>(type.bytes())});
    }
  }
  return wanted;
}

TorchLane::TorchLane(PythonHelper& python, Json task, const Graph& graph)
    : python_(python), task_(std::move(task)), graph_(graph) {}

Json TorchLane::receive(double seconds) {
  const auto wait =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
  process::Channel& channel = python_.torch();
  const auto frame = channel.receive(wait, kMostAnswer);
  if (!frame && !channel.ended()) throw Error(ErrorCode::kTimeout, "PyTorch's process is not done");
  if (!frame) {
    const std::string why = shown(python_.torch_last_words(), kMostMessage);
    throw Refused{
        Verdict::crashed, "its Python process ended" + (why.empty() ? "" : ": " + why), {}};
  }
  Json answer = Json::parse(frame->payload, nullptr, /*allow_exceptions=*/false);
  const auto text = [&](const char* key) {
    const bool there = answer.is_object() && answer.contains(key) && answer.at(key).is_string();
    return there ? answer.at(key).get<std::string>() : "";
  };
  if (const std::string kind = text("refused"); !kind.empty()) {
    throw refused_as(kind, text("message"));
  }
  if (const std::string said = text("failed"); !said.empty()) {
    throw Refused{Verdict::crashed, "its Python process fails: " + shown(said, kMostMessage), {}};
  }
  return answer;
}

Json TorchLane::ask(Json request, double seconds, std::span<const int> descriptors) {
  // The answer to this request, not one that was made ready before it.
  const uint64_t id = secret_.next();
  request["id"] = id;
  try {
    python_.torch().send(0, request.dump(-1, ' ', false, Json::error_handler_t::replace),
                         descriptors);
  } catch (const Error&) {  // It has ended, which receive() explains.
  }
  Json answer = receive(seconds);
  if (!answer.is_object() || answer.value("id", Json()) != Json(id)) {
    throw Refused{Verdict::crashed, "its Python process answers what it was not asked", {}};
  }
  return answer;
}

/// From the process's standstill to its standstill.
double TorchLane::timed(const Json& request, double seconds) {
  const auto start = Clock::now();
  python_.release_torch();
  const Json answer = ask(request, seconds);
  python_.hold_torch();
  const double ns = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
  captured_ = answer.value("captured", Json()) == Json(true);
  return ns;
}

void TorchLane::wait_started(double seconds) {
  try {
    receive(seconds);
  } catch (const Refused& refused) {
    throw Error(ErrorCode::kUnsupported, "PyTorch cannot be used: " + refused.message);
  }
}

void TorchLane::attach(const ImportedMemory& memory) {
  std::vector<int> descriptors;
  Json slabs = Json::array();
  for (const ImportedMemory::Slab& slab : memory.slabs()) {
    descriptors.push_back(slab.descriptor.get());
    slabs.push_back(
        {{"bytes", slab.buffer.size()}, {"by_cuda", slab.by_cuda}, {"read_only", slab.read_only}});
  }
  const auto placed = [&](Json tensor, const vulkan::Region& region) {
    tensor["place"] = {{"slab", memory.slab_of(region).value()}, {"offset", region.offset}};
    return tensor;
  };
  const auto given = [&](int id) { return memory.given().at(static_cast<size_t>(id)); };
  task_["parameters"] = Json::array();
  for (const int id : graph_.values_of(Graph::Kind::parameter)) {
    task_["parameters"].push_back(placed(tensor_of(graph_, id), given(id)));
  }
  const auto inputs = graph_.values_of(Graph::Kind::input);
  const CallTensors tensors(graph_);
  task_["calls"] = Json::array();
  for (int call = 0; call < tensors.calls(memory.wanted().size()); ++call) {
    Json places = {{"inputs", Json::array()}, {"outputs", Json::array()}};
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      places["outputs"].push_back(
          placed(tensor_of(graph_, graph_.outputs()[i]),
                 call == 0 ? memory.outputs().at(i) : memory.wanted().at(tensors.output(call, i))));
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      places["inputs"].push_back(
          placed(tensor_of(graph_, inputs[i]),
                 call == 0 ? given(inputs[i]) : memory.wanted().at(tensors.input(call, i))));
    }
    task_["calls"].push_back(std::move(places));
  }
  task_["slabs"] = std::move(slabs);
  ask(task_, kAttachSeconds, descriptors);
  hand_over_ns_ = std::numeric_limits<double>::infinity();
  python_.hold_torch();
  for (int i = 0; i < kHandOvers; ++i) {
    hand_over_ns_ = std::min(hand_over_ns_, timed({{"do", "nothing"}}, kAttachSeconds));
  }
}

void TorchLane::prepare(int calls, double seconds) {
  calls_ = calls;
  if (!std::exchange(loaded_, true)) timed({{"do", "load"}}, seconds);
}

double TorchLane::run(bool setup, double seconds) {
  if (setup) throw Error(ErrorCode::kInternal, "a module has no setup");
  const double ns = timed({{"do", "run"}, {"calls", calls_}}, seconds);
  // On a busy machine the hand-overs may all have been slow.
  return std::max(ns - std::min(hand_over_ns_, kMostHandOverNs), ns / 2);
}

double TorchLane::run_empty(double) {
  throw Error(ErrorCode::kInternal, "the torch lane measures its own hand-over");
}

std::vector<double> TorchLane::profile(double) {
  throw Error(ErrorCode::kUnsupported, "a module has no steps to profile");
}

}  // namespace kbench::runner
