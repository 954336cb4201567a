// Waiting for a line of standard input or for a file that is saved, whichever comes first.
#pragma once

#include <optional>
#include <string>

#include "libkbench/base/unique_fd.h"

namespace kbench::program {

class Watch {
 public:
  /// Of the files in a folder, not below it. Throws kIo.
  explicit Watch(const std::string& folder);

  enum class What { line, saved, end };
  struct Happened {
    What what = What::end;  ///< end: of standard input
    std::string line;
  };
  /// Several saves within a tenth of a second are one.
  Happened next();
  /// Forgets saves that nobody has waited for.
  void drain();

 private:
  std::optional<std::string> take_line();
  bool take_saves();

  UniqueFd events_;
  std::string input_;
  bool input_ended_ = false;
};

}  // namespace kbench::program
