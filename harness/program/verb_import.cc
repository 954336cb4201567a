#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "harness/program/help.h"
#include "harness/program/options.h"
#include "harness/program/verbs.h"
#include "kbench/import.h"
#include "kbench/text.h"
#include "libkbench/src/files.h"

namespace kbench::program {
namespace {

namespace fs = std::filesystem;

struct ImportVerbOptions {
  std::vector<std::string> files;
  std::string task, out, preset = "v0.1";
};

struct Counts {
  size_t imported = 0;
  std::map<std::string, size_t> obstacles;
};

/// A line a finding, as compilers write them.
void print_finding(std::FILE* to, const std::string& kind, const ImportFinding& finding) {
  std::fprintf(to, "%s%s: %s\n", shown(at(finding.at), 300).c_str(), kind.c_str(),
               shown(finding.message, 300).c_str());
}

/// A name that no other file of this run took.
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

void import_one(const std::string& file, const ImportVerbOptions& options,
                std::set<std::string>& taken, Counts& counts) {
  std::optional<TaskId> id;
  if (!options.task.empty()) {
    id = parse_task_id(options.task);
  } else {
    id = task_of_kernel_file(file);
  }
  if (!id || lookup_task(*id) == nullptr) {
    std::printf("%s: no_task: the path names no task of the suite; say which with --task\n",
                shown(file).c_str());
    ++counts.obstacles["no_task"];
    return;
  }
  const Imported found =
      import_kernelbench(read_file(file), file, find_task(*id), {preset_from_name(options.preset)});
  std::FILE* const to_user = options.out.empty() ? stderr : stdout;  // A candidate is on stdout.
  for (const ImportFinding& note : found.notes) print_finding(to_user, "note", note);
  for (const ImportFinding& obstacle : found.obstacles) {
    const std::string name(name_of(obstacle.obstacle));
    print_finding(to_user, name, obstacle);
    ++counts.obstacles[name];
  }
  if (found.yaml.empty()) return;
  ++counts.imported;
  if (options.out.empty()) {
    std::fputs(found.yaml.c_str(), stdout);
    return;
  }
  const fs::path to = target(file, *id, options.out, taken);
  replace_file(to.string(), found.yaml);
  std::string builtin;
  for (const std::string& op : found.operators)
    builtin += (builtin.empty() ? ", built-in: " : ", ") + op;
  std::printf("%s -> %s  %s, %zu %s%s\n", shown(file).c_str(), shown(to.string()).c_str(),
              to_string(*id).c_str(), found.launches, found.launches == 1 ? "launch" : "launches",
              builtin.c_str());
}

int run_import(const ImportVerbOptions& options) {
  if (options.files.size() > 1 && options.out.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "several files need --out, a folder for the candidates");
  }
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
  if (options.files.size() > 1) {
    std::string reasons;
    for (const auto& [name, count] : counts.obstacles) {
      reasons += (reasons.empty() ? "; not followed: " : ", ") + name + " " + std::to_string(count);
    }
    std::printf("%zu of %zu imported%s\n", counts.imported, options.files.size(), reasons.c_str());
  }
  return counts.imported == options.files.size() ? kDone : kFailed;
}

}  // namespace

Verb add_import(CLI::App& program) {
  auto options = std::make_shared<ImportVerbOptions>();
  CLI::App* app = add_verb(
      program, "import", "A candidate from a KernelBench kernel file",
      "Reads Python files with class ModelNew and inline CUDA (load_inline) and writes them as\n"
      "candidates, as far as they are kernels and simple launches. Nothing of them is executed. "
      "Says "
      "by\n"
      "file and line what was not followed. The task is the one the path names "
      "(level1/19_ReLU.py,\n"
      "level_1_problem_19_sample_0_kernel.py) or --task. Exit code 1 when a file was not imported.",
      "  kbench import level1/19_ReLU.py > relu.yaml\n"
      "  kbench import runs/*.py --out imported && kbench run --candidates imported");
  app->add_option("FILE", options->files, "Kernel files")->required()->option_text("FILE...");
  app->add_option("--task", options->task, "The task that all files are for")->option_text("TASK");
  app->add_option("--preset", options->preset,
                  "Sizes to take where a number or a branch cannot follow them: smoke, v0 or v0.1")
      ->option_text("PRESET")
      ->capture_default_str();
  app->add_option("--out", options->out, "Write the candidates into this folder")
      ->group("Output")
      ->option_text("FOLDER");
  return {app, [options] { return run_import(*options); }};
}

}  // namespace kbench::program
