#include "harness/evaluate/generate/run_folder.h"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "kbench/error.h"
#include "libkbench/base/file_lock.h"
#include "libkbench/base/files.h"
#include "libkbench/scoring/run_names.h"

namespace kbench::generate {
RunFolder::RunFolder(std::string path) : path_(std::move(path)) {
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
}

std::string RunFolder::prompt(const std::string& hash) const {
  return path_ + "/prompts/" + hash.substr(0, 2) + "/" + hash + ".json";
}

std::string RunFolder::transcript(const std::string& model, TaskId task) const {
  return path_ + "/transcripts/" + run_folder_name(model) + "/" + run_file_name(task) + ".jsonl";
}

std::string RunFolder::candidates(const std::string& model) const {
  return path_ + "/candidates/" + run_folder_name(model);
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
