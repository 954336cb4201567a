// Tests whose parameter is a task, or ten of them: values, names, and how GoogleTest prints them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <ostream>
#include <string>
#include <vector>

#include "kbench/task.h"

namespace kbench {

/// How GoogleTest prints tasks.
inline void PrintTo(TaskId id, std::ostream* out) { *out << to_string(id); }
inline void PrintTo(const Task& task, std::ostream* out) { *out << to_string(task.id); }

/// A part of a test's name: letters and digits alone.
inline std::string as_test_name(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return text;
}

/// "level1_19_ReLU".
inline std::string test_name(const ::testing::TestParamInfo<Task>& info) {
  return as_test_name(to_string(info.param.id) + "_" + info.param.name);
}

/// The suite in selections of ten, "level2/11-20": for tests that open a device, which takes longer
/// than most tasks do, and all together take minutes.
inline std::vector<std::string> tens_of_tasks() {
  std::vector<std::string> selections;
  for (const Task& task : tasks()) {
    const int first = (task.id.number - 1) / 10 * 10 + 1;
    const std::string selection = "level" + std::to_string(task.id.level) + "/" +
                                  std::to_string(first) + "-" + std::to_string(first + 9);
    if (selections.empty() || selections.back() != selection) selections.push_back(selection);
  }
  return selections;
}

/// "level2_11_20".
inline std::string tens_name(const ::testing::TestParamInfo<std::string>& info) {
  return as_test_name(info.param);
}

}  // namespace kbench
