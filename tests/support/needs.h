// What tests use that a bare machine lacks (docs/development.md).
#pragma once

#include <iostream>
#include <string>

namespace kbench::testing {

/// Says that a test uses this, "zsh (Debian: zsh)", or needs it where it is not there: in a line of
/// its own, which `./dev test` reads.
inline bool has(bool present, const std::string& what) {
  std::cout << '\n' << (present ? "uses " : "needs ") << what << std::endl;
  return present;
}

}  // namespace kbench::testing
