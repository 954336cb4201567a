#include "harness/frontends/program/run_setup.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "harness/evaluate/generate/device_evaluator.h"
#include "harness/frontends/program/open_devices.h"
#include "harness/frontends/program/text.h"
#include "harness/measure/trial/experiment.h"
#include "kbench/error.h"
#include "kbench/exchange.h"
#include "kbench/openai_model.h"
#include "kbench/text.h"
#include "kbench/version.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/text.h"

namespace kbench::program {
namespace {

namespace fs = std::filesystem;

std::string text_of(const generate::Settings& settings, const std::string& key) {
  const std::optional<std::string> text = settings.text(key);
  if (!text) throw Error(ErrorCode::kParse, "the run's settings (run.yaml) lack '" + key + "'");
  return *text;
}

int count_of(const generate::Settings& settings, const std::string& key) {
  return static_cast<int>(settings.number(key).value_or(0));
}

constexpr std::string_view kBetween = "; ";  ///< as items contain commas and blanks

std::string joined(const Variables& overrides) {
  std::string text;
  for (const auto& [name, value] : overrides) {
    if (!text.empty()) text += kBetween;
    text += name + "=" + to_string(value);
  }
  return text;
}

Variables split(const std::string& text) {
  Variables overrides;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(kBetween, begin), text.size());
    auto [name, value] = parse_assignment(text.substr(begin, end - begin));
    overrides[name] = std::move(value);
    begin = end + kBetween.size();
  }
  return overrides;
}

}  // namespace

void LoopOptions::add_to(Command app) {
  const Command group = app.in_group("Samples and attempts");
  group.add_setting("--samples N", samples, "Samples of each model on each task",
                    number_from(1, 1000000));
  group.add_setting("--attempts N", attempts,
                    "Attempts a sample: the first, and repairs after feedback",
                    number_from(1, 9999));
  group.add_setting(
      "--goal correct|faster:P", goal,
      "When a sample is done: correct, or faster:P (the speedup's lower bound is over P)");
  group.add_setting("--context NAME", context,
                    "What a repair prompt shows: the last attempt, the best, or the history",
                    member_of(names_to(Shown::history)));
  group.add_setting(
      "--smoke WHEN", smoke,
      "Try preset smoke first (what does not run there has failed), after a failure of "
      "values (to tell of the smaller case), or never",
      member_of(names_to(Smoke::never)));
  PromptFlags::add_to(app);
}

Devices open_devices(const DeviceOptions& device, const EvaluateOptions& evaluation,
                     const Roofline& roofline, bool evidence) {
  Devices devices;
  if (!device.server.empty()) {
    OpenDevices opened = open_server(device);
    devices.first = opened.snapshots.front();
    for (auto& judge : opened.judges) {
      devices.evaluators.push_back(
          std::make_unique<generate::QueueEvaluator>(std::move(judge), evaluation));
    }
    return devices;
  }
  const std::string& selectors = device.device;
  for (size_t begin = 0; begin <= selectors.size();) {
    const size_t end = std::min(selectors.find(',', begin), selectors.size());
    EvaluateOptions options = evaluation;
    options.device = selectors.substr(begin, end - begin);
    auto evaluator = std::make_unique<generate::DeviceEvaluator>(options, roofline, evidence);
    const vulkan::DeviceSnapshot& snapshot = evaluator->snapshot();
    if (devices.evaluators.empty()) {
      devices.first = snapshot;
    } else if (snapshot.name != devices.first.name || snapshot.driver != devices.first.driver) {
      throw Error(ErrorCode::kInvalidArgument,
                  "--device names a " + devices.first.name + " and a " + snapshot.name +
                      "; the devices of one run have to be of one kind");
    }
    for (const auto& other : devices.evaluators) {
      if (other->snapshot().index == snapshot.index) {
        throw Error(ErrorCode::kInvalidArgument, "--device names one device twice");
      }
    }
    devices.evaluators.push_back(std::move(evaluator));
    begin = end + 1;
  }
  return devices;
}

