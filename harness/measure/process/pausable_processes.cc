#include "harness/measure/process/pausable_processes.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>

namespace kbench::process {
namespace {

using Clock = std::chrono::steady_clock;

/// A process stops only at the end of its system call. One that lasts longer than this waits for
/// another process's call and uses no device meanwhile.
constexpr std::chrono::microseconds kStopPatience(700);
constexpr std::chrono::microseconds kPollInterval(20);

void send(const UniqueFd& child, int signal) {
  syscall(SYS_pidfd_send_signal, child.get(), signal, nullptr, 0);
}

/// Stopped or ended.
bool is_stopped(const UniqueFd& child) {
  siginfo_t info{};
  const auto id = static_cast<id_t>(child.get());
  return waitid(P_PIDFD, id, &info, WSTOPPED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

}  // namespace

PausableProcesses::Entry::Entry(Entry&& other) noexcept
    : of_(std::exchange(other.of_, nullptr)), which_(other.which_) {}

PausableProcesses::Entry& PausableProcesses::Entry::operator=(Entry&& other) noexcept {
  remove();
  of_ = std::exchange(other.of_, nullptr);
  which_ = other.which_;
  return *this;
}

void PausableProcesses::Entry::remove() {
  PausableProcesses* const of = std::exchange(of_, nullptr);
  if (of == nullptr) return;
  const std::lock_guard lock(of->mutex_);
  if (of->paused_) send(*which_, SIGCONT);
  of->children_.erase(which_);
}

PausableProcesses::Entry PausableProcesses::add(pid_t child) {
  Entry entry;
  UniqueFd handle(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  if (!handle.open()) return entry;  // It has ended, or the kernel is older than 5.3.
  const std::lock_guard lock(mutex_);
  if (paused_) send(handle, SIGSTOP);
  entry.which_ = children_.insert(children_.end(), std::move(handle));
  entry.of_ = this;
  return entry;
}

void PausableProcesses::pause() {
  const std::lock_guard lock(mutex_);
  paused_ = true;
  for (const UniqueFd& child : children_) send(child, SIGSTOP);
  const auto end = Clock::now() + kStopPatience;
  for (const UniqueFd& child : children_) {
    while (!is_stopped(child) && Clock::now() < end) std::this_thread::sleep_for(kPollInterval);
  }
}

void PausableProcesses::resume() {
  const std::lock_guard lock(mutex_);
  paused_ = false;
  for (const UniqueFd& child : children_) send(child, SIGCONT);
}

}  // namespace kbench::process
