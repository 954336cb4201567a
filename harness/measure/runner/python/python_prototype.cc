#include "harness/measure/runner/python/python_prototype.h"

#include <fcntl.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "harness/measure/runner/lock_in.h"
#include "kbench/error.h"
#include "libkbench/base/text.h"

namespace kbench::runner {
namespace {

using Json = nlohmann::json;

constexpr int kPrototypeChannel = 3;
constexpr uint32_t kOrder = 1;
constexpr size_t kMostReply = 4096;
/// Importing PyTorch takes seconds, from a slow disk and on a busy machine many.
constexpr std::chrono::seconds kImportPatience(120);

/// The folder of python3 first, where a virtual environment has its tools.
std::string path_of(const PythonInterpreter& python) {
  const std::string folder = python.program.substr(0, python.program.rfind('/'));
  return folder + ":/usr/local/cuda/bin:/usr/bin:/bin";
}

/// What the prototype itself and every process that it forks have.
std::vector<std::pair<std::string, std::string>> common_environment(
    const PythonInterpreter& python) {
  std::vector<std::pair<std::string, std::string>> all = {{"PATH", path_of(python)},
                                                          {"PYTHONDONTWRITEBYTECODE", "1"},
                                                          {"LC_ALL", "C.UTF-8"},
                                                          {"USER", "kbench"},
                                                          // Large weights on the host are made in
                                                          // half the time, in large pages.
                                                          {"THP_MEM_ALLOC_ENABLE", "1"}};
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* value = std::getenv(name)) all.emplace_back(name, value);
  }
  return all;
}

Json environment_of(const PythonInterpreter& python, const PythonScratch& scratch,
                    const PythonStart& start) {
  Json all = {{"HOME", scratch.path()},
              {"TMPDIR", scratch.path()},
              {"TRITON_HOME", scratch.path()},
              {"TRITON_CACHE_DIR", scratch.path("cache")},
              {"TORCH_EXTENSIONS_DIR", scratch.path("extensions")},
              {"TORCHINDUCTOR_CACHE_DIR", scratch.path("inductor")},
              {"TORCHINDUCTOR_COMPILE_THREADS", "1"}};
  for (const auto& [name, value] : common_environment(python)) all[name] = value;
  for (const auto& [name, value] : start.environment) all[name] = value;
  return all;
}

process::Spawn spawn_of(const PythonInterpreter& python, const std::string& package,
                        const UniqueFd& channel) {
  process::Spawn spawn;
  spawn.program = spawn.name = python.program;  // Python finds its library by it.
  spawn.arguments = {"-I", "-B", "-c", std::string(prototype_script()), package};
  spawn.descriptors = {{channel.get(), kPrototypeChannel}};
  spawn.environment.emplace();
  for (const auto& [name, value] : common_environment(python)) {
    spawn.environment->push_back(name + "=" + value);
  }
  return spawn;
}

}  // namespace

PythonPrototype::PythonPrototype(const PythonInterpreter& python, const std::string& package)
    : python_(python),
      package_(package),
      ends_(process::make_socket_pair()),
      process_(spawn_of(python, package, ends_.second)),
      channel_(std::move(ends_.first)) {
  ends_.second.reset();
}

bool PythonPrototype::ended() {
  const std::lock_guard lock(mutex_);
  return process_.poll().ended;
}

pid_t PythonPrototype::fork_for(const PythonStart& start, const PythonScratch& scratch) {
  Json order = {
      {"name", start.name},
      {"script", start.script},
      {"folder", scratch.path()},
      {"environment", environment_of(python_, scratch, start)},
      {"lock", python_lock(python_.readable, scratch.path(), start.devices, start.host_bytes)}};
  const UniqueFd nothing(start.input < 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1);
  const int input = start.input < 0 ? nothing.get() : start.input;
  const std::lock_guard lock(mutex_);
  Json answer;
  try {
    channel_.send(kOrder, order.dump(-1, ' ', false, Json::error_handler_t::replace),
                  std::vector<int>{input, start.output, start.output, start.channel});
    if (const auto frame = channel_.receive(kImportPatience, kMostReply)) {
      answer = Json::parse(frame->payload, nullptr, /*allow_exceptions=*/false);
    }
  } catch (const Error&) {  // It has ended.
  }
  if (answer.is_object() && answer.value("child", 0) > 0) return answer.at("child");
  process_.kill();
  if (answer.is_object() && answer.contains("failed")) {
    throw Error(ErrorCode::kUnsupported,
                kbench::quoted(python_.program) + " cannot import " +
                    (package_.empty() ? std::string("what kbench needs") : package_) + ": " +
                    shown(answer.at("failed").get<std::string>(), 600));
  }
  const std::string words = process_.last_words();
  throw Error(ErrorCode::kIo, "no process for python3" + (words.empty() ? "" : ": " + words));
}

}  // namespace kbench::runner
