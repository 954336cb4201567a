// What the candidate tests share.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>

#include "kbench/candidate.h"
#include "kbench/error.h"

namespace kbench::testing_support {

/// A folder that goes when the test ends.
class ScratchFolder {
 public:
  ScratchFolder() {
    static std::atomic<int> count{0};
    path_ = std::filesystem::temp_directory_path() /
            ("kbench-candidate-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
    std::filesystem::create_directories(path_);
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;

  std::string path(const std::string& name = "") const {
    return name.empty() ? path_.string() : (path_ / name).string();
  }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
  }

 private:
  std::filesystem::path path_;
};

/// Runs f, which must throw a kbench::Error at that place with that text in its message.
template <class F>
void expect_error(F f, int line, int column, const std::string& message) {
  try {
    f();
    FAIL() << "no error; expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.location().line, line) << error.what();
    EXPECT_EQ(error.location().column, column) << error.what();
    EXPECT_THAT(error.message(), ::testing::HasSubstr(message));
    EXPECT_EQ(error.message().find('\n'), std::string::npos) << error.what();
  }
}

inline Candidate parse(const std::string& text) { return parse_candidate(text, "c.yaml", "."); }

}  // namespace kbench::testing_support
