// Files of tasks, made known to the process.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>

#include "kbench/certificate.h"
#include "kbench/error.h"
#include "kbench/task_file.h"
#include "libkbench/base/files.h"
#include "libkbench/base/text.h"
#include "libkbench/core/in_words.h"
#include "libkbench/core/own_tasks.h"
#include "libkbench/task_file/task_file.h"

namespace kbench {

namespace fs = std::filesystem;

namespace {

/// Begins a line behind a task's text that is one of its certificates: they go wherever the text
/// goes. To YAML it is a comment, which changes no meaning.
constexpr std::string_view kCertificate = "#kbench-certificate ";

/// The file's text, and the certificates beside it.
std::string text_with_certificates(const std::string& file) {
  std::string text = read_file(file);
  if (!fs::exists(certificates_beside(file))) return text;
  std::istringstream lines(read_file(certificates_beside(file)));
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) text.append("\n").append(kCertificate).append(line);
  }
  return text;
}

/// Takes those in the task's text that are of its meaning and its tolerance.
void take_certificates(const std::string& file, Task& task) {
  std::istringstream lines(task.file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kCertificate)) continue;
    const auto made = std::make_shared<const CertificateFile>(
        parse_certificates(line.substr(kCertificate.size()), "a certificate of " + shown(file)));
    const bool its = !made->tasks.empty() && made->tasks.front().task == task.id &&
                     made->tasks.front().tolerance == bounds_of(task, made->dtype).relative;
    if (its) task.certificates.push_back(made);
    if (!its)
      task.ignored_certificates.push_back(preset_in_words(name_of(made->preset), made->dtype));
  }
}

/// Throws as add_task_file().
Task task_of_file(const std::string& text, const std::string& file) {
  const auto read = read_task_file(text, file);
  Task task{.id = read->id,
            .name = read->title,
            .family = read->family,
            .variables = read->variables,
            .build = [read](Graph& graph) { build_graph_of(*read, graph); },
            .tolerance = read->tolerance,
            .honest = read->honest,
            .file = text};
  build_graph(task, Preset::smoke);
  take_certificates(file, task);
  return task;
}

}  // namespace

const Task& add_task_file(const std::string& text, const std::string& file) {
  return add_own_task(task_of_file(text, file));
}

std::string certificates_beside(const std::string& file) {
  return fs::path(file).replace_extension(".certificates.jsonl").string();
}

std::string module_behind(const Task& task) {
  return task.file.empty() ? "" : read_task_file(task.file, to_string(task.id))->module;
}

std::vector<std::string> own_task_files() {
  std::vector<std::string> texts;
  for (const Task* task : own_tasks()) texts.push_back(task->file);
  return texts;
}

void set_task_files(const std::vector<std::string>& texts) {
  std::vector<std::shared_ptr<const Task>> wanted;
  for (const std::string& text : texts) {
    auto task = lookup_own_file(text);
    if (!task) task = std::make_shared<const Task>(task_of_file(text, "a task's file"));
    wanted.push_back(std::move(task));
  }
  set_own_tasks(std::move(wanted));
}

CandidateSource for_another_machine(const CandidateSource& source) {
  CandidateSource whole = in_memory(source);
  if (!whole.task_file.empty()) return whole;
  if (const std::optional<Candidate> candidate = candidate_if_readable(whole)) {
    const Task* const task = lookup_task(candidate->task);
    if (task != nullptr) whole.task_file = task->file;
  }
  return whole;
}

bool is_task_path(std::string_view text) {
  std::error_code error;
  return text.ends_with(".yaml") || text.ends_with(".yml") || text.starts_with("./") ||
         text.starts_with("../") || text.starts_with('/') ||
         (text.ends_with('/') && fs::is_directory(text, error));
}

TaskSet TaskSet::from_path(const std::string& path) {
  std::vector<std::string> files = {path};
  std::error_code error;
  if (fs::is_directory(path, error)) {
    files.clear();
    for (const auto& entry : fs::directory_iterator(path, error)) {
      if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
    }
    if (error) throw Error(ErrorCode::kIo, "cannot list " + quoted(path) + ": " + error.message());
    std::ranges::sort(files);
    if (files.empty()) {
      throw Error(ErrorCode::kInvalidArgument, quoted(path) + " has no task's file (*.yaml)");
    }
  }
  TaskSet set;
  std::set<std::string> names;
  for (const std::string& file : files) {
    const Task& task = add_task_file(text_with_certificates(file), file);
    if (!names.insert(task.id.own).second) {
      throw Error(ErrorCode::kInvalidArgument,
                  quoted(path) + " has two tasks called " + task.id.own + "; one is " + file);
    }
    set.tasks_.push_back(&task);
  }
  std::ranges::sort(set.tasks_, {}, [](const Task* task) { return task->id.own; });
  return set;
}

std::vector<const Task*> select_tasks_and_files(std::string_view selection, Names names) {
  std::vector<const Task*> chosen;
  std::string others;
  while (!selection.empty()) {
    const size_t comma = std::min(selection.find(','), selection.size());
    const std::string item(selection.substr(0, comma));
    if (is_task_path(item)) {
      const TaskSet set = TaskSet::from_path(item);
      chosen.insert(chosen.end(), set.tasks().begin(), set.tasks().end());
    } else {
      others += (others.empty() ? "" : ",") + item;
    }
    selection.remove_prefix(std::min(comma + 1, selection.size()));
  }
  if (others.empty() && !chosen.empty()) return chosen;
  const std::vector<const Task*> more = select_tasks(others, tasks(), names);
  chosen.insert(chosen.end(), more.begin(), more.end());
  return chosen;
}

}  // namespace kbench
