// NVIDIA's compilers are libraries of 100 MB: where no process has used them for a while, opening
// one waits for a disk.
#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace kbench::cuda {

/// Has the system read files into its cache, on a thread of its own, while something else is waited
/// for. What cannot be read is left alone: opening it later says why.
class ReadAhead {
 public:
  explicit ReadAhead(std::vector<std::string> files);
  ~ReadAhead() { stop(); }
  ReadAhead(const ReadAhead&) = delete;

  /// Asks for no more. When it returns the thread has ended.
  void stop();

 private:
  void read(const std::string& file) const;

  std::vector<std::string> files_;
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

}  // namespace kbench::cuda
