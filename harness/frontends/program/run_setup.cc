#include "harness/frontends/program/run_setup.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <random>
#include <utility>

#include "harness/evaluate/diagnose/investigate.h"
#include "harness/frontends/program/json_documents.h"
#include "harness/frontends/program/open_devices.h"
#include "harness/frontends/program/prompt_sets.h"
#include "harness/frontends/program/text.h"
#include "kbench/error.h"
#include "kbench/exchange.h"
#include "kbench/openai_model.h"
#include "kbench/version.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/text.h"
#include "libkbench/core/in_words.h"
#include "libkbench/scoring/settings.h"

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

generate::Settings settings_of(const LoopOptions& loop, const Prompts& prompts,
                               const std::vector<const Task*>& tasks, Preset preset,
                               const Question& asked) {
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
  settings.set("overrides", joined(asked.overrides));
  if (asked.dtype != DType::f32) settings.set("dtype", std::string(name_of(asked.dtype)));
  settings.set("measurement", settings_text(asked));
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

using generate::RunFolder;
using generate::Settings;

std::vector<ModelConfig> models_of(const GenerateOptions& options) {
  std::vector<ModelConfig> all;
  std::string source = options.models_file;
  if (!source.empty()) {
    all = read_models(source);
  } else if (!options.replay.empty()) {
    source = RunFolder(options.replay).settings();
    std::string text = "models:\n";
    const Settings old = Settings::read(source);
    for (const std::string& model : old.models()) text += "  - " + model + "\n";
    all = parse_models(text, source);
  } else {
    throw Error(ErrorCode::kInvalidArgument,
                "generate takes --models FILE, which says whom to ask (docs/models.md)");
  }
  return chosen_models(std::move(all), options.models, source);
}

void check_flags(const GenerateOptions& options, const std::vector<ModelConfig>& models) {
  if (options.no_judge && options.loop.attempts > 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "--no-judge leaves nothing to repair by: it goes with --attempts 1");
  }
  if (!options.max_cost) return;
  for (const ModelConfig& model : models) {
    if (!model.price) {
      throw Error(ErrorCode::kInvalidArgument,
                  "--max-cost needs a price for model " + model.name + " in its models file");
    }
  }
}

Ground prepare(const GenerateOptions& options, const std::vector<const Task*>& tasks,
               const std::optional<Settings>& stored) {
  Ground ground;
  ground.asked = question_of(options.size, options.device, options.measure);
  if (options.no_judge) {
    if (options.size.preset != "auto") ground.preset = options.size.fixed_preset();
    if (stored && options.size.preset == "auto") {
      ground.preset = preset_from_name(stored->text("preset").value_or("v0"));
    }
    return ground;
  }
  ground.devices = open_devices(options.device);
  const vulkan::DeviceSnapshot& device = ground.devices.first();
  if (const std::string why =
          why_not_taken(prompt_language_from_name(options.loop.language), device);
      !why.empty()) {
    throw Error(
        ErrorCode::kUnsupported,
        "no answer in --language " + options.loop.language + " could be judged: " + why +
            "; give another --device, or --no-judge to ask for kernels for another machine");
  }
  ground.preset = check_sizes(tasks, options.size, device, ground.asked.recorded);
  // Prompts contain the rates, so a continued run keeps its first ones.
  if (stored && stored->number("roof_gbytes_per_s")) {
    ground.roofline.copy_bytes_per_s = 1e9 * *stored->number("roof_gbytes_per_s");
    ground.roofline.flops_per_s = 1e12 * stored->number("roof_tflops").value_or(0);
  } else if (!device.software() && !options.dry_run && options.device.server.empty()) {
    ground.roofline = diagnose::roofline_of(std::to_string(device.index));
  }
  return ground;
}

namespace {

/// Three digits, so that prompts do not change with every measurement.
double rounded(double value) { return std::stod(format_number(value)); }

}  // namespace

Settings settings_of_run(const GenerateOptions& options, const std::vector<ModelConfig>& models,
                         const Prompts& prompts, const std::vector<const Task*>& tasks,
                         const Ground& ground, const std::optional<Settings>& stored) {
  Settings settings = settings_of(options.loop, prompts, tasks, ground.preset, ground.asked);
  int64_t seed = 0;
  if (options.seed) {
    seed = *options.seed;
  } else if (stored) {
    seed = static_cast<int64_t>(stored->number("seed").value_or(0));
  } else {
    seed = std::random_device{}() >> 1;
  }
  settings.set("seed", seed);
  settings.set("device_block", prompts.settings().device);
  if (options.no_judge) {
    for (const char* key : {"device", "driver", "roof_gbytes_per_s", "roof_tflops"}) {
      settings.set(key, nullptr);
    }
  } else {
    settings.set("device", ground.devices.first().name);
    settings.set("driver", ground.devices.first().driver);
    settings.set("roof_gbytes_per_s", rounded(ground.roofline.copy_bytes_per_s / 1e9));
    settings.set("roof_tflops", rounded(ground.roofline.flops_per_s / 1e12));
  }
  for (const ModelConfig& model : models) settings.add_model(to_json(model));
  return settings;
}

