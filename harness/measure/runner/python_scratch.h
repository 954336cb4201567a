// The folder that Triton's Python writes to: its size, and its removal even if the candidate's code
// has nested it deeply or made it unreadable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "libkbench/base/files.h"

namespace kbench::runner {

/// Removes a folder and everything below it, nested to any depth, unreadable folders too, with two
/// descriptors and constant memory. No process may use it any more. Returns an error message or "".
std::string remove_tree(const std::string& path);

struct ScratchLimits {
  uint64_t bytes = uint64_t{1} << 30;
  size_t files = 10000;  ///< and folders
  size_t depth = 100;    ///< of folders in folders
};

/// Which limit the content of a folder exceeds: "more than ... bytes"; empty for none. Processes
/// may use the folder meanwhile.
std::string over_limit(const std::string& path, const ScratchLimits& limits);

/// A new folder for temporary files. A candidate's code may write to it at any time, so this
/// process reaches what lies in it by the folder's descriptor only, and never through a link.
class PythonScratch {
 public:
  /// Throws kIo.
  PythonScratch();
  /// Removes it unless remove() has.
  ~PythonScratch();
  PythonScratch(const PythonScratch&) = delete;

  const std::string& path() const { return path_; }
  /// For the process that is locked in.
  std::string path(const std::string& name) const { return path_ + "/" + name; }
  /// Writes a new file. Throws kIo if it cannot be written, or if the name is taken or no plain
  /// one.
  void write(const std::string& name, std::string_view text) const;
  /// Opens a folder in it, which is made if it is missing; not open if it is none or cannot be
  /// made.
  UniqueFd folder(const std::string& name) const;
  /// Throws kIo if it cannot be removed.
  void remove();

 private:
  std::string path_;
  UniqueFd folder_;
  bool there_ = true;
};

}  // namespace kbench::runner
