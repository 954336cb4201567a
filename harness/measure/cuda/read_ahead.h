// NVIDIA's compilers are libraries of 100 MB: where no process has used them for a while, opening
// one waits for a disk.
#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace kbench::cuda {

/// Reads files into the system's cache, on a thread of its own. Files that cannot be read are
/// skipped: opening them later reports why.
class ReadAhead {
 public:
  explicit ReadAhead(std::vector<std::string> files);
  ~ReadAhead() { stop(); }
  ReadAhead(const ReadAhead&) = delete;

  /// Stops and joins the thread.
  void stop();

 private:
  void read(const std::string& file) const;

  std::vector<std::string> files_;
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

}  // namespace kbench::cuda