namespace {

/// The most that one model can be asked for.
struct Most {
  std::string name;
  double samples = 0, most_requests = 0, most_tokens = 0;
  std::optional<double> most_cost;  ///< unset: no price is known
};
KBENCH_FIELDS(Most, name, samples, most_requests, most_tokens, most_cost)

struct Lengths {
  size_t average = 0, most = 0;
};
KBENCH_FIELDS(Lengths, average, most)

/// The plan, as the document of --json.
struct PlanDocument {
  std::vector<std::string> tasks;
  int samples = 0, attempts = 0;
  Lengths prompt_characters;
  std::vector<Most> models;
  std::optional<double> most_cost;
  std::vector<Message> first_prompt;
};
KBENCH_FIELDS(PlanDocument, tasks, samples, attempts, prompt_characters, models, most_cost,
              first_prompt)

PlanDocument plan_of(const generate::Plan& plan, const std::vector<ModelConfig>& models,
                     const Prompts& prompts, const EpisodeOptions& episode) {
  PlanDocument all{.tasks = {},
                   .samples = plan.samples(),
                   .attempts = episode.attempts,
                   .prompt_characters = {},
                   .models = {},
                   .most_cost = 0,
                   .first_prompt = prompts.first(*plan.tasks().front(), episode.prompt)};
  size_t characters = 0;
  for (const Task* task : plan.tasks()) {
    all.tasks.push_back(to_string(task->id));
    const size_t length = characters_of(prompts.first(*task, episode.prompt));
    characters += length;
    all.prompt_characters.most = std::max(all.prompt_characters.most, length);
  }
  all.prompt_characters.average = characters / plan.tasks().size();
  for (const ModelConfig& model : models) {
    const double chains = double(plan.tasks().size()) * plan.samples();
    const double answer = double(model.sampling.max_tokens.value_or(4096));
    double input = 0;
    for (int attempt = 1; attempt <= episode.attempts; ++attempt) {
      const int shown = episode.shown == Shown::history ? attempt - 1
                        : episode.shown == Shown::best  ? std::min(attempt - 1, 2)
                                                        : std::min(attempt - 1, 1);
      // A token has at least two characters.
      input += double(characters) / double(plan.tasks().size()) / 2 +
               shown * (answer + double(episode.feedback.max_characters) / 2);
    }
    Most& most = all.models.emplace_back();
    most.name = model.name;
    most.samples = chains;
    most.most_requests = chains * episode.attempts;
    most.most_tokens = chains * (input + answer * episode.attempts);
    if (model.price) {
      most.most_cost =
          chains * (input * model.price->input + answer * episode.attempts * model.price->output) /
          1e6;
    }
    all.most_cost = all.most_cost && most.most_cost
                        ? std::optional(*all.most_cost + *most.most_cost)
                        : std::nullopt;
  }
  return all;
}

}  // namespace

std::string plan_text(const generate::Plan& plan, const std::vector<ModelConfig>& models,
                      const Prompts& prompts, const EpisodeOptions& episode, bool json) {
  const PlanDocument all = plan_of(plan, models, prompts, episode);
  if (json) return json_document(all);
  std::string text;
  for (const Message& message : all.first_prompt) {
    text += "--- " + std::string(name_of(message.role)) + ", " +
            std::to_string(message.text.size()) + " characters\n" + message.text + "\n";
  }
  text += "---\n" + counted(all.tasks.size(), "task") + "; prompts of " +
          std::to_string(all.prompt_characters.average) + " characters on average, " +
          std::to_string(all.prompt_characters.most) + " at most\n";
  std::vector<std::vector<std::string>> rows = {
      {"model", "samples", "requests at most", "tokens at most", "cost at most"}};
  for (const Most& most : all.models) {
    rows.push_back({most.name, format_number(most.samples, 9), format_number(most.most_requests, 9),
                    format_number(most.most_tokens),
                    most.most_cost ? format_number(*most.most_cost, 4) : "no price"});
  }
  text += format_table(rows);
  if (all.most_cost) text += "highest possible cost: " + format_number(*all.most_cost, 4) + "\n";
  return text;
}

}  // namespace kbench::program
