#include "harness/frontends/program/options.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>

#include "harness/evaluate/client/device_list.h"
#include "harness/frontends/program/text.h"
#include "harness/measure/trial/experiment.h"
#include "harness/measure/trial/slab_layout.h"
#include "harness/measure/vulkan/device.h"
#include "harness/measure/vulkan/plan.h"
#include "kbench/error.h"
#include "kbench/prompts.h"
#include "kbench/reference.h"
#include "kbench/task_file.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/text.h"
#include "reference/faults.h"

namespace kbench::program {
namespace {

int parse_level(std::string text) {
  if (text.rfind("level", 0) == 0) text.erase(0, 5);
  if (text.empty() || text.size() > 3 ||
      text.find_first_not_of("0123456789") != std::string::npos) {
    throw Error(ErrorCode::kInvalidArgument,
                "--level takes numbers such as 1 or 1,2, not '" + text + "'");
  }
  return std::stoi(text);
}

void require_times(const std::vector<const Task*>& tasks, const RecordedTimes& recorded) {
  constexpr size_t kNamed = 10;
  std::string missing;
  size_t count = 0;
  for (const Task* task : tasks) {
    if (recorded.find(task->id) != nullptr) continue;
    if (++count <= kNamed) missing += (count > 1 ? ", " : "") + to_string(task->id);
  }
  if (count == 0) return;
  if (count > kNamed) missing += " and " + std::to_string(count - kNamed) + " more";
  throw Error(ErrorCode::kNotFound, recorded.file + " has no " + recorded.column + " for " +
                                        missing + "; leave them out by --task");
}

}  // namespace

Check whole_number() {
  const auto check = [](const std::string& text) -> std::string {
    uint64_t value = 0;
    if (read_number(text, value)) return "";
    return "'" + shown(text) + "' is not a whole number below 2^64";
  };
  return {check};
}

Check task_dtypes() {
  std::vector<std::string> names;
  for (const DType dtype : kTaskDTypes) names.emplace_back(name_of(dtype));
  return member_of(std::move(names));
}

Check opponents() {
  const auto check = [](const std::string& name) -> std::string {
    try {
      opponent_from_name(name);
      return "";
    } catch (const Error& error) {
      return error.message();
    }
  };
  std::vector<std::string> words = {"eager", "best"};
  words.insert(words.end(), pytorch_ways().begin(), pytorch_ways().end());
  return {.find_mistake = check, .words = std::move(words)};
}

Check readable() {
  const auto check = [](const std::string& path) -> std::string {
    if (access(path.c_str(), R_OK) == 0) return "";
    return "cannot read " + shown(path) + ": " + std::generic_category().message(errno);
  };
  return {check};
}

Check readable_or_dash() {
  const auto check = [](const std::string& path) -> std::string {
    return path == "-" ? "" : readable().find_mistake(path);
  };
  return {check};
}

void TaskOptions::add_to(Command app) {
  const Command group = app.in_group("Tasks");
  group.add_option("--level LEVEL,...", levels, "Levels to take tasks from: 1,2 (default: all)")
      .comma_separated();
  group.add_option(
      "--task,--tasks TASK,...", selection,
      "Tasks: level1/1, 1/1 (the same), level2/*, 2/1-9, names such as relu; files of tasks of "
      "your own (my/mlp.yaml, ./tasks/); several by commas");
}

const Task& task_argument(const std::string& text) {
  if (!is_task_path(text)) return named_task(text);
  const std::vector<const Task*> tasks = TaskSet::from_path(text).tasks();
  if (tasks.size() == 1) return *tasks.front();
  throw Error(ErrorCode::kInvalidArgument,
              text + " has " + std::to_string(tasks.size()) + " tasks; name one file");
}

std::vector<const Task*> TaskOptions::select() const {
  std::vector<const Task*> chosen;
  if (selection.empty()) {
    for (const Task& task : tasks()) chosen.push_back(&task);
  } else {
    chosen = select_tasks_and_files(selection);
  }
  if (levels.empty()) return chosen;
  std::set<int> wanted;
  for (const std::string& level : levels) {
    const int number = parse_level(level);
    if (std::none_of(chosen.begin(), chosen.end(),
                     [&](const Task* task) { return task->id.level == number; })) {
      throw Error(ErrorCode::kNotFound,
                  "no task of level " + std::to_string(number) +
                      (selection.empty() ? "" : " among --task " + selection) +
                      "; see kbench list");
    }
    wanted.insert(number);
  }
  std::erase_if(chosen, [&](const Task* task) { return !wanted.contains(task->id.level); });
  return chosen;
}

void leave_out_undefined(std::vector<const Task*>& tasks, DType dtype) {
  const auto is_undefined = [dtype](const Task* task) { return !is_defined(*task, dtype); };
  if (!tasks.empty() && std::ranges::all_of(tasks, is_undefined)) {
    require_defined(*tasks.front(), dtype);
  }
  std::string names;
  std::erase_if(tasks, [&](const Task* task) {
    if (!is_undefined(task)) return false;
    names += (names.empty() ? "" : ", ") + to_string(task->id);
    return true;
  });
  if (names.empty()) return;
  std::fprintf(stderr, "not defined in %s and left out: %s\n",
               std::string(long_name_of(dtype)).c_str(), names.c_str());
}

void SizeOptions::add_to(Command app, bool with_auto, const std::string& fallback) {
  preset = fallback;
  const std::string names = with_auto ? "smoke, train, v0, v0.1 or auto" : kPresetNames;
  const std::string meaning =
      with_auto ? " (auto: the largest that fits the device; smoke on a software device)" : "";
  const Command sizes = app.in_group("Sizes");
  sizes.add_setting(with_auto ? "--preset auto|PRESET" : "--preset PRESET", preset,
                    "Sizes: " + names + meaning);
  sizes
      .add_option("--set VAR=N", assignments,
                  "Override a shape variable; repeatable: --set height=65")
      .allow_extra_args(false);
  sizes.add_option("--dtype NAME", dtype_name,
                   "What floating tensors are stored in: f32 (the default), f16 or bf16",
                   task_dtypes());
}

Variables SizeOptions::overrides() const {
  Variables result;
  for (const std::string& assignment : assignments) {
    auto [name, value] = parse_assignment(assignment);
    result[name] = std::move(value);
  }
  return result;
}

Preset SizeOptions::fixed_preset() const { return preset_from_name(preset); }

void PromptFlags::add_to(Command app) {
  const Command group = app.in_group("Prompt");
  group.add_setting("--prompt DIR|NAME", prompt,
                    "Templates, and what they show: a folder (docs/prompts.md), or a set's name");
  group.add_setting("--language NAME", language,
                    "What kernels are asked for in: glsl, hlsl, cuda, triton; or torch, a ModelNew",
                    member_of(names_to(kLastPromptLanguage)));
}

void add_fast_p(Command app, std::vector<double>& thresholds) {
  app.add_option("--fast-p P,...", thresholds, "Thresholds p of fast_p: 0,0.5,1,2 (default: 1)",
                 within(0, 1e6))
      .comma_separated();
}

RecordedTimes recorded_times(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos || access(text.c_str(), F_OK) == 0) return read_recorded_times(text);
  return read_recorded_times(text.substr(0, colon), text.substr(colon + 1));
}

