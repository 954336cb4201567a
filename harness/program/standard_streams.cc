#include "harness/program/standard_streams.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <iostream>
#include <system_error>

#include "harness/program/verbs.h"

namespace kbench::program {

bool open_missing_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest that is free, which this one is.
    if (open("/dev/null", O_RDWR) != descriptor) return false;
  }
  return true;
}

void let_writes_fail() {
  // A handler, not SIG_IGN: a program that is executed would inherit that.
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGPIPE, SIGXFSZ}) sigaction(signal, &action, nullptr);
}

int finish_output(int code) {
  errno = 0;
  std::cout.flush();
  std::fflush(stdout);
  if (std::ferror(stdout) == 0) return code;
  // Where an earlier write failed and this one had nothing left to do, the reason is gone.
  const std::string why =
      errno != 0 ? std::generic_category().message(errno) : "not all of it was written";
  std::fprintf(stderr, "kbench: cannot write to standard output: %s\n", why.c_str());
  return kUsage;
}

}  // namespace kbench::program
