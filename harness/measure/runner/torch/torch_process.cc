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
#include "libkbench/base/compiler_messages.h"

namespace kbench::runner {
namespace {

constexpr double kModuleGraceSeconds = 10, kStopSeconds = 1;
constexpr size_t kMostWords = 300;

std::string_view line_at(std::string_view text, size_t at) {
  return text.substr(at, text.find('\n', at) - at);
}

/// A summary of what Python's fault handler has printed; empty where it has printed nothing.
std::string of_fault_handler(std::string_view said) {
  constexpr std::string_view kFatal = "Fatal Python error: ";
  const size_t fatal = said.rfind(kFatal);
  if (fatal == said.npos) return "";
  std::string text = shown(line_at(said, fatal + kFatal.size()), kMostWords);
  constexpr std::string_view kFrame = "/model_new.py\", line ", kIn = " in ";
  const size_t frame = said.find(kFrame, fatal);  // The innermost one comes first.
  if (frame == said.npos) return text;
  const std::string_view rest = line_at(said, frame + kFrame.size());
  const size_t in = rest.find(kIn);
  const auto line = line_number(rest.substr(0, in));
  if (!line || in == rest.npos) return text;
  return text + " in " + shown(rest.substr(in + kIn.size()), 60) + " (line " +
         std::to_string(*line) + ")";
}
}  // namespace

std::string last_words_in(std::string_view said) {
  if (std::string text = of_fault_handler(said); !text.empty()) return text;
  constexpr std::string_view kWarning = "Warning: ";
  while (!said.empty()) {
    const size_t end = said.find_last_not_of(" \r\n\t");
    if (end == said.npos) return "";
    said = said.substr(0, end + 1);
    const size_t begin = said.rfind('\n') + 1;  // npos + 1 is 0
    const std::string_view line = said.substr(begin);
    said = said.substr(0, begin);
    const std::string_view above = said.substr(said.substr(0, begin - (begin > 0)).rfind('\n') + 1);
    // Below a warning Python prints the line of code that it comes from.
    const bool of_warning = line.find(kWarning) != line.npos ||
                            (line.starts_with("  ") && above.find(kWarning) != above.npos);
    if (!of_warning) return shown(line, kMostWords);
  }
  return "";
}

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
  const std::string words = last_words_in(said_);
  return text + (text.empty() || words.empty() ? "" : ": ") + words;
}

bool TorchProcess::killed() const {
  const auto end = end_of(group_);
  if (!too_much_.empty() || !end || end->si_code == CLD_EXITED) return false;
  return process::ended_from_outside({.ended = true, .signal = end->si_status});
}

}  // namespace kbench::runner