void DeviceOptions::add_to(Command app, bool with_validate) {
  const Command group = app.in_group("Device");
  group.add_setting(
      "--device DEVICE", device,
      "Device: its index, its UUID, part of its name, cpu, or auto (see kbench devices)");
  if (with_validate) {
    group.add_flag("--validate", validate,
                   "Turn the Vulkan validation layer on; its messages fail a candidate");
  }
}

void DeviceOptions::add_several_to(Command app) {
  add_to(app);
  app.in_group("Device")
      .add_option("--devices all|DEVICE,...", devices,
                  "Several devices, each with a judge of its own: all (of the GPUs), or a list by "
                  "commas of what --device takes")
      .excludes(app.option("--device"));
}

void DeviceOptions::add_remote_to(Command app) {
  add_to(app);
  app.in_group("Device")
      .add_option("--server URL", server,
                  "Judge on another machine, where kbench serve --http runs; --device is then one "
                  "of its devices; a token is taken from KBENCH_TOKEN")
      .excludes(app.option("--validate"));
}

vulkan::DeviceSnapshot DeviceOptions::choose() const {
  const auto devices = client::list_snapshots();
  vulkan::DeviceSnapshot chosen = vulkan::choose_device(devices, device);
  vulkan::plan_device(chosen);
  return chosen;
}

