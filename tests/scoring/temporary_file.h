// A file that goes when the test does.
#pragma once

#include <fstream>
#include <string>

#include "tests/scratch_folder.h"

namespace kbench::testing {

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name) : path_(folder_.path(name)) {}

  const std::string& path() const { return path_; }
  void write(const std::string& text) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << text;
  }

 private:
  ScratchFolder folder_;
  std::string path_;
};

}  // namespace kbench::testing
