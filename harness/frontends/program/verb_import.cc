#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/frontends/program/options.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/error.h"
#include "kbench/import.h"
#include "libkbench/base/files.h"
#include "libkbench/base/json_text.h"

namespace kbench::program {
namespace {

namespace fs = std::filesystem;

struct ImportVerbOptions {
  std::vector<std::string> files;
  std::string task, out, preset = "v0.1";
  bool json = false;
};

struct Counts {
  size_t imported = 0;
  std::map<std::string, size_t> obstacles;
};

/// Prints one line for each finding, like a compiler.
void print_finding(std::FILE* to, const std::string& kind, const ImportFinding& finding) {
  std::fprintf(to, "%s%s: %s\n", shown(at(finding.at), 300).c_str(), kind.c_str(),
               shown(finding.message, 300).c_str());
}

/// The output path, with a name that no other file of this run has.
fs::path target(const std::string& file, TaskId task, const std::string& folder,
                std::set<std::string>& taken) {
  std::string stem;
  for (char c : fs::path(file).stem().string()) {
    stem += std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' ? c : '_';
  }
  const std::string name = "level" + std::to_string(task.level) + "_" +
                           std::to_string(task.number) + "_" + stem.substr(0, 80);
  std::string unique = name;
  for (int n = 2; !taken.insert(unique).second; ++n) unique = name + "_" + std::to_string(n);
  return fs::path(folder) / (unique + ".yaml");
}

/// The outcome of one file as JSON.
nlohmann::ordered_json import_json(const std::string& file, const Imported& found) {
  const auto findings = [](const std::vector<ImportFinding>& all, bool kinds) {
    auto list = nlohmann::ordered_json::array();
    for (const ImportFinding& finding : all) {
      auto& entry = list.emplace_back();
      if (kinds) entry["kind"] = name_of(finding.obstacle);
      entry["line"] = finding.at.line;
      entry["message"] = finding.message;
    }
    return list;
  };
  nlohmann::ordered_json line;
  line["file"] = file;
  line["imported"] = !found.yaml.empty();
  line["launches"] = found.launches;
  line["operators"] = found.operators;
  line["notes"] = findings(found.notes, false);
  line["obstacles"] = findings(found.obstacles, true);
  return line;
}

/// The task of --task, else the one in the path; "19_ReLU.py" in a folder "level1" has one.
TaskId task_for(const std::string& file, const ImportVerbOptions& options) {
  if (!options.task.empty()) return named_task(options.task).id;
  std::error_code error;
  const fs::path whole = fs::absolute(file, error);
  const auto id = task_of_kernel_file(error ? file : whole.string());
  if (id && lookup_task(*id) != nullptr) return *id;
  throw Error(ErrorCode::kNotFound, "the path names no task of the suite; say which with --task");
}

/// Imports one file. A file that cannot be read, or has no task, counts as not imported; `failure`
/// then says which of the two, as a word.
Imported import_file(const std::string& file, const ImportVerbOptions& options, TaskId& id,
                     std::string& failure) {
  try {
    failure = "unreadable";
    const std::string text = read_file(file);
    failure = "no_task";
    id = task_for(file, options);
    failure.clear();
    return import_kernelbench(text, file, find_task(id), {preset_from_name(options.preset)});
  } catch (const Error& error) {
    if (failure.empty()) throw;
    Imported none;
    none.obstacles.emplace_back().message = error.what();
    return none;
  }
}

void import_one(const std::string& file, const ImportVerbOptions& options,
                std::set<std::string>& taken, Counts& counts) {
  TaskId id;
  std::string failure;
  const Imported found = import_file(file, options, id, failure);
  counts.imported += !found.yaml.empty();
  for (const ImportFinding& obstacle : found.obstacles) {
    ++counts.obstacles[failure.empty() ? std::string(name_of(obstacle.obstacle)) : failure];
  }
  std::string to;
  if (!found.yaml.empty() && !options.out.empty()) {
    to = target(file, id, options.out, taken).string();
    replace_file(to, found.yaml);
  }
  if (options.json) {
    auto line = import_json(file, found);
    if (!failure.empty()) line["obstacles"][0]["kind"] = failure;
    if (failure.empty()) line["task"] = to_string(id);
    if (!to.empty()) line["candidate"] = to;
    if (to.empty() && !found.yaml.empty()) line["yaml"] = found.yaml;
    std::printf("%s\n", json_text(line).c_str());
    return;
  }
  std::FILE* const to_user = options.out.empty() ? stderr : stdout;  // the candidate goes to stdout
  if (!failure.empty()) {
    std::fprintf(to_user, "%s: %s: %s\n", shown(file).c_str(), failure.c_str(),
                 shown(found.obstacles[0].message, 300).c_str());
    return;
  }
  for (const ImportFinding& note : found.notes) print_finding(to_user, "note", note);
  for (const ImportFinding& obstacle : found.obstacles) {
    print_finding(to_user, std::string(name_of(obstacle.obstacle)), obstacle);
  }
  if (found.yaml.empty()) return;
  if (options.out.empty()) {
    std::fputs(found.yaml.c_str(), stdout);
    return;
  }
  std::string builtin;
  for (const std::string& op : found.operators)
    builtin += (builtin.empty() ? ", built-in: " : ", ") + op;
  std::printf("%s -> %s  %s, %zu %s%s\n", shown(file).c_str(), shown(to).c_str(),
              to_string(id).c_str(), found.launches, found.launches == 1 ? "launch" : "launches",
              builtin.c_str());
}

int run_import(const ImportVerbOptions& options) {
  if (options.files.size() > 1 && options.out.empty() && !options.json) {
    throw Error(ErrorCode::kInvalidArgument,
                "several files need --out, a folder for the candidates");
  }
  preset_from_name(options.preset);
  if (!options.task.empty()) named_task(options.task);
  if (!options.out.empty()) {
    std::error_code error;
    fs::create_directories(options.out, error);
    if (error || !fs::is_directory(options.out)) {
      throw Error(ErrorCode::kIo, "cannot make folder " + shown(options.out));
    }
  }
  Counts counts;
  std::set<std::string> taken;
  for (const std::string& file : options.files) import_one(file, options, taken, counts);
  if (options.files.size() > 1 && !options.json) {
    std::string reasons;
    for (const auto& [name, count] : counts.obstacles) {
      reasons += (reasons.empty() ? "; not imported: " : ", ") + name + " " + std::to_string(count);
    }
    std::printf("%zu of %zu imported%s\n", counts.imported, options.files.size(), reasons.c_str());
  }
  return counts.imported == options.files.size() ? kDone : kFailed;
}

}  // namespace

Verb add_import(Command program) {
  auto options = std::make_shared<ImportVerbOptions>();
  const Command app = program.add_verb(
      "import", "A candidate from a KernelBench kernel file",
      "Reads Python files with class ModelNew and inline CUDA (load_inline) and writes them as "
      "candidates, as far as they are kernels and simple launches. Nothing of them is executed. "
      "Says by file and line what was not followed. The task is the one that the path names "
      "(level1/19_ReLU.py, level_1_problem_19_sample_0_kernel.py) or --task. Exit code 1 when a "
      "file was not imported; the others are.",
      "  kbench import level1/19_ReLU.py > relu.yaml\n"
      "  kbench import runs/*.py --out imported\n"
      "  kbench --candidates imported");
  app.add_option("FILE", options->files, "Kernel files").required();
  app.add_option("--task TASK", options->task, "The task that all files are for");
  app.add_setting(
      "--preset PRESET", options->preset,
      std::string("Sizes to take where a number or a branch cannot follow them: ") + kPresetNames);
  const Command output = app.in_group("Output");
  output.add_option("--out DIR", options->out, "Write the candidates into this folder");
  output.add_flag("--json", options->json,
                  "A line of JSON a file: what was imported, and what not");
  return {app, [options] { return run_import(*options); }};
}

}  // namespace kbench::program
