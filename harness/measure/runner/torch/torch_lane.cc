#include "harness/measure/runner/torch/torch_lane.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/measure/cuda/driver_list.h"
#include "harness/measure/runner/torch/torch_host.h"
#include "kbench/error.h"
#include "kbench/variables.h"

namespace kbench::runner {

namespace {

using Json = nlohmann::json;

constexpr double kAttachSeconds = 60;
constexpr double kIdleSeconds = 5;   ///< the most that a module may leave work on the device
constexpr double kCopySeconds = 60;  ///< a candidate's kernels may still run meanwhile

/// A variable as Python has it.
Json python_value(const VariableValue& value) {
  return std::visit([](const auto& each) { return Json(each); }, value);
}

/// A value's name, type and size, as the driver takes them.
Json tensor_of(const Graph& graph, int value) {
  const TensorType type = graph.stored_type(value);
  return {{"name", graph.value(value).name},
          {"dtype", name_of(type.dtype)},
          {"shape", type.shape},
          {"bytes", type.bytes()}};
}

using namespace std::literals;

/// Parts of names.
constexpr std::array kAnywhere = {
    // PyTorch
    "at::native"sv, "at_cuda_detail"sv, "at::cuda"sv, "pytorch_flash"sv, "fmha_"sv,
    // cuBLAS, cuBLASLt and what they are made of
    "cublas"sv, "cutlass"sv, "_xmma_"sv, "nvjet_"sv, "gemv2"sv, "gemvNSP"sv, "splitKreduce"sv,
    // cuDNN, cuFFT, CUB and Thrust
    "cudnn"sv, "fft_"sv, "cub::"sv, "thrust::"sv, "implicit_convolve"sv, "winograd"sv};
constexpr std::array kInFront = {"aten::"sv, "Memcpy"sv, "Memset"sv, "ampere_"sv, "volta_"sv,
                                 "turing_"sv, "hopper_"sv, "sm80_"sv, "sm90_"sv, "sm100_"sv,
                                 // torch.compile
                                 "triton_poi_"sv, "triton_red_"sv, "triton_per_"sv,
                                 "triton_tem_"sv};

using Clock = std::chrono::steady_clock;

constexpr size_t kMostLog = 8000, kMostError = 400, kMostErrors = 16;

bool has_extensions(const TorchModule& module) {
  return module.source.find("cpp_extension") != std::string::npos ||
         module.source.find("load_inline") != std::string::npos;
}

/// What the tensors of all calls may take. They are held twice, here and by PyTorch.
uint64_t call_bytes(const TorchHost& host) {
  constexpr uint64_t kShare = 40;
  return std::min(kMostCallBytes, host.device_bytes() / kShare);
}

/// A text of an answer that is not believed; empty where there is none.
std::string text_in(const Json& object, const char* key) {
  const bool there = object.is_object() && object.contains(key) && object.at(key).is_string();
  return there ? object.at(key).get<std::string>() : "";
}

/// What precompile.py has read of a compiler's log: of the module's file, or of one made from it.
std::vector<Diagnostic> errors_in(const Json& said, const std::string& file) {
  std::vector<Diagnostic> errors;
  if (!said.is_array()) return errors;
  const auto number = [](const Json& error, const char* key) {
    const Json value = error.value(key, Json());
    return value.is_number_integer()
               ? std::clamp(value.get<int64_t>(), int64_t{0}, int64_t{1} << 30)
               : 0;
  };
  for (const Json& error : said) {
    if (!error.is_object() || errors.size() >= kMostErrors) break;
    const std::string made = text_in(error, "file");
    errors.push_back(
        {"error", shown(made.empty() ? file : made), static_cast<int>(number(error, "line")),
         static_cast<int>(number(error, "column")), shown(text_in(error, "message"), kMostError)});
  }
  return errors;
}

constexpr const char* kByOurHeaders = "with kbench's headers";  // quick_build.py's
constexpr const char* kDoesNotCompile = "an extension of its module does not compile";

/// The members of an object in an answer that is not believed; few.
std::vector<std::pair<std::string, Json>> members_of(const Json& answer, const char* key) {
  std::vector<std::pair<std::string, Json>> members;
  const Json object = answer.value(key, Json());
  if (!object.is_object()) return members;
  for (const auto& [name, value] : object.items()) {
    if (members.size() < kMostErrors) members.emplace_back(shown(name, kMostError), value);
  }
  return members;
}

/// How its extensions were built, and which were not.
std::vector<Diagnostic> notes_on(const Json& answer, const TorchModule& module) {
  std::vector<Diagnostic> notes;
  for (const auto& [name, way] : members_of(answer, "ways")) {
    const std::string text = way.is_string() ? shown(way.get<std::string>(), kMostError) : "";
    if (text == kByOurHeaders) continue;
    notes.push_back({"note", "", 0, 0, "extension " + name + " was built " + text});
  }
  for (const auto& [name, errors] : members_of(answer, "failed")) {
    notes.push_back({"note", "", 0, 0,
                     "extension " + name + " does not compile, and its module goes on without it"});
    for (Diagnostic& each : errors_in(errors, module.file)) {
      each.severity = "warning";
      notes.push_back(std::move(each));
    }
  }
  return notes;
}

/// Compiles extensions of the module, as `input` says which, where its process finds them. Returns
/// what is to be said of them. Where a compiler was killed, as that process says, it is tried once
/// more: the module's own code runs in that process and may say so falsely.
std::vector<Diagnostic> compile_extensions(const TorchModule& module, const Json& input,
                                           const std::string& architecture, const Build& request,
                                           bool meanwhile,
                                           const std::function<double()>& seconds_left,
                                           PythonHelper& python) {
  Json answer;
  bool killed = true;
  for (int attempt = 1; attempt <= 2 && killed; ++attempt) {
    const std::string said =
        python.run({.package = "torch",
                    .script = with_loader(precompile_script(), request.full_headers),
                    .input = input.dump(-1, ' ', false, Json::error_handler_t::replace),
                    .seconds = seconds_left(),
                    .for_torch = true,
                    .meanwhile = meanwhile,
                    .made_from = module.source,
                    .architecture = architecture,
                    .whose = "its extensions'"});
    answer = Json::parse(said, nullptr, /*allow_exceptions=*/false);
    if (!answer.is_object()) answer = Json::object();
    if (text_in(answer, "error").empty()) return notes_on(answer, module);
    killed = answer.value("killed", Json()) == Json(true);
  }
  Refused refused{Verdict::compile_error, kDoesNotCompile, {}};
  refused.diagnostics = errors_in(answer.value("errors", Json()), module.file);
  if (refused.diagnostics.empty()) {
    const std::string error = text_in(answer, "error");
    refused.diagnostics.push_back({"error", shown(module.file), 0, 0, shown(error, kMostLog)});
  }
  throw refused;
}

}  // namespace

Json torch_task(const TorchModule& module, const TaskAt& at) {
  Json task = {{"do", "attach"},
               {"source", module.source},
               {"init_inputs", init_inputs(at.task)},
               {"dtype", name_of(at.dtype)}};
  Json& variables = task["variables"] = Json::object();
  for (const auto& [name, value] : variables_of(at)) variables[name] = python_value(value);
  Json& scalars = task["scalars"] = Json::array();
  for (const auto& [_, value] : forward_scalars(at.task)) scalars.push_back(python_value(value));
  return task;
}

std::vector<Wanted> tensors_of_calls(const Graph& graph, int most, uint64_t most_bytes) {
  std::vector<std::pair<std::string, TensorType>> tensors;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    tensors.emplace_back(graph.output_name(i), graph.stored_type(graph.outputs()[i]));
  }
  for (const int id : graph.values_of(Graph::Kind::input)) {
    tensors.emplace_back(graph.value(id).name, graph.stored_type(id));
  }
  uint64_t bytes = 1;
  for (const auto& each : tensors) bytes += static_cast<uint64_t>(each.second.bytes());
  const auto calls = static_cast<uint64_t>(most - 1);
  const int more = static_cast<int>(std::min<uint64_t>(most_bytes / bytes, calls));
  std::vector<Wanted> wanted;
  for (int call = 2; call <= more + 1; ++call) {
    for (const auto& [name, type] : tensors) {
      wanted.push_back({name + " of call " + std::to_string(call), type.dtype,
                        static_cast<uint64_t>(type.bytes())});
    }
  }
  return wanted;
}

