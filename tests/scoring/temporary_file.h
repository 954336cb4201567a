// A file that goes when the test does.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace kbench::testing {

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name)
      : folder_(std::filesystem::temp_directory_path() /
                ("kbench_" + std::to_string(getpid()) + "_" + name)) {
    std::filesystem::create_directories(folder_);
    path_ = (folder_ / name).string();
  }
  ~TemporaryFile() { std::filesystem::remove_all(folder_); }
  TemporaryFile(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }
  void write(const std::string& text) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << text;
  }

 private:
  std::filesystem::path folder_;
  std::string path_;
};

}  // namespace kbench::testing
