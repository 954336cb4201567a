#include "harness/measure/judge/requests.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

#include "harness/measure/judge_protocol/protocol.h"
#include "libkbench/base/files.h"
#include "libkbench/base/start_thread.h"

namespace kbench::judge {
namespace {

constexpr int kClientGone = 3;

/// A handle on the process that made the socket of standard input, readable once that has ended;
/// not open where the kernel (before 5.3) or another kind of input has none.
UniqueFd client_process() {
  ucred maker{};
  socklen_t size = sizeof maker;
  if (getsockopt(STDIN_FILENO, SOL_SOCKET, SO_PEERCRED, &maker, &size) != 0 || maker.pid <= 0) {
    return {};
  }
  UniqueFd client(static_cast<int>(syscall(SYS_pidfd_open, maker.pid, 0)));
  if (!client.open() && errno == ESRCH) _exit(kClientGone);
  return client;
}

}  // namespace

Requests::Requests() {
  start_thread<std::thread>([state = state_] {
    read(*state);
    _exit(kClientGone);
  }).detach();
}

void Requests::read(State& state) {
  const UniqueFd client = client_process();
  Last last;
  std::string line;
  for (;;) {
    pollfd ready[2] = {{STDIN_FILENO, POLLIN, 0}, {client.get(), POLLIN, 0}};
    if (poll(ready, 2, -1) < 0 && errno != EINTR) return;
    if (ready[1].revents != 0) return;
    if (ready[0].revents == 0) continue;
    char buffer[1 << 16];
    const ssize_t n = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    for (const char *begin = buffer, *end = buffer + n; begin != end;) {
      const char* newline = std::find(begin, end, '\n');
      line.append(begin, newline);
      if (newline == end) break;
      take(state, std::exchange(line, {}), last);
      begin = newline + 1;
    }
  }
}

/// What arrives after the result was sent is ignored.
void Requests::take(State& state, std::string line, Last& last) {
  if (line == kCancelLine || line == kOthersLine) {
    (line == kCancelLine ? last.cancelled : last.others).request_stop();
    return;
  }
  last = {};
  const std::lock_guard lock(state.mutex);
  state.waiting.push_back({std::move(line), last.cancelled.get_token(), last.others.get_token()});
  state.changed.notify_all();
}

Requests::Received Requests::next() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return !state_->waiting.empty(); });
  Received received = std::move(state_->waiting.front());
  state_->waiting.pop_front();
  return received;
}

bool Requests::come_within(std::chrono::milliseconds wait) {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, wait, [&] { return !state_->waiting.empty(); });
}

}  // namespace kbench::judge