TorchLane::TorchLane(TorchHost& host, Json task, const Graph& graph)
    : host_(host),
      channel_(host.python(), /*spin=*/host.driver() != nullptr),
      task_(std::move(task)),
      graph_(graph) {}

/// Until its first run is done, as no time is taken of what is built then.
void TorchLane::set_builder(BuildExtension build) {
  channel_.set_builder([this, build = std::move(build)](const Json& arguments) -> std::string {
    const auto start = Clock::now();
    try {
      for (Diagnostic& each : build(arguments)) notes_.push_back(std::move(each));
      build_s_ += std::chrono::duration<double>(Clock::now() - start).count();
      return "";
    } catch (const Refused& refused) {
      not_built_ = refused;
    } catch (const Error& error) {  // It took too long, or too much.
      not_built_ = Refused{Verdict::compile_error, error.message(), {}};
    }
    return not_built_->diagnostics.empty() ? not_built_->message
                                           : not_built_->diagnostics.front().message;
  });
}

/// ask(), where what fails for want of an extension that does not compile says so.
TorchChannel::Reply TorchLane::ask(Json question, double seconds) {
  try {
    return channel_.ask(std::move(question), seconds);
  } catch (const Refused&) {
    if (not_built_) throw *not_built_;
    throw;
  }
}

