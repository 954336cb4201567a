#include "harness/frontends/program/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <system_error>

#include "harness/frontends/program/verbs.h"

namespace kbench::program {
namespace {

bool takes_colours() {
  const auto variable = [](const char* name) {
    const char* const text = std::getenv(name);
    return std::string_view(text == nullptr ? "" : text);
  };
  return isatty(STDOUT_FILENO) == 1 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

}  // namespace

void say(const std::string& text) { std::fputs(text.c_str(), stdout); }

void warn(const std::string& line) { std::fprintf(stderr, "kbench: %s\n", line.c_str()); }

size_t terminal_width(std::FILE* stream) {
  winsize size = {};
  if (isatty(fileno(stream)) != 1) return 0;
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

std::string coloured_name(Verdict verdict) {
  static const bool takes = takes_colours();
  const std::string name(name_of(verdict));
  if (!takes) return name;
  const bool right = verdict == Verdict::passed || verdict == Verdict::compiles;
  const char* const colour = right                              ? "\033[32m"
                             : is_infrastructure_fault(verdict) ? "\033[33m"
                                                                : "\033[31m";
  return colour + name + "\033[0m";
}

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
