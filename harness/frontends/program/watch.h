// Waits until a file in a folder is saved.
#pragma once

#include <string>

#include "libkbench/base/unique_fd.h"

namespace kbench::program {

class Watch {
 public:
  /// Throws kIo if the folder cannot be watched.
  explicit Watch(const std::string& folder);

  /// Blocks until a file was saved in the folder, since the last call or from now on, and nothing
  /// more is saved for a moment. What editors keep for themselves does not count. Throws kIo.
  void wait();

 private:
  bool take_saves();

  UniqueFd events_;
};

}  // namespace kbench::program
