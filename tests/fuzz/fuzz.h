// What the fuzzers share. Each is one function over bytes: a kbench::Error is an answer like any
// other; whatever else leaves it, a sanitizer's report or a broken promise is a finding.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

#include "kbench/error.h"

namespace kbench::fuzz {

/// Bytes the fuzzers look at: longer inputs are slower and find nothing that these do not.
constexpr size_t kMostBytes = size_t{1} << 16;

inline std::string text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Ends the process, so that libFuzzer keeps the input, where a promise does not hold.
inline void promise(bool holds, std::string_view what) {
  if (holds) return;
  std::cerr << "broken promise: " << what << '\n';
  std::abort();
}

/// Whether f ended without an error.
template <class F>
bool succeeds(F f) {
  try {
    f();
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// A file that holds the input, for readers that take a path.
class InputFile {
 public:
  explicit InputFile(const std::string& name)
      : folder_(std::filesystem::temp_directory_path() /
                ("kbench-fuzz-" + std::to_string(::getpid()))),
        path_((folder_ / name).string()) {
    std::filesystem::create_directories(folder_);
  }
  ~InputFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  InputFile(const InputFile&) = delete;

  const std::string& write(const uint8_t* data, size_t size) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << text_of(data, size);
    return path_;
  }

 private:
  std::filesystem::path folder_;
  std::string path_;
};

}  // namespace kbench::fuzz
