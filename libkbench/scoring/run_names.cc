#include "libkbench/scoring/run_names.h"

#include <algorithm>
#include <cstdio>

namespace kbench {
namespace {

constexpr int kGroup = 1000;  ///< samples in a folder of their own

}  // namespace

std::string run_file_name(const TaskId& task) {
  if (!task.own.empty()) return run_folder_name("own_" + task.own);
  char name[40];
  std::snprintf(name, sizeof name, "level%d_%03d", task.level, task.number);
  return name;
}

std::string run_folder_name(const std::string& model) {
  std::string name = model;
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) {
        return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 c == '.' || c == '_' || c == '-' || c == '+');
      },
      '_');
  if (name.empty() || name.front() == '.') name.insert(0, "_");
  return name;
}

std::string run_attempt_folder(const std::string& model, const TaskId& task, int sample,
                               int attempt) {
  std::string group;
  if (sample >= kGroup) group = "s" + std::to_string(sample / kGroup) + "k/";
  return "candidates/" + run_folder_name(model) + "/" + run_file_name(task) + "/" + group + "s" +
         (sample < 10 ? "0" : "") + std::to_string(sample) + "/a" + std::to_string(attempt);
}

}  // namespace kbench
