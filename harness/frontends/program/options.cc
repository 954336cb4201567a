#include "harness/frontends/program/options.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <concepts>
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
#include "libkbench/scoring/settings.h"
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

constexpr std::string_view kSizes = "Sizes", kDevice = "Device";

/// What is said of the field of a question, or of its parts, that has this name.
FieldWords words_of(std::string_view name) {
  FieldWords found;
  Question none;
  const auto look = [&](const auto& self, auto& part) -> void {
    each_asked_field(
        [&]<class T>(const char* field, T& value, const FieldWords& words) {
          if (field == name) found = words;
          if constexpr (IsPart<T>) self(self, value);
        },
        part);
  };
  look(look, none);
  return found;
}

void require_times(const std::vector<const Task*>& tasks, const RecordedTimes& recorded) {
  constexpr size_t kNamed = 10;
  std::vector<TaskId> missing;
  for (const Task* task : tasks) {
    if (recorded.find(task->id) == nullptr) missing.push_back(task->id);
  }
  if (missing.empty()) return;
  const auto name = [](const TaskId& id) { return to_string(id); };
  throw Error(ErrorCode::kNotFound, recorded.file + " has no " + recorded.column + " for " +
                                        listed(missing, name, kNamed) +
                                        "; leave them out by --task");
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

std::vector<const Task*> TaskOptions::select(Names names) const {
  std::vector<const Task*> chosen;
  if (selection.empty()) {
    for (const Task& task : tasks()) chosen.push_back(&task);
  } else {
    chosen = select_tasks_and_files(selection, names);
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
  const Command sizes = app.in_group(std::string(kSizes));
  const FieldWords named = words_of("preset");
  sizes.add_setting(with_auto ? std::string(named.flag) : "--preset PRESET", preset,
                    with_auto ? std::string(named.help) : std::string("Sizes: ") + kPresetNames);
  sizes
      .add_option(std::string(words_of("overrides").flag), assignments,
                  std::string(words_of("overrides").help))
      .allow_extra_args(false);
  sizes.add_option(std::string(words_of("dtype").flag), dtype_name,
                   std::string(words_of("dtype").help), task_dtypes());
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

void FastPOptions::add_to(Command app) {
  app.add_option("--fast-p P,...", thresholds, "Thresholds p of fast_p: 0,0.5,1,2 (default: 1)",
                 within(0, 1e6))
      .comma_separated();
  app.add_setting("--fast-p-of WHICH", speedup_of,
                  "Which speedup counts: own, at the task's sizes; with --workloads geomean, over "
                  "the further sizes, or least",
                  member_of(names_to(SpeedupOf::least)));
}

std::string FastPOptions::note() const {
  if (which() == SpeedupOf::own) return "";
  return std::string("speedups are ") +
         (which() == SpeedupOf::geomean ? "geometric means over" : "the least of") +
         " further sizes\n";
}

std::pair<std::string, std::string> file_and_part(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos || access(text.c_str(), F_OK) == 0) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

RecordedTimes recorded_times(const std::string& text) {
  const auto [file, column] = file_and_part(text);
  return read_recorded_times(file, column);
}

void DeviceOptions::add_to(Command app, bool with_validate) {
  const Command group = app.in_group(std::string(kDevice));
  group.add_setting(
      "--device DEVICE", device,
      "Device: its index, its UUID, part of its name, cpu, or auto (see kbench devices)");
  if (with_validate) {
    const FieldWords words = words_of("validate");
    group.add_flag(std::string(words.flag), validate, std::string(words.help));
  }
}

void DeviceOptions::add_several_to(Command app) {
  add_to(app);
  app.in_group(std::string(kDevice))
      .add_option("--devices all|DEVICE,...", devices,
                  "Several devices, each with a judge of its own: all (of the GPUs), or a list by "
                  "commas of what --device takes")
      .excludes(app.option("--device"));
  app.in_group("Output").add_option(
      "--trace FILE", trace,
      "A timeline of all that kbench's processes do, for ui.perfetto.dev or chrome://tracing");
}

void DeviceOptions::add_all_to(Command app) {
  add_several_to(app);
  const Option url = app.in_group(std::string(kDevice))
                         .add_option("--server URL", server,
                                     "Judge on another machine, where kbench serve --http runs; "
                                     "--device is then one of its devices; a token is taken from "
                                     "KBENCH_TOKEN");
  for (const char* local : {"--validate", "--devices"}) url.excludes(app.option(local));
}

vulkan::DeviceSnapshot DeviceOptions::choose() const {
  const auto devices = client::list_snapshots();
  vulkan::DeviceSnapshot chosen = vulkan::choose_device(devices, device);
  vulkan::plan_device(chosen);
  return chosen;
}

namespace {

/// The check of a name, which reads it into `value`, too. `names`: all that pass, or nothing where
/// value_of() says what is wrong; `words`: for shells to complete.
template <class T>
Check read_into(T& value, T (*value_of)(std::string_view), std::optional<Check> names,
                std::vector<std::string> words) {
  const auto read = [&value, value_of, names](const std::string& name) -> std::string {
    if (names) {
      if (std::string mistake = names->find_mistake(name); !mistake.empty()) return mistake;
    }
    try {
      value = value_of(name);
      return "";
    } catch (const Error& error) {
      return error.message();
    }
  };
  return {.find_mistake = read, .words = std::move(words)};
}

std::vector<std::string> opponent_words() {
  std::vector<std::string> words = {"eager", "best"};
  words.insert(words.end(), pytorch_ways().begin(), pytorch_ways().end());
  return words;
}

/// Adds the flags of a question's fields, each to its group; sizes and devices have their own.
class FlagAdder {
 public:
  FlagAdder(Command app, std::string& baseline, std::deque<std::string>& defaults)
      : app_(app), baseline_(baseline), defaults_(defaults) {}

  template <class T>
  void operator()(const char*, T& value, const FieldWords& words) {
    if constexpr (IsPart<T>) return each_asked_field(*this, value);
    if (words.flag.empty() || words.group == kSizes || words.group == kDevice) return;
    const Command group = app_.in_group(std::string(words.group));
    const std::string flag(words.flag), help(words.help);
    if constexpr (std::same_as<T, bool>) {
      group.add_flag(flag, value, help);
    } else if constexpr (std::same_as<T, double>) {
      group.add_setting(flag, value, help, within(words.low, words.high));
    } else if constexpr (std::same_as<T, int>) {
      group.add_setting(flag, value, help,
                        number_from(static_cast<int>(words.low), static_cast<int>(words.high)));
    } else if constexpr (std::same_as<T, int64_t>) {
      add_in_units(group, value, words);
    } else if constexpr (std::same_as<T, std::optional<uint64_t>>) {
      group.add_option(flag, value, help,
                       words.high == FieldWords{}.high ? whole_number()
                                                       : number_from(static_cast<int>(words.low),
                                                                     static_cast<int>(words.high)));
    } else if constexpr (std::same_as<T, std::optional<RecordedTimes>>) {
      group.add_setting(flag, baseline_, help);
    } else if constexpr (std::same_as<T, Opponent>) {
      group.add_setting(flag, defaults_.emplace_back(name_of(value)), help,
                        read_into(value, opponent_from_name, std::nullopt, opponent_words()));
    } else if constexpr (std::same_as<T, ToleranceRule>) {
      add_named(group, value, words, tolerance_rule_from_name,
                names_to(ToleranceRule::kernelbench));
    } else if constexpr (std::same_as<T, OtherSizes>) {
      add_named(group, value, words, other_sizes_from_name, names_to(OtherSizes::require));
    } else if constexpr (std::same_as<T, Sanitize>) {
      const auto read =
          read_into(value, sanitize_from_name, member_of(names_to(Sanitize::fail)), {});
      group.add_flag(flag, defaults_.emplace_back(), help, {[read](const std::string& text) {
                       return read.find_mistake(text == "true" ? "label" : text);
                     }});
    }
  }

 private:
  template <class T>
  void add_named(const Command& group, T& value, const FieldWords& words,
                 T (*value_of)(std::string_view), const std::vector<std::string>& names) {
    group.add_setting(std::string(words.flag), defaults_.emplace_back(name_of(value)),
                      std::string(words.help), read_into(value, value_of, member_of(names), names));
  }
  void add_in_units(const Command& group, int64_t& value, const FieldWords& words) {
    const auto read = [&value, words](const std::string& text) -> std::string {
      const Check range = within(words.low / words.unit, words.high / words.unit);
      if (std::string mistake = range.find_mistake(text); !mistake.empty()) return mistake;
      double number = 0;
      read_number(text, number);
      value = static_cast<int64_t>(number * words.unit);
      return "";
    };
    group.add_setting(std::string(words.flag),
                      defaults_.emplace_back(number_text(double(value) / words.unit)),
                      std::string(words.help), {read});
  }

  Command app_;
  std::string& baseline_;
  std::deque<std::string>& defaults_;
};

}  // namespace

void MeasureOptions::add_to(Command app) {
  FlagAdder adder(app, baseline_, defaults_);
  each_asked_field(adder, asked_);
}

Question MeasureOptions::question() const {
  Question question = asked_;
  if (baseline_ != "eager") question.recorded = recorded_times(baseline_);
  if (question.recorded && question.opponent.is_pytorch()) {
    throw Error(ErrorCode::kInvalidArgument, "--baseline FILE and --opponent exclude each other");
  }
  if (question.recorded && question.rule.workloads) {
    throw Error(ErrorCode::kInvalidArgument,
                "--workloads times a baseline at each size, and --baseline FILE has none of them");
  }
  question.plan.max_samples = std::max(question.plan.max_samples, question.plan.min_samples);
  // A long measurement is given three times its budget on top.
  if (question.limits.total_seconds == Limits{}.total_seconds) {
    question.limits.total_seconds += 4 * question.plan.max_seconds;
  }
  return question;
}

Question question_of(const SizeOptions& size, const DeviceOptions& device,
                     const MeasureOptions& measure) {
  Question question = measure.question();
  question.rule.validate = device.validate;
  question.preset = size.preset;
  question.overrides = size.overrides();
  question.dtype = size.dtype();
  return question;
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
