#include "harness/frontends/program/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace kbench::program {
namespace {

bool takes_colours() {
  const auto variable = [](const char* name) {
    const char* const text = std::getenv(name);
    return std::string_view(text == nullptr ? "" : text);
  };
  return isatty(STDOUT_FILENO) == 1 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

const char* code_of(Colour colour) {
  switch (colour) {
    case Colour::good:
      return "\033[32m";
    case Colour::bad:
      return "\033[31m";
    case Colour::doubtful:
      return "\033[33m";
  }
  return "";
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

std::string coloured(const std::string& text, Colour colour) {
  static const bool takes = takes_colours();
  return takes ? code_of(colour) + text + "\033[0m" : text;
}

std::string coloured_name(Verdict verdict) {
  const bool no_fault = is_infrastructure_fault(verdict);
  const bool right = verdict == Verdict::passed || verdict == Verdict::compiles;
  return coloured(std::string(name_of(verdict)), right      ? Colour::good
                                                 : no_fault ? Colour::doubtful
                                                            : Colour::bad);
}

}  // namespace kbench::program
