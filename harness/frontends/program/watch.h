// Waits for a line on standard input or a saved file, whichever comes first.
#pragma once

#include <optional>
#include <string>

#include "libkbench/base/unique_fd.h"

namespace kbench::program {

class Watch {
 public:
  /// Watches the files in a folder, without sub-folders. Throws kIo.
  explicit Watch(const std::string& folder);

  enum class What { line, saved, end };
  struct Happened {
    What what = What::end;  ///< end: standard input has ended
    std::string line;
  };
  /// Several saves within 0.1 s count as one.
  Happened next();
  /// Discards saves so far.
  void drain();

 private:
  std::optional<std::string> take_line();
  bool take_saves();

  UniqueFd events_;
  std::string input_;
  bool input_ended_ = false;
};

}  // namespace kbench::program