generate::Settings settings_of(const LoopOptions& loop, const Prompts& prompts,
                               const std::vector<const Task*>& tasks, Preset preset,
                               const Variables& overrides, const EvaluateOptions& evaluation) {
  generate::Settings settings;
  settings.set("kbench", version());
  settings.set("samples", int64_t{loop.samples});
  settings.set("attempts", int64_t{loop.attempts});
  settings.set("goal", to_string(goal_from_name(loop.goal)));
  settings.set("context", loop.context);
  settings.set("smoke", loop.smoke);
  const PromptSettings& shown = prompts.settings();
  settings.set("evidence", shown.evidence);
  settings.set("builtins", std::string(name_of(shown.builtins)));
  settings.set("language", loop.language);
  settings.set("prompt", loop.prompt);
  settings.set("prompt_hash", prompts.hash());
  settings.set("shots", int64_t{shown.shots});
  settings.set("code", shown.code);
  settings.set("reference", shown.reference);
  settings.set("precision", shown.precision);
  settings.set("preset", std::string(name_of(preset)));
  settings.set("overrides", joined(overrides));
  if (evaluation.dtype != DType::f32) settings.set("dtype", std::string(name_of(evaluation.dtype)));
  settings.set("measurement", trial::settings_text(evaluation));
  settings.set_tasks(tasks);
  return settings;
}

EpisodeOptions episode_of(const generate::Settings& settings) {
  const auto flag = [&](const std::string& key) { return settings.flag(key).value_or(false); };
  EpisodeOptions options;
  options.attempts = count_of(settings, "attempts");
  options.goal = goal_from_name(text_of(settings, "goal"));
  options.shown = shown_from_name(text_of(settings, "context"));
  options.smoke = smoke_from_name(text_of(settings, "smoke"));
  options.feedback.evidence = flag("evidence");
  options.prompt.preset = preset_from_name(text_of(settings, "preset"));
  options.prompt.overrides = split(text_of(settings, "overrides"));
  options.prompt.dtype = task_dtype_from_name(settings.text("dtype").value_or("f32"));
  options.prompt.shots = count_of(settings, "shots");
  options.prompt.code = flag("code");
  options.prompt.reference = flag("reference");
  options.prompt.precision = flag("precision");
  options.prompt.builtins = builtins_from_name(text_of(settings, "builtins"));
  options.prompt.language = prompt_language_from_name(settings.text("language").value_or("glsl"));
  options.prompt.roof_gbytes_per_s = settings.number("roof_gbytes_per_s").value_or(0);
  options.prompt.roof_tflops = settings.number("roof_tflops").value_or(0);
  return options;
}

std::vector<ModelConfig> chosen_models(std::vector<ModelConfig> all,
                                       const std::vector<std::string>& names,
                                       const std::string& file) {
  if (names.empty()) return all;
  std::vector<ModelConfig> chosen;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(all, name, &ModelConfig::name);
    if (found == all.end()) {
      throw Error(ErrorCode::kNotFound,
                  shown(file) + " has no model '" + shown(name) + "'; it has " +
                      shown(listed(all, [](const ModelConfig& each) { return each.name; }), 500));
    }
    chosen.push_back(*found);
  }
  return chosen;
}

generate::Member member_of(
    const ModelConfig& config, const std::vector<const Task*>& tasks, const std::string& replay,
    std::function<void(const std::string& json, const std::string& text)> event) {
  generate::Member member;
  member.sampling = config.sampling;
  member.price = config.price;
  member.connections = config.connections;
  member.thinking_tags = config.thinking_tags;
  if (replay.empty()) {
    ModelHooks hooks;
    hooks.event = [event = std::move(event), name = config.name](const ModelEvent& happened) {
      using Kind = ModelEvent::Kind;
      const bool worth_saying = happened.kind == Kind::wait || happened.kind == Kind::insecure ||
                                happened.kind == Kind::parameter;
      event(to_json(happened), worth_saying ? name + ": " + happened.text : "");
    };
    member.model = std::make_shared<OpenAiModel>(config, std::move(hooks));
    return member;
  }
  const generate::RunFolder old(replay);
  std::vector<Exchange> exchanges;
  for (const Task* task : tasks) {
    const std::string path = old.transcript(config.name, task->id);
    if (!fs::exists(path)) continue;
    for (Exchange& exchange : read_transcript(path)) exchanges.push_back(std::move(exchange));
  }
  member.model = std::make_shared<ReplayModel>(config.name, std::move(exchanges),
                                               ReplayModel::OtherPrompt::given);
  return member;
}

}  // namespace kbench::program
