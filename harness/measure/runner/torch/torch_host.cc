#include "harness/measure/runner/torch/torch_host.h"

#include <sys/syscall.h>

#include <nlohmann/json.hpp>
#include <string>

#include "harness/measure/cuda/driver.h"
#include "harness/measure/runner/lock_in.h"
#include "harness/measure/runner/write_fault.h"
#include "kbench/error.h"
#include "libkbench/base/hash.h"

namespace kbench::runner {

namespace {

using Json = nlohmann::json;

constexpr size_t kMostMessage = 600;
constexpr const char* kNoMemory = "out of memory";  ///< as PyTorch and CUDA say it

/// The candidate's fault, by what its process says it is: any of these it may also claim.
Refused refused_as(const std::string& kind, const std::string& said) {
  const std::string text = shown(said, kMostMessage);
  if (kind == "init" && said.find(kNoMemory) != std::string::npos) {
    return {Verdict::out_of_memory, "ModelNew cannot be made: " + text, {}};
  }
  if (kind == "module") return {Verdict::compile_error, "its module cannot be loaded: " + text, {}};
  if (kind == "init") return {Verdict::invalid_candidate, "ModelNew cannot be made: " + text, {}};
  if (kind == "parameters") return {Verdict::invalid_candidate, text, {}};
  if (kind == "unsupported") return {Verdict::unsupported, text, {}};
  if (kind == "outputs") return {Verdict::invalid_candidate, text, {}};
  if (kind == "given") return {Verdict::input_modified, text + kWrittenTo, {}};
  if (kind == "launch") return {Verdict::crashed, "its forward fails: " + text, {}};
  if (said.find(kNoMemory) != std::string::npos) {
    return {Verdict::out_of_memory, "its forward fails: " + text, {}};
  }
  for (const char* error : {"CompilationError", "UnsupportedLanguageConstruct"}) {  // Triton's
    if (said.starts_with(error)) {
      return {Verdict::compile_error, "a kernel of its module does not compile: " + text, {}};
    }
  }
  return {Verdict::crashed, "its forward fails: " + text, {}};
}

/// A text of an answer; empty where there is none.
std::string text_of(const Json& answer, const char* key) {
  const bool there = answer.is_object() && answer.contains(key) && answer.at(key).is_string();
  return there ? answer.at(key).get<std::string>() : "";
}

constexpr uint64_t kModuleMemory = uint64_t{16} << 30;  ///< of the host

/// The phase that a process is in which is asked this, as a message has it.
std::string when_asked(const Json& question) {
  const std::string what = text_of(question, "do");
  if (what == "load" || what == "check") return " while ModelNew was made";
  if (what != "run") return "";
  const int calls = question.value("calls", 1);
  return calls == 1 ? " in a call of forward()"
                    : " in one of " + std::to_string(calls) + " calls of forward()";
}

/// Of a process that does not start: others may hold the device's memory.
ErrorCode code_of(const std::string& message) {
  return message.find(kNoMemory) != std::string::npos ? ErrorCode::kOutOfMemory
                                                      : ErrorCode::kUnsupported;
}

}  // namespace

Json read_answer(const TorchAnswer& said, const std::string& when) {
  if (!said.text && said.late) {
    throw Error(ErrorCode::kTimeout, "PyTorch's process is not done");
  }
  if (!said.text) {
    const std::string why = shown(said.last_words, kMostMessage);
    throw Refused{
        Verdict::crashed, "its Python process ended" + when + (why.empty() ? "" : ": " + why), {}};
  }
  Json answer = Json::parse(*said.text, nullptr, /*allow_exceptions=*/false);
  if (const std::string kind = text_of(answer, "refused"); !kind.empty()) {
    throw refused_as(kind, text_of(answer, "message"));
  }
  if (const std::string failed = text_of(answer, "failed"); !failed.empty()) {
    if (failed.find(kNoMemory) != std::string::npos) {  // At what kbench does in it.
      throw Error(
          ErrorCode::kOutOfMemory,
          "PyTorch's process has no memory for the task's tensors: " + shown(failed, kMostMessage));
    }
    throw Refused{Verdict::crashed, "its Python process fails: " + shown(failed, kMostMessage), {}};
  }
  return answer.is_object() ? answer : Json::object();
}

TorchChannel::Reply TorchChannel::ask(Json question, double seconds,
                                      std::span<const int> descriptors) {
  Reply reply = ask_once(std::move(question), seconds, descriptors);
  double ns = reply.ns;
  while (reply.answer.contains("build")) {
    const std::string error =
        builder_ ? builder_(reply.answer.at("build")) : "it builds one once it is timed";
    reply = ask_once({{"do", "built"}, {"error", error}}, seconds, {});
    ns += reply.ns;
  }
  reply.ns = ns;
  return reply;
}

TorchChannel::Reply TorchChannel::ask_once(Json question, double seconds,
                                           std::span<const int> descriptors) {
  const uint64_t id = secret_.next();
  question["id"] = id;
  const TorchAnswer said =
      python_.ask_torch({.text = question.dump(-1, ' ', false, Json::error_handler_t::replace),
                         .seconds = seconds,
                         .held = true,
                         .spin = spin_},
                        descriptors);
  Reply reply{read_answer(said, said.text ? "" : when_asked(question)), said.ns};
  if (reply.answer.value("id", Json()) != Json(id)) {
    throw Refused{Verdict::crashed, "its Python process answers what it was not asked", {}};
  }
  return reply;
}

std::string with_loader(std::string_view script, bool full_headers) {
  // JSON of texts is Python, too.
  const std::string headers = full_headers ? "None" : Json(extension_headers()).dump();
  std::string all = "HEADERS = " + headers + "\n";
  for (const std::string_view each : {load_module_script(), quick_build_script(), script}) {
    all += each;
  }
  return all;
}

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
  const std::string script =
      std::string(kernel_names_script()).append(weights_script()).append(driver_script());
  process_ = python_.start_torch({.script = with_loader(script, /*full_headers=*/true),
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
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kOutOfMemory) failure_ = error;
    throw;
  }
  started_ = true;
}

}  // namespace kbench::runner
