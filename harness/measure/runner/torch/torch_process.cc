#include "harness/measure/runner/torch/torch_process.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <thread>
#include <utility>

#include "harness/measure/process/child_process.h"
#include "harness/measure/process/deadline.h"
#include "harness/measure/process/fd_pair.h"
#include "harness/measure/runner/lock_in.h"
#include "kbench/error.h"

namespace kbench::runner {
namespace {

constexpr int kChannel = 3;
constexpr double kGraceSeconds = 10, kStopSeconds = 1;
constexpr size_t kMostProcesses = 64;  // and 4 for each processor, as translations are parallel

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
  const int input = start.input >= 0 ? start.input : open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(input, STDIN_FILENO);
  dup2(start.output, STDOUT_FILENO);
  dup2(start.output, STDERR_FILENO);
  dup2(given, kChannel);
  close_range(kChannel + 1, ~0u, 0);
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
  std::vector<std::string> arguments = {python.program, "-I", "-B"};
  arguments.insert(arguments.end(), start.arguments.begin(), start.arguments.end());
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

TorchProcess::TorchProcess(const PythonInterpreter& python, const PythonScratch& scratch,
                           PythonStart start)
    : scratch_(scratch) {
  auto [output_read, output_write] = process::make_pipe();
  process::make_nonblocking(output_read);
  start.output = output_write.get();
  group_ = fork();
  if (group_ == 0) become_python(python, scratch, start);
  if (group_ < 0) throw Error(ErrorCode::kIo, "no process for PyTorch");
  setpgid(group_, group_);
  output_ = std::move(output_read);
  try {
    guard_.emplace(group_, scratch.path());
  } catch (const Error&) {
    end_group(group_, kGraceSeconds);
    throw;
  }
}

TorchProcess::~TorchProcess() {
  // A process that outlives this one could disturb what runs next.
  if (!end_group(group_, kGraceSeconds)) _exit(1);
}

void TorchProcess::hold() {
  if (::kill(-group_, SIGSTOP) != 0) return;
  process::Deadline deadline(kStopSeconds);
  while (!deadline.passed()) {
    siginfo_t info{};
    const int got =
        waitid(P_PID, static_cast<id_t>(group_), &info, WSTOPPED | WEXITED | WNOWAIT | WNOHANG);
    if (got != 0 || info.si_pid == group_) return;
    sched_yield();
  }
  too_much_ = "its Python process could not be stopped";
  ::kill(-group_, SIGKILL);
}

void TorchProcess::release() { ::kill(-group_, SIGCONT); }

void TorchProcess::watch() {
  char buffer[1 << 14];
  for (;;) {
    const ssize_t got = read(output_.get(), buffer, sizeof buffer);
    if (got <= 0) break;
    said_.append(buffer, static_cast<size_t>(got));
    if (said_.size() > kMostPythonOutput) said_.erase(0, said_.size() - kMostPythonOutput);
  }
  if (!too_much_.empty()) return;
  too_much_ = taken_too_much(group_, scratch_);
  if (!too_much_.empty()) ::kill(-group_, SIGKILL);
}

std::string TorchProcess::last_words() {
  watch();
  if (!too_much_.empty()) return too_much_;
  siginfo_t info{};
  const bool ended =
      waitid(P_PID, static_cast<id_t>(group_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      info.si_pid == group_;
  if (ended && info.si_code == CLD_EXITED && info.si_status == kNoLock) {
    return "this system cannot hold PyTorch's process in (Landlock and seccomp are needed)";
  }
  std::string text;
  if (ended && info.si_code == CLD_EXITED) {
    text = "exit status " + std::to_string(info.si_status);
  } else if (ended) {
    text = "signal " + std::to_string(info.si_status);
  }
  const std::string line = process::last_line(said_, 300);
  return text + (text.empty() || line.empty() ? "" : ": ") + line;
}

}  // namespace kbench::runner