void MeasureOptions::add_to(Command app) {
  const Command group = app.in_group("Measurement");
  group.add_setting(
      "--baseline eager|FILE", baseline,
      "The baseline of speedups: eager, timed in pairs with the candidate, or a file of "
      "recorded times, FILE or FILE:COLUMN, as kbench baseline --against takes it");
  group.add_setting("--opponent NAME", opponent,
                    "What is timed beside the candidate: eager, kbench's own baseline; or PyTorch "
                    "by a python3 that has it: torch, torch.compile, torch.compile:MODE, best (the "
                    "faster of the first two), or best:A,B,... (the fastest of those)",
                    opponents());
  group.add_setting("--tolerance RULE", tolerance,
                    "Rule for passing: kbench (scale-aware), or kernelbench (the original's)",
                    member_of(names_to(ToleranceRule::kernelbench)));
  group.add_setting("--min-samples N", plan.min_samples,
                    "Samples to take at least; half of them below 0.5x", number_from(1, 1000000));
  group.add_setting("--measure-seconds S", plan.max_seconds,
                    "Device time to spend on samples (0: 2 s on a GPU, 0.5 s on a software device)",
                    within(0, 1e6));
  group.add_setting("--precision P", plan.precision,
                    "Stop when the speedup's 95% interval is within this share of it",
                    within(0, 1));
  group.add_option("--input-seed N", seed, "Fix the secret seed of the inputs, for debugging",
                   whole_number());
  group.add_setting(
      "--other-sizes WHAT", other_sizes,
      "Other sizes of their task for passing candidates: none; note, whether they are right there; "
      "require, to pass only where they are (not_general)",
      member_of({"none", "note", "require"}));
  group.add_flag(
      "--full-headers", full_headers,
      "Compile the extensions of a ModelNew with PyTorch's own headers, ten times as long");
  const Command limits_group = app.in_group("Limits of a candidate");
  const Check above_zero = within(0.001, 1e6);
  limits_group.add_setting(
      "--compile-seconds S", limits.compile_seconds,
      "Compiling; six times as long for the C++ and CUDA extensions of a ModelNew", above_zero);
  limits_group.add_setting("--device-seconds S", limits.device_seconds,
                           "One run of its dispatch list", above_zero);
  limits_group.add_setting(
      "--total-seconds S", limits.total_seconds,
      "Its trial, from file to verdict; by default longer for a long --measure-seconds",
      above_zero);
  limits_group.add_setting("--host-memory GIB", host_gigabytes, "Memory of its runner in GiB",
                           above_zero);
}

EvaluateOptions evaluate_options(const SizeOptions& size, const DeviceOptions& device,
                                 const MeasureOptions& measure) {
  EvaluateOptions options;
  options.device = device.device;
  options.validate = device.validate;
  options.preset = size.preset;
  options.overrides = size.overrides();
  options.dtype = size.dtype();
  options.tolerance = tolerance_rule_from_name(measure.tolerance);
  if (measure.baseline != "eager") {
    options.recorded = recorded_times(measure.baseline);
  }
  options.opponent = opponent_from_name(measure.opponent);
  if (options.recorded && options.opponent.is_pytorch()) {
    throw Error(ErrorCode::kInvalidArgument, "--baseline FILE and --opponent exclude each other");
  }
  options.plan = measure.plan;
  options.plan.max_samples = std::max(options.plan.max_samples, options.plan.min_samples);
  options.limits = measure.limits;
  // A long measurement is given three times its budget on top.
  if (options.limits.total_seconds == Limits{}.total_seconds) {
    options.limits.total_seconds += 4 * options.plan.max_seconds;
  }
  options.limits.host_bytes = static_cast<int64_t>(measure.host_gigabytes * (1 << 30));
  options.seed = measure.seed;
  options.other_sizes = measure.other_sizes != "none";
  options.general = measure.other_sizes == "require";
  options.full_headers = measure.full_headers;
  return options;
}

Preset check_sizes(const std::vector<const Task*>& tasks, const SizeOptions& size,
                   const vulkan::DeviceSnapshot& device,
                   const std::optional<RecordedTimes>& recorded, bool must_fit) {
  if (recorded) require_times(tasks, *recorded);
  const Variables overrides = size.overrides();
  const Preset preset = trial::choose_preset(size.preset, tasks, overrides, size.dtype(), device);
  for (const Task* task : tasks) {
    const TaskAt at = task_at(task->id, preset, overrides, size.dtype());
    const auto graph = build_graph(at);
    reference::require_numbers(*task);
    if (recorded) recorded->time_of(at);
    const uint64_t needed = trial::required_bytes(*graph, device);
    if (must_fit && needed > device.device_local_bytes) {
      throw Error(ErrorCode::kOutOfMemory,
                  to_string(task->id) + " at preset " + at.preset + " needs " +
                      format_bytes(double(needed)) + " of device memory, " + device.name + " has " +
                      format_bytes(double(device.device_local_bytes)) +
                      "; take a smaller --preset, or leave the task out by --task");
    }
  }
  return preset;
}

}  // namespace kbench::program
