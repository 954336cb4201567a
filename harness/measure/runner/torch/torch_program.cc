#include "harness/measure/runner/torch/torch_program.h"

#include <sys/syscall.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/measure/cuda/device_capability.h"
#include "harness/measure/runner/syscall_filter.h"
#include "harness/measure/runner/torch/scripts.h"
#include "kbench/error.h"
#include "kbench/text.h"
#include "libkbench/base/hex.h"

namespace kbench::runner {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr size_t kMostLog = 8000;
constexpr uint64_t kMostMemory = uint64_t{16} << 30;  ///< of the host

bool has_extensions(const TorchModule& module) {
  return module.source.find("cpp_extension") != std::string::npos ||
         module.source.find("load_inline") != std::string::npos;
}

/// "9.0" for a GPU, empty for a software device. Throws kUnsupported where CUDA has no such device.
std::string architecture_of(const vulkan::Device& device) {
  if (device.snapshot().software()) return "";
  const cuda::ComputeCapability has = cuda::device_capability(device.snapshot().device_uuid);
  return std::to_string(has.major) + "." + std::to_string(has.minor);
}

/// Both scripts load the module in the same way.
std::string script_of(std::string_view own) {
  return std::string(load_module_script()) + std::string(own);
}

/// Compiles what load_inline() and load() of the module would, where its process finds it.
void compile_extensions(const TorchModule& module, const std::string& architecture, double seconds,
                        PythonHelper& python) {
  const Json input = {{"source", module.source}};
  const std::string said =
      python.run({.package = "torch",
                  .script = script_of(precompile_script()),
                  .input = input.dump(-1, ' ', false, Json::error_handler_t::replace),
                  .seconds = seconds,
                  .for_torch = true,
                  .architecture = architecture});
  const Json answer = Json::parse(said, nullptr, /*allow_exceptions=*/false);
  const bool has_error =
      answer.is_object() && answer.contains("error") && answer.at("error").is_string();
  const std::string error = has_error ? answer.at("error").get<std::string>() : "";
  if (error.empty()) return;
  Refused refused{Verdict::compile_error, "an extension of its module does not compile", {}};
  refused.diagnostics.push_back({"error", shown(module.file), 0, 0, shown(error, kMostLog)});
  throw refused;
}

}  // namespace

TorchProgram::TorchProgram(vulkan::Device& device, std::unique_ptr<Graph> graph,
                           const TorchModule& module, const Build& request, PythonHelper& python)
    : graph_(std::move(graph)), lane_(python, torch_task(module, request.at), *graph_) {
  const auto start = Clock::now();
  const auto left = [&] {
    const std::chrono::duration<double> taken = Clock::now() - start;
    return std::max(request.seconds - taken.count(), 0.01);
  };
  const bool cuda = !device.snapshot().software();
  const std::string architecture = architecture_of(device);
  python.start_torch({.script = script_of(driver_script()),
                      .device_uuid = cuda ? vulkan::to_string(device.snapshot().device_uuid) : "",
                      .host_bytes = kMostMemory,
                      .architecture = architecture});
  Json order = {{"do", "start"}, {"cuda", cuda}};
  if (cuda) {
    order["filter"] = hex_of(program_of_python_filter());
    order["seccomp"] = SYS_seccomp;
  }
  python.torch().send(0, order.dump());
  if (has_extensions(module)) compile_extensions(module, architecture, left(), python);
  lane_.wait_started(left());
  compile_s_ = std::chrono::duration<double>(Clock::now() - start).count();
}

Built TorchProgram::built() const {
  Built built;
  built.compile_s = compile_s_;
  built.lane = "torch";
  built.wanted = tensors_of_calls(*graph_);
  return built;
}

}  // namespace kbench::runner
