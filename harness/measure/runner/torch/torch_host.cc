#include "harness/measure/runner/torch/torch_host.h"

#include <sys/syscall.h>

#include <nlohmann/json.hpp>

#include "harness/measure/cuda/device_capability.h"
#include "harness/measure/runner/syscall_filter.h"
#include "harness/measure/runner/torch/scripts.h"
#include "harness/measure/runner/torch/torch_channel.h"
#include "kbench/error.h"
#include "libkbench/base/hex.h"

namespace kbench::runner {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kModuleMemory = uint64_t{16} << 30;  ///< of the host

/// Of a process that does not start: others may hold the device's memory.
ErrorCode code_of(const std::string& message) {
  return message.find("out of memory") != std::string::npos ? ErrorCode::kOutOfMemory
                                                            : ErrorCode::kUnsupported;
}

}  // namespace

TorchHost::TorchHost(vulkan::Device& device, PythonHelper& python)
    : python_(python), device_bytes_(device.snapshot().device_local_bytes) {
  try {
    start(device);
  } catch (const Error& error) {
    failure_ = Error(code_of(error.message()), error.message());
  }
}

void TorchHost::start(vulkan::Device& device) {
  const vulkan::DeviceSnapshot& snapshot = device.snapshot();
  const bool gpu = !snapshot.software();
  if (gpu) {
    const cuda::ComputeCapability has = cuda::device_capability(snapshot.device_uuid);
    architecture_ = std::to_string(has.major) + "." + std::to_string(has.minor);
  }
  Json order = {{"do", "start"}, {"cuda", gpu}};
  if (gpu) {
    order["filter"] = hex_of(program_of_python_filter());
    order["seccomp"] = SYS_seccomp;
  }
  python_.start_torch({.script = with_loader(driver_script()),
                       .device_uuid = gpu ? vulkan::to_string(snapshot.device_uuid) : "",
                       .host_bytes = kModuleMemory,
                       .architecture = architecture_,
                       .question = order.dump()});
  if (gpu) driver_ = std::make_unique<cuda::Driver>(snapshot.device_uuid);
}

void TorchHost::wait_started(double seconds) {
  if (failure_) throw *failure_;
  if (started_) return;
  const TorchAnswer said = python_.ask_torch({.seconds = seconds});
  if (said.killed) {  // Nothing of a candidate has run in it.
    failure_ = Error(ErrorCode::kInternal, "PyTorch's process ended as it started, by " +
                                               said.last_words + ", not by kbench");
    throw *failure_;
  }
  try {
    const Json answer = read_answer(said);
    version_ = "PyTorch " + answer.value("version", std::string("of an unknown version"));
  } catch (const Refused& refused) {
    failure_ = Error(code_of(refused.message), "PyTorch cannot be used: " + refused.message);
    throw *failure_;
  }
  started_ = true;
}

}  // namespace kbench::runner
