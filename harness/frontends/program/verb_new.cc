// A candidate to start from: built-in steps, or a kernel that ships.
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "harness/evaluate/generate/store.h"
#include "harness/evaluate/prompts/examples.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/verbs.h"
#include "harness/measure/trial/experiment.h"
#include "kbench/candidate.h"
#include "kbench/error.h"
#include "kbench/task.h"
#include "kbench/task_file.h"
#include "libkbench/base/files.h"
#include "libkbench/scoring/run_names.h"

namespace kbench::program {
namespace {

namespace fs = std::filesystem;

using Files = std::map<std::string, std::string>;

/// Where kernels of a language ship, simpler ones first.
const std::map<std::string, std::vector<std::string>> kFolders = {
    {"glsl", {"candidates/simple", "candidates/fused"}},
    {"hlsl", {"examples/hlsl"}},
    {"cuda", {"candidates/cuda"}},
    {"triton", {"candidates/triton"}}};

struct NewOptions {
  std::string task, folder, language;
  SizeOptions size;
  DeviceOptions device;
};

/// The preset that `kbench run` takes here; v0 without a device.
Preset preset_of(const Task& task, const NewOptions& options) {
  if (options.size.preset != "auto") return options.size.fixed_preset();
  const Task* const tasks[] = {&task};
  try {
    return trial::choose_preset("auto", tasks, options.size.overrides(), options.size.dtype(),
                                options.device.choose());
  } catch (const Error&) {
    return Preset::v0;
  }
}

std::set<std::string> operators_of(const Task& task) {
  std::set<std::string> names;
  const auto graph = build_graph(task, Preset::smoke);
  for (const Graph::Node& node : graph->nodes()) names.insert(node.call.op->name);
  return names;
}

/// The share of operators that both tasks have, `ours` being those of `a`; less for a task of
/// another level.
double likeness(const Task& a, const std::set<std::string>& ours, const Task& b) {
  if (a.id == b.id) return 2;
  const std::set<std::string> theirs = operators_of(b);
  std::set<std::string> all = ours;
  all.insert(theirs.begin(), theirs.end());
  const auto both = static_cast<double>(ours.size() + theirs.size() - all.size());
  return both / static_cast<double>(all.size()) - (a.id.level == b.id.level ? 0 : 0.2);
}

/// The kernel of the task, or of the task that is likest to it. Throws kNotFound where none ships
/// in the type.
prompts::Example nearest_kernel(const Task& task, const std::string& language, DType dtype) {
  const std::set<std::string> operators = operators_of(task);
  std::optional<prompts::Example> best;
  double most = -1;
  for (const std::string& folder : kFolders.at(language)) {
    for (const auto& [name, text] : prompts::embedded_folder(folder)) {
      if (!name.ends_with(".yaml")) continue;
      prompts::Example example =
          prompts::load_example(folder.substr(folder.find('/') + 1) + "/" + name);
      const double like = likeness(task, operators, find_task(example.candidate.task));
      if (like <= most || !is_for(example.candidate, dtype)) continue;
      most = like;
      best = std::move(example);
    }
  }
  if (best) return std::move(*best);
  throw Error(ErrorCode::kNotFound, "no kernel in " + language + " ships that is written for " +
                                        std::string(name_of(dtype)));
}

/// Refuses to overwrite; then writes all.
void write_absent(const fs::path& folder, const Files& files) {
  for (const auto& [name, text] : files) {
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(folder / name, ignored))) continue;
    throw Error(ErrorCode::kInvalidArgument,
                shown((folder / name).string()) + " is there already; name another folder");
  }
  for (const auto& [name, text] : files) {
    generate::make_folder((folder / name).parent_path().string());
    replace_file((folder / name).string(), text);
  }
}

int run_new(const NewOptions& options) {
  const Task& task = task_argument(options.task);
  const DType dtype = options.size.dtype();
  const std::string folder = options.folder.empty() ? run_file_name(task.id) : options.folder;
  const std::string in_folder = shown(folder) + "/candidate.yaml";
  Files files;
  std::string said, run;
  if (!options.language.empty()) {
    prompts::Example kernel = nearest_kernel(task, options.language, dtype);
    const TaskId of = kernel.candidate.task;
    const bool own = of == task.id;
    said = (own ? in_folder : shown(folder) + "/like/candidate.yaml") + ": " + kernel.path +
           ", the kernel of " + to_string(of) + " that ships in " + options.language + "\n";
    if (!own) {
      said += "None of " + to_string(task.id) + " ships; this one is of the task likest to it.\n";
    }
    for (auto& [name, text] : kernel.files) files[(own ? "" : "like/") + name] = std::move(text);
  }
  if (!files.contains("candidate.yaml")) {
    const Preset preset = preset_of(task, options);
    const TaskAt at = task_at(task.id, preset, options.size.overrides(), dtype);
    files["candidate.yaml"] = eager_candidate_yaml(task, *build_graph(at));
    said += in_folder + ": the built-in steps of " + to_string(task.id) +
            ", at the sizes of preset " + std::string(name_of(preset)) + "\n";
    run = " --preset " + std::string(name_of(preset));
  } else {
    if (options.size.preset != "auto") run = " --preset " + options.size.preset;
    if (!options.size.dtype_name.empty()) run += " --dtype " + options.size.dtype_name;
  }
  write_absent(folder, files);
  if (is_task_path(options.task)) run += " --tasks " + shown(options.task);
  say(said + "Now: kbench run " + in_folder + run + "\n");
  return kDone;
}

}  // namespace

Verb add_new(Command program) {
  auto options = std::make_shared<NewOptions>();
  std::vector<std::string> languages;
  for (const auto& [language, folders] : kFolders) languages.push_back(language);
  const Command app = program.add_verb(
      "new", "A candidate to start from",
      "Writes a candidate that is right: the task's built-in steps, one an operator, to be "
      "replaced by kernels one by one. With --language, copies the kernel of the task that ships "
      "with kbench, right and slow; where none is of this task, the built-in steps, and in the "
      "folder like/ the kernel of the task that is likest to it. Nothing is overwritten.",
      "  kbench new level1/19 my --language glsl\n"
      "  kbench new softmax my/softmax --language cuda\n"
      "  kbench new 2/76 my/gemm --preset smoke\n"
      "  kbench new level1/19 my/half --dtype f16");
  app.add_option("TASK,--task,--tasks", options->task,
                 "The task: level1/19, 1/19, its name, or a task's file; also behind --task")
      .required();
  app.add_option("DIR", options->folder, "The candidate's folder (default: named after the task)");
  app.in_group("Kernel").add_option("--language NAME", options->language,
                                    "A kernel that ships, in glsl, hlsl, cuda or triton",
                                    member_of(languages));
  options->size.add_to(app, /*with_auto=*/true);
  options->device.add_to(app, /*with_validate=*/false);
  return {app, [options] { return run_new(*options); }};
}

}  // namespace kbench::program
