// The folder that Triton's Python writes to: how much is in it, and how it is removed, also where
// the candidate's own code has nested it deeply or made it unreadable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace kbench::runner {

/// Removes a folder with all that is below it: folders nested to any depth, and such that nobody
/// may read. No process may be at work there any more. Needs two descriptors and no memory for the
/// depth. Returns what went wrong, or nothing.
std::string remove_tree(const std::string& path);

struct ScratchLimits {
  uint64_t bytes = uint64_t{1} << 30;
  size_t files = 10000;  ///< and folders
  size_t depth = 100;    ///< of folders in folders
};

/// Which of the limits is passed below a folder: "more than ... bytes"; empty for none. Others may
/// be at work there; what one of them removes meanwhile is not counted.
std::string over_limit(const std::string& path, const ScratchLimits& limits);

/// A new folder for temporary files.
class PythonScratch {
 public:
  /// Throws kIo.
  PythonScratch();
  /// Removes it where remove() has not.
  ~PythonScratch();
  PythonScratch(const PythonScratch&) = delete;

  const std::string& path() const { return path_; }
  std::string path(const std::string& name) const { return path_ + "/" + name; }
  /// Throws kIo when it cannot be removed.
  void remove();

 private:
  std::string path_;
  bool there_ = true;
};

}  // namespace kbench::runner
