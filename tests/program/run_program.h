// Runs the built program as a user would, and keeps what it said.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/scratch_folder.h"
#include "tests/support/devices.h"

namespace kbench::testing {

struct Said {
  int code = -1;  ///< exit code; 128 + signal when it was killed
  std::string out, err;
};

/// KBENCH_PROGRAM with these arguments, in `folder` when one is given.
Said run_program(const std::vector<std::string>& arguments, const std::string& folder = "");

/// A script of the shell, in which "$KBENCH" is the program. Each command that its output tells the
/// reader to type is run, too, and must be a right one.
Said run_in_shell(const std::string& script, const std::string& folder = "");

std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& text);
size_t count_lines(const std::string& text);
/// The names that the main job prints with --benchmark_list_tests, in its order.
std::vector<std::string> listed_experiments(const std::string& out);

}  // namespace kbench::testing
