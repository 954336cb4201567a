#include "harness/frontends/program/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>

#include "libkbench/base/files.h"
#include "libkbench/base/start_thread.h"

namespace kbench::program {
namespace {

std::atomic<int> signal_pipe{-1};
struct sigaction before_int, before_term;

void pass_on(int signal) {
  const int saved = errno;
  const auto byte = static_cast<unsigned char>(signal);
  [[maybe_unused]] const ssize_t ignored = write(signal_pipe, &byte, 1);
  errno = saved;
}

}  // namespace

StopSignals::StopSignals(std::function<void(int)> on_first) {
  if (pipe2(pipe_, O_CLOEXEC) != 0) throw_io("make", "a pipe");
  signal_pipe = pipe_[1];
  thread_ = start_thread<std::thread>([this, on_first = std::move(on_first)] { watch(on_first); });
  struct sigaction action = {};
  action.sa_handler = pass_on;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &before_int);
  sigaction(SIGTERM, &action, &before_term);
}

StopSignals::~StopSignals() {
  sigaction(SIGINT, &before_int, nullptr);
  sigaction(SIGTERM, &before_term, nullptr);
  signal_pipe = -1;
  close(pipe_[1]);
  thread_.join();
  close(pipe_[0]);
}

void StopSignals::watch(const std::function<void(int)>& on_first) {
  for (unsigned char byte = 0;;) {
    const ssize_t count = read(pipe_[0], &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    if (signal_ == 0) {
      signal_ = byte;
      gently_.request_stop();
      on_first(byte);
    } else {
      at_once_.request_stop();
    }
  }
}

}  // namespace kbench::program
