#include "harness/generate/run_folder.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "kbench/error.h"
#include "libkbench/src/file_lock.h"
#include "libkbench/src/files.h"

namespace kbench::generate {
namespace {

constexpr int kGroup = 1000;  ///< samples in a folder of their own

std::string two_digits(int number) { return (number < 10 ? "0" : "") + std::to_string(number); }

}  // namespace

RunFolder::RunFolder(std::string path) : path_(std::move(path)) {
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
}

std::string RunFolder::prompt(const std::string& hash) const {
  return path_ + "/prompts/" + hash.substr(0, 2) + "/" + hash + ".json";
}

std::string RunFolder::transcript(const std::string& model, TaskId task) const {
  return path_ + "/transcripts/" + folder_name(model) + "/" + file_name(task) + ".jsonl";
}

std::string RunFolder::candidates(const std::string& model) const {
  return path_ + "/candidates/" + folder_name(model);
}

std::string RunFolder::attempt(const std::string& model, TaskId task, int sample,
                               int number) const {
  std::string group;
  if (sample >= kGroup) group = "s" + std::to_string(sample / kGroup) + "k/";
  return "candidates/" + folder_name(model) + "/" + file_name(task) + "/" + group + "s" +
         two_digits(sample) + "/a" + std::to_string(number);
}

std::string file_name(TaskId task) {
  char name[40];
  std::snprintf(name, sizeof name, "level%d_%03d", task.level, task.number);
  return name;
}

std::string folder_name(const std::string& model) {
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

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw_io("make the folder", path, error.value());
}

RunLock::RunLock(const RunFolder& run) {
  fd_.reset(open(run.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!fd_.open()) throw_io("write", run.lock());
  lock_file(fd_.get(), run.path(), "working on it");
}

}  // namespace kbench::generate
