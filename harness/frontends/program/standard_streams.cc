#include "harness/frontends/program/standard_streams.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <iostream>
#include <system_error>

#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/verbs.h"

namespace kbench::program {

bool open_missing_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() returns the lowest free descriptor, which is this one.
    if (open("/dev/null", O_RDWR) != descriptor) return false;
  }
  return true;
}

void let_writes_fail() {
  // A handler, because SIG_IGN would be inherited by executed programs.
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGPIPE, SIGXFSZ}) sigaction(signal, &action, nullptr);
}

namespace {

/// Whether standard output is a pipe whose reader has closed it.
bool reader_has_gone() {
  pollfd pipe = {STDOUT_FILENO, 0, 0};
  return poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLERR) != 0;
}

}  // namespace

int finish_output(int code) {
  errno = 0;
  std::cout.flush();
  std::fflush(stdout);
  if (std::ferror(stdout) == 0) return code;
  if (reader_has_gone()) return kPipeClosed;
  // If an earlier write failed and nothing was left to flush, errno is lost.
  const std::string why =
      errno != 0 ? std::generic_category().message(errno) : "not all of it was written";
  warn("cannot write to standard output: " + why);
  return kUsage;
}

}  // namespace kbench::program
