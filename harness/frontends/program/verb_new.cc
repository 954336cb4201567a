#include <filesystem>
#include <memory>

#include "harness/evaluate/generate/run_folder.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/verbs.h"
#include "harness/measure/trial/experiment.h"
#include "kbench/error.h"
#include "kbench/task.h"
#include "kbench/text.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/files.h"
#include "libkbench/candidate/starter.h"
#include "libkbench/scoring/run_names.h"

namespace kbench::program {
namespace {

namespace fs = std::filesystem;

struct NewOptions {
  std::string task, path;
  std::string language = "glsl";
  SizeOptions size;
  DeviceOptions device;
};

/// The preset that `kbench run` takes here; v0.1 without a device.
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

void expect_absent(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(path, ignored))) return;
  throw Error(ErrorCode::kInvalidArgument,
              shown(path.string()) + " is there already; name another file or folder");
}

int run_new(const NewOptions& options) {
  const Task& task = task_argument(options.task);
  const fs::path path = options.path.empty() ? run_file_name(task.id) : options.path;
  const bool one_file = path.extension() == ".yaml";
  const fs::path folder = one_file ? path.parent_path() : path;
  const fs::path manifest = one_file ? path : folder / "candidate.yaml";
  expect_absent(manifest);
  const Preset preset = preset_of(task, options);
  const Starter starter =
      write_starter(task_at(task.id, preset, options.size.overrides(), options.size.dtype()),
                    value_named(options.language, StarterLanguage::triton).value());
  if (!one_file) expect_absent(folder / starter.kernel_file);
  if (!folder.empty()) generate::make_folder(folder.string());
  if (!one_file) replace_file((folder / starter.kernel_file).string(), starter.kernel);
  replace_file(manifest.string(), one_file ? starter.one_file : starter.manifest);
  std::string run = "kbench run " + shown((one_file ? manifest : folder).string());
  if (!starter.any_size) run += " --preset " + std::string(name_of(preset));
  say(shown(manifest.string()) + (one_file ? "" : " and " + starter.kernel_file) + ": " +
      starter.replaced + " of " + to_string(task.id) + " as a kernel in " + options.language +
      ", the rest built in" +
      (starter.any_size ? "" : ", at the sizes of preset " + std::string(name_of(preset))) +
      "\nNow: " + run + "\n");
  return kDone;
}

}  // namespace

Verb add_new(Command program) {
  auto options = std::make_shared<NewOptions>();
  const Command app = program.add_verb(
      "new", "A candidate to start from, with a kernel of your own",
      "Writes a candidate that is right and slow: the task's last operator that can be a kernel as "
      "one, an invocation an output or a row, with all that is bound and all sizes as macros; the "
      "other operators as built-in steps, to be replaced one by one. PATH is a folder, for "
      "candidate.yaml and the kernel's file, or a .yaml file for both; nothing is overwritten.",
      "  kbench new level1/19\n"
      "  kbench new softmax --language cuda my/softmax\n"
      "  kbench new 2/76 --language hlsl my/gemm.yaml --preset smoke\n"
      "  kbench new level1/19 --dtype f16 my/half");
  app.add_option("TASK", options->task, "The task: level1/19, 1/19, or its name").required();
  app.add_option("PATH", options->path,
                 "A folder, or a .yaml file (default: a folder named after the task)");
  app.in_group("Kernel").add_setting("--language NAME", options->language,
                                     "glsl, hlsl, cuda or triton",
                                     one_of(names_to(StarterLanguage::triton)));
  options->size.add_to(app, /*with_auto=*/true);
  options->device.add_to(app, /*with_validate=*/false);
  return {app, [options] { return run_new(*options); }};
}

}  // namespace kbench::program
