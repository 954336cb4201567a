#include "harness/measure/runner/torch/torch_process.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "harness/measure/process/channel.h"
#include "harness/measure/process/child_process.h"
#include "harness/measure/process/deadline.h"
#include "kbench/error.h"

namespace kbench::runner {
namespace {

constexpr double kModuleGraceSeconds = 10, kStopSeconds = 1;
}  // namespace

TorchProcess::TorchProcess(PythonPrototype& prototype, const PythonScratch& scratch,
                           PythonStart start)
    : scratch_(scratch) {
  auto [output_read, output_write] = process::make_pipe();
  process::make_nonblocking(output_read);
  start.output = output_write.get();
  group_ = prototype.fork_for(start, scratch);
  output_ = std::move(output_read);
  try {
    guard_.emplace(group_, scratch.path());
  } catch (const Error&) {
    end_group(group_, kModuleGraceSeconds);
    throw;
  }
}

bool TorchProcess::end() {
  return group_ < 0 || end_group(std::exchange(group_, -1), kModuleGraceSeconds);
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

void TorchProcess::share_processors() {
  constexpr int kShared = 4, kEnough = 2 * kShared;
  cpu_set_t all;
  if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < kEnough) return;
  cpu_set_t last;
  CPU_ZERO(&last);
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && CPU_COUNT(&last) < kShared; --cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &last);
  }
  sched_setaffinity(group_, sizeof last, &last);
}

void TorchProcess::release() { ::kill(-group_, SIGCONT); }

void TorchProcess::watch() {
  char buffer[1 << 14];
  constexpr int kMostReads = 64;  // It may print faster than this reads.
  for (int reads = 0; reads < kMostReads; ++reads) {
    const ssize_t got = read(output_.get(), buffer, sizeof buffer);
    if (got <= 0) break;
    said_.append(buffer, static_cast<size_t>(got));
    if (said_.size() > kMostPythonOutput) said_.erase(0, said_.size() - kMostPythonOutput);
  }
  if (guard_) guard_->watch();
  if (!too_much_.empty()) return;
  if (end_of(group_)) ::kill(-group_, SIGKILL);  // What it started may hold its channel open.
  too_much_ = taken_too_much(group_, scratch_);
  if (!too_much_.empty()) ::kill(-group_, SIGKILL);
}

std::string TorchProcess::last_words() {
  watch();
  if (!too_much_.empty()) return too_much_;
  const auto end = end_of(group_);
  const bool exited = end && end->si_code == CLD_EXITED;
  if (exited && end->si_status == kNoLock) {
    return "this system cannot hold PyTorch's process in (Landlock and seccomp are needed)";
  }
  std::string text;
  if (end) text = (exited ? "exit status " : "signal ") + std::to_string(end->si_status);
  const std::string line = process::last_line(said_, 300);
  return text + (text.empty() || line.empty() ? "" : ": ") + line;
}

bool TorchProcess::killed() const {
  const auto end = end_of(group_);
  if (!too_much_.empty() || !end || end->si_code == CLD_EXITED) return false;
  return process::ended_from_outside({.ended = true, .signal = end->si_status});
}

}  // namespace kbench::runner