Json torch_tensors(Json task, const Graph& graph) {
  Json parameters = Json::array(), call = {{"inputs", Json::array()}, {"outputs", Json::array()}};
  for (const int id : graph.values_of(Graph::Kind::parameter)) {
    parameters.push_back(tensor_of(graph, id));
  }
  for (const int id : graph.values_of(Graph::Kind::input)) {
    call["inputs"].push_back(tensor_of(graph, id));
  }
  for (const int id : graph.outputs()) call["outputs"].push_back(tensor_of(graph, id));
  task["parameters"] = std::move(parameters);
  task["calls"] = {std::move(call)};
  return task;
}

void TorchLane::check(double seconds) {
  Json task = torch_tensors(task_, graph_);
  task["do"] = "check";
  ask(std::move(task), seconds);
}

void TorchLane::attach(const ImportedMemory& memory) {
  std::vector<int> descriptors;
  task_["slabs"] = Json::array();
  if (!host_.driver()) {
    for (const ImportedMemory::Slab& slab : memory.slabs()) {
      descriptors.push_back(slab.descriptor.get());
      task_["slabs"].push_back({{"bytes", slab.buffer.size()}, {"read_only", slab.read_only}});
    }
  }
  const auto placed = [&](Json tensor, const vulkan::Region& region) {
    const auto slab = memory.slab_of(region);
    tensor["place"] = {{"slab", slab.value_or(0)}, {"offset", region.offset}};
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
  loaded_ = others_busy_ = looked_idle_ = false;
  peers_.reset();
  const Json places = channel_.ask(task_, kAttachSeconds, descriptors).answer;
  if (host_.driver()) {
    peers_ = std::make_unique<PeerTensors>(*host_.driver(), memory, graph_, places);
  }
}

void TorchLane::prepare(const Run& run) {
  asked_ = run;
  if (loaded_) {  // They have been told.
    notes_.clear();
    build_s_ = 0;
  }
  if (!std::exchange(loaded_, true)) {
    if (peers_) peers_->give_parameters(kCopySeconds);
    ask({{"do", "load"}}, run.seconds);
  }
  if (peers_) peers_->give_inputs(run.calls, kCopySeconds);
}

/// Nanoseconds that the device goes on working once the process says that it is done.
double TorchLane::wait_idle() {
  if (!peers_ || others_busy_) return 0;
  if (const auto ns = cuda::wait_idle(*host_.driver(), kIdleSeconds)) return *ns;
  if (loaded_) {
    throw Refused{Verdict::interferes,
                  "the device was busy for seconds after its process had said that it was done",
                  {}};
  }
  others_busy_ = true;
  return 0;
}

double TorchLane::run(bool setup, double seconds) {
  if (setup) throw Error(ErrorCode::kInternal, "a module has no setup");
  const bool capture = asked_.capture && peers_;
  const auto [answer, ns] = ask(
      {{"do", "run"}, {"calls", asked_.calls}, {"capture", capture}, {"timed", asked_.own_clock}},
      seconds);
  channel_.set_builder({});
  if (not_built_) {
    notes_.push_back({"note", "", 0, 0, std::string(kDoesNotCompile) + ", and it goes on without"});
    for (const Diagnostic& each : not_built_->diagnostics) {
      notes_.push_back({"warning", each.file, each.line, each.column, each.message});
    }
    not_built_.reset();
  }
  const double left_ns = wait_idle();
  captured_ = capture && answer.value("captured", Json()) == Json(true);
  if (peers_) peers_->take(answer, asked_.calls, captured_, kCopySeconds);
  const Json own = answer.value("ns", Json());
  own_ns_ = own.is_number() ? own.get<double>() : 0;
  return ns + left_ns;
}

void TorchLane::describe(Ran& ran) const {
  ran.captured = captured_;
  ran.own_ns = own_ns_;
  ran.notes = notes_;
  ran.build_s = build_s_;
}

double TorchLane::run_empty(double seconds) {
  const double ns = channel_.ask({{"do", "nothing"}}, seconds).ns;
  // Once, to know whether others keep the device busy.
  if (!std::exchange(looked_idle_, true)) wait_idle();
  return ns;
}

/// By the module's process: its word, and that of the candidate's code.
Profiled TorchLane::profile(const Profile& request) {
  if (peers_) peers_->give_inputs(1, kCopySeconds);
  const Json answer =
      channel_.ask({{"do", "profile"}, {"profiler", request.profiler}}, request.seconds).answer;
  wait_idle();
  Profiled profiled;
  const Json names = answer.value("names", Json()), times = answer.value("ns", Json());
  if (!names.is_array() || !times.is_array() || names.size() != times.size()) return profiled;
  for (size_t i = 0; i < std::min(names.size(), kMostProfiledKernels); ++i) {
    if (!names[i].is_string() || !times[i].is_number()) return {};
    const std::string name = names[i].get<std::string>();
    profiled.step_ns.push_back(times[i].get<double>());
    profiled.library.push_back(is_library_kernel(name) ? shown(short_kernel_name(name)) : "");
  }
  return profiled;
}

bool is_library_kernel(std::string_view name) {
  return std::ranges::any_of(kInFront, [&](auto part) { return name.starts_with(part); }) ||
         std::ranges::any_of(kAnywhere, [&](auto part) { return name.find(part) != name.npos; });
}

std::string short_kernel_name(std::string_view name) {
  constexpr std::string_view kVoid = "void ", kAnonymous = "(anonymous namespace)::";
  if (name.starts_with(kVoid)) name.remove_prefix(kVoid.size());
  std::string text(name);
  for (size_t at; (at = text.find(kAnonymous)) != text.npos;) text.erase(at, kAnonymous.size());
  return text.substr(0, text.find_first_of("<("));
}

TorchProgram::TorchProgram(TorchHost& host, std::unique_ptr<Graph> graph, const TorchModule& module,
                           const Build& request)
    : host_(host), graph_(std::move(graph)), lane_(host, torch_task(module, request.at), *graph_) {
  const auto start = Clock::now();
  const auto left = [start, seconds = request.seconds] {
    const std::chrono::duration<double> taken = Clock::now() - start;
    return std::max(seconds - taken.count(), 0.01);
  };
  if (has_extensions(module)) {
    Json input = {{"source", module.source}};
    const Json task = torch_task(module, request.at);
    for (const char* key : {"init_inputs", "variables"}) input[key] = task.at(key);
    notes_ = compile_extensions(module, input, host.architecture(), request, /*meanwhile=*/false,
                                left, host.python());
  }
  host.wait_started(left());
  compile_s_ = std::chrono::duration<double>(Clock::now() - start).count();
  // What is left of the limit is for what its process builds when it loads, or in its first run.
  lane_.set_builder([&host, module, request, rest = left()](const Json& arguments) mutable {
    const Json input = {{"source", module.source}, {"build", arguments}};
    const auto begin = Clock::now();
    const auto still_left = [begin, rest] {
      const std::chrono::duration<double> taken = Clock::now() - begin;
      return std::max(rest - taken.count(), 0.01);
    };
    auto notes = compile_extensions(module, input, host.architecture(), request, /*meanwhile=*/true,
                                    still_left, host.python());
    rest = still_left();
    return notes;
  });
  if (request.check) lane_.check(left());
}

Built TorchProgram::built() const {
  Built built;
  built.compile_s = compile_s_;
  built.diagnostics = notes_;
  built.launched_by = RunnerKind::torch;
  built.wanted = host_.driver() ? tensors_of_calls(*graph_, kMostCalls, call_bytes(host_))
                                : tensors_of_calls(*graph_, kMostCallsOfSoftware, kMostCallBytes);
  built.version = host_.version();
  return built;
}

}  // namespace kbench::runner
