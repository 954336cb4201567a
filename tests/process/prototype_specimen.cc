// A program that serves copies of itself. Each copy does what it is told and prints what it has.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "harness/measure/process/prototype.h"

namespace {

/// Set before the first copy.
std::string made;

void say(const std::string& line) { std::printf("%s\n", line.c_str()); }

void say_what_is_open() {
  std::string open;
  for (int fd = 0; fd < 256; ++fd) {
    if (std::filesystem::exists("/proc/self/fd/" + std::to_string(fd))) {
      open += std::to_string(fd) + " ";
    }
  }
  say(open);
}

}  // namespace

int main() {
  made = "made by " + std::to_string(getpid());
  const std::string told = kbench::process::serve_copies();
  if (told == "crash") std::abort();
  if (told == "sleep") return static_cast<int>(sleep(1000));
  if (told == "open") say_what_is_open();
  if (told == "made") say(made);
  if (told == "parent") say(std::to_string(getppid()) + " " + std::to_string(getpgrp()));
  if (told == "folder") {
    std::error_code error;
    std::filesystem::create_directory("below", error);
    say(error ? "nothing can be made" : "something was made");
  }
  if (told == "descriptor") return write(kbench::process::kCopyDescriptor, "here", 4) == 4 ? 0 : 1;
  return 7;
}
