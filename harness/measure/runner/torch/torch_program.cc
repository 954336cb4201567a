#include "harness/measure/runner/torch/torch_program.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/measure/runner/torch/scripts.h"
#include "kbench/error.h"
#include "kbench/text.h"

namespace kbench::runner {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr size_t kMostLog = 8000;

bool has_extensions(const TorchModule& module) {
  return module.source.find("cpp_extension") != std::string::npos ||
         module.source.find("load_inline") != std::string::npos;
}

/// What the tensors of all calls may take. They are held twice, here and by PyTorch.
uint64_t call_bytes(const TorchHost& host) {
  constexpr uint64_t kShare = 40;
  return std::min(kMostCallBytes, host.device_bytes() / kShare);
}

/// Compiles what load_inline() and load() of the module would, where its process finds it. Where a
/// compiler was killed, as that process says, it is tried once more: the module's own code runs in
/// that process and may say so falsely.
void compile_extensions(const TorchModule& module, const std::string& architecture,
                        const std::function<double()>& seconds_left, PythonHelper& python) {
  const Json input = {{"source", module.source}};
  std::string error;
  bool killed = true;
  for (int attempt = 1; attempt <= 2 && killed; ++attempt) {
    const std::string said =
        python.run({.package = "torch",
                    .script = with_loader(precompile_script()),
                    .input = input.dump(-1, ' ', false, Json::error_handler_t::replace),
                    .seconds = seconds_left(),
                    .for_torch = true,
                    .architecture = architecture,
                    .whose = "its extensions'"});
    const Json answer = Json::parse(said, nullptr, /*allow_exceptions=*/false);
    const bool has_error =
        answer.is_object() && answer.contains("error") && answer.at("error").is_string();
    error = has_error ? answer.at("error").get<std::string>() : "";
    if (error.empty()) return;
    killed = answer.contains("killed") && answer.at("killed") == true;
  }
  Refused refused{Verdict::compile_error, "an extension of its module does not compile", {}};
  refused.diagnostics.push_back({"error", shown(module.file), 0, 0, shown(error, kMostLog)});
  throw refused;
}

}  // namespace

TorchProgram::TorchProgram(TorchHost& host, std::unique_ptr<Graph> graph, const TorchModule& module,
                           const Build& request)
    : host_(host), graph_(std::move(graph)), lane_(host, torch_task(module, request.at), *graph_) {
  const auto start = Clock::now();
  const auto left = [&] {
    const std::chrono::duration<double> taken = Clock::now() - start;
    return std::max(request.seconds - taken.count(), 0.01);
  };
  if (has_extensions(module)) {
    compile_extensions(module, host.architecture(), left, host.python());
  }
  host.wait_started(left());
  compile_s_ = std::chrono::duration<double>(Clock::now() - start).count();
}

Built TorchProgram::built() const {
  Built built;
  built.compile_s = compile_s_;
  built.launched_by = RunnerKind::torch;
  built.wanted = host_.driver() ? tensors_of_calls(*graph_, kMostCalls, call_bytes(host_))
                                : tensors_of_calls(*graph_, kMostCallsOfSoftware, kMostCallBytes);
  built.version = host_.version();
  return built;
}

}  // namespace kbench::runner
