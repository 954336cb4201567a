#include "harness/measure/runner/python_start.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "harness/measure/runner/lock_in.h"
#include "harness/measure/runner/python_group.h"

namespace kbench::runner {
namespace {

constexpr int kChannel = 3, kScript = 4;
constexpr size_t kMostProcesses = 64;  // and 4 for each processor, as translations are parallel

/// An argument is 128 KiB at most, which a script may exceed.
std::string reading(const std::string& name) {
  return "exec(compile(open(" + std::to_string(kScript) + ", encoding='utf-8').read(), '" + name +
         "', 'exec'))";
}

/// The folder of python3 first, where a virtual environment has its tools.
std::string path_of(const PythonInterpreter& python) {
  const std::string folder = python.program.substr(0, python.program.rfind('/'));
  return "PATH=" + folder + ":/usr/local/cuda/bin:/usr/bin:/bin";
}

}  // namespace

void become_python(const PythonInterpreter& python, const PythonScratch& scratch,
                   const PythonStart& start) {
  setpgid(0, 0);
  // Everything else is closed: the socket to the runner, the judge's channel.
  const int given = fcntl(start.channel, F_DUPFD, 10);
  const int script = fcntl(start.script, F_DUPFD, 10);
  const int input = start.input >= 0 ? start.input : open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(input, STDIN_FILENO);
  dup2(start.output, STDOUT_FILENO);
  dup2(start.output, STDERR_FILENO);
  dup2(given, kChannel);
  dup2(script, kScript);
  close_range(kScript + 1, ~0u, 0);
  if (chdir(scratch.path().c_str()) != 0) _exit(kNoLock);
  LockIn lock({.parent = 0, .host_memory_bytes = start.host_bytes, .readable = {}, .device = {}});
  if (!lock.for_python(python.readable, scratch.path(), start.devices)) _exit(kNoLock);
  std::vector<std::string> environment = {"HOME=" + scratch.path(),
                                          "TMPDIR=" + scratch.path(),
                                          "TRITON_HOME=" + scratch.path(),
                                          "TRITON_CACHE_DIR=" + scratch.path("cache"),
                                          "TORCH_EXTENSIONS_DIR=" + scratch.path("extensions"),
                                          "TORCHINDUCTOR_CACHE_DIR=" + scratch.path("inductor"),
                                          "TORCHINDUCTOR_COMPILE_THREADS=1",
                                          "USER=kbench",
                                          path_of(python),
                                          "PYTHONDONTWRITEBYTECODE=1",
                                          "LC_ALL=C.UTF-8"};
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* value = std::getenv(name)) {
      environment.push_back(name + std::string("=") + value);
    }
  }
  environment.insert(environment.end(), start.environment.begin(), start.environment.end());
  std::vector<std::string> arguments = {python.program, "-I", "-B", "-c", reading(start.name)};
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (std::string& each : texts) all.push_back(each.data());
    all.push_back(nullptr);
    return all;
  };
  execve(python.program.c_str(), pointers(arguments).data(), pointers(environment).data());
  _exit(kNoProgram);
}

std::string taken_too_much(pid_t group, const PythonScratch& scratch) {
  const size_t most = kMostProcesses + 4 * std::thread::hardware_concurrency();
  const std::string files = over_limit(scratch.path(), {});
  if (!files.empty()) {
    return "its Python file writes " + files + " into its scratch folder, the most that it may";
  }
  if (size_of_group(group) > most) {
    return "its Python file starts more than " + std::to_string(most) +
           " processes, the most that it may have at once";
  }
  return "";
}

}  // namespace kbench::runner
