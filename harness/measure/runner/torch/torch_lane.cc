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

/// A variable as Python has it.
Json python_value(const VariableValue& value) {
  return std::visit([](const auto& each) { return Json(each); }, value);
}

Json tensor_of(const std::string& name, const TensorType& type) {
  return {{"name", name},
          {"dtype", name_of(type.dtype)},
          {"shape", type.shape},
          {"bytes", type.bytes()}};
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

Json torch_task(const TorchModule& module, const TaskAt& at, const Graph& graph) {
  Json task = {{"do", "attach"},
               {"source", module.source},
               {"file", module.file},
               {"init_inputs", init_inputs(at.task)}};
  Json& variables = task["variables"] = Json::object();
  for (const auto& [name, value] : variables_of(at)) variables[name] = python_value(value);
  const auto tensors = [&](Graph::Kind kind) {
    Json all = Json::array();
    for (const int id : graph.values_of(kind)) {
      all.push_back(tensor_of(graph.value(id).name, graph.value(id).type));
    }
    return all;
  };
  task["parameters"] = tensors(Graph::Kind::parameter);
  task["inputs"] = tensors(Graph::Kind::input);
  return task;
}

std::vector<Wanted> outputs_of_calls(const Graph& graph) {
  uint64_t bytes = 0;
  for (const int id : graph.outputs()) {
    bytes += static_cast<uint64_t>(graph.value(id).type.bytes());
  }
  const uint64_t fit = kMostCallBytes / std::max<uint64_t>(bytes, 1);
  const int more = static_cast<int>(std::min<uint64_t>(fit, kMostCalls - 1));
  std::vector<Wanted> wanted;
  for (int call = 2; call <= more + 1; ++call) {
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      const TensorType& type = graph.value(graph.outputs()[i]).type;
      wanted.push_back({graph.output_name(i) + " of call " + std::to_string(call), type.dtype,
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

Json TorchLane::ask(const Json& request, double seconds, std::span<const int> descriptors) {
  try {
    python_.torch().send(0, request.dump(-1, ' ', false, Json::error_handler_t::replace),
                         descriptors);
  } catch (const Error&) {  // It has ended, which receive() explains.
  }
  return receive(seconds);
}

double TorchLane::timed(const Json& request, double seconds) {
  const auto start = Clock::now();
  ask(request, seconds);
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
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
  const auto place = [&](Json& tensor, const vulkan::Region& region) {
    size_t slab = 0;
    while (&memory.slabs()[slab].buffer != region.buffer) ++slab;
    tensor["place"] = {{"slab", slab}, {"offset", region.offset}};
  };
  for (const auto& [name, kind] :
       {std::pair("parameters", Graph::Kind::parameter), std::pair("inputs", Graph::Kind::input)}) {
    const auto ids = graph_.values_of(kind);
    for (size_t i = 0; i < ids.size(); ++i) {
      place(task_[name][i], memory.given().at(static_cast<size_t>(ids[i])));
    }
  }
  const size_t count = graph_.outputs().size();
  task_["outputs"] = Json::array();
  for (size_t call = 0; call <= memory.wanted().size() / count; ++call) {
    Json outputs = Json::array();
    for (size_t i = 0; i < count; ++i) {
      outputs.push_back(tensor_of(graph_.output_name(i), graph_.value(graph_.outputs()[i]).type));
      place(outputs.back(),
            call == 0 ? memory.outputs().at(i) : memory.wanted().at((call - 1) * count + i));
    }
    task_["outputs"].push_back(std::move(outputs));
  }
  task_["slabs"] = std::move(slabs);
  ask(task_, kAttachSeconds, descriptors);
  hand_over_ns_ = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kHandOvers; ++i) {
    hand_over_ns_ = std::min(hand_over_ns_, timed({{"do", "nothing"}}, kAttachSeconds));
  }
  python_.hold_torch();
}

void TorchLane::take(int call, double seconds) {
  python_.release_torch();
  ask({{"do", "prepare"}, {"call", call}}, seconds);
  python_.hold_torch();
}

void TorchLane::prepare(int calls, double seconds) {
  calls_ = calls;
  if (calls == 1) take(0, seconds);
  python_.release_torch();
  const Json answer = ask({{"do", "ready"}, {"calls", calls}}, seconds);
  captured_ = answer.is_object() && answer.value("captured", Json()) == Json(true);
}

double TorchLane::run(bool setup, double seconds) {
  if (setup) throw Error(ErrorCode::kInternal, "a module has no setup");
  const double ns = timed({{"do", "run"}, {"calls", calls_}}, seconds);
  python_.hold_torch();
  return std::max(ns - hand_over_ns_, 1.0);
}

double TorchLane::run_empty(double) {
  throw Error(ErrorCode::kInternal, "the torch lane measures its own hand-over");
}

std::vector<double> TorchLane::profile(double) {
  throw Error(ErrorCode::kUnsupported, "a module has no steps to profile");
}

}  // namespace kbench::runner
