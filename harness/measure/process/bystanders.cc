#include "harness/measure/process/bystanders.h"

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

/// A driver's call ends before its process stops. Longer ones wait for another process's to end,
/// and do nothing meanwhile.
constexpr std::chrono::microseconds kStopPatience(700);
constexpr std::chrono::microseconds kLook(20);

void send(const UniqueFd& child, int signal) {
  syscall(SYS_pidfd_send_signal, child.get(), signal, nullptr, 0);
}

/// True too of one that has ended.
bool stands_still(const UniqueFd& child) {
  siginfo_t info{};
  const auto id = static_cast<id_t>(child.get());
  return waitid(P_PIDFD, id, &info, WSTOPPED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

}  // namespace

Bystanders::Entry::Entry(Entry&& other) noexcept
    : of_(std::exchange(other.of_, nullptr)), which_(other.which_) {}

Bystanders::Entry& Bystanders::Entry::operator=(Entry&& other) noexcept {
  leave();
  of_ = std::exchange(other.of_, nullptr);
  which_ = other.which_;
  return *this;
}

void Bystanders::Entry::leave() {
  Bystanders* const of = std::exchange(of_, nullptr);
  if (of == nullptr) return;
  const std::lock_guard lock(of->mutex_);
  if (of->held_) send(*which_, SIGCONT);
  of->children_.erase(which_);
}

Bystanders::Entry Bystanders::enter(pid_t child) {
  Entry entry;
  UniqueFd handle(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  if (!handle.open()) return entry;  // Ended, or a kernel before 5.3: it is not held.
  const std::lock_guard lock(mutex_);
  if (held_) send(handle, SIGSTOP);
  entry.which_ = children_.insert(children_.end(), std::move(handle));
  entry.of_ = this;
  return entry;
}

void Bystanders::hold() {
  const std::lock_guard lock(mutex_);
  held_ = true;
  for (const UniqueFd& child : children_) send(child, SIGSTOP);
  const auto end = Clock::now() + kStopPatience;
  for (const UniqueFd& child : children_) {
    while (!stands_still(child) && Clock::now() < end) std::this_thread::sleep_for(kLook);
  }
}

void Bystanders::release() {
  const std::lock_guard lock(mutex_);
  held_ = false;
  for (const UniqueFd& child : children_) send(child, SIGCONT);
}

}  // namespace kbench::process
