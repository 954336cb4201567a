#include "harness/frontends/program/generate_setup.h"

#include <algorithm>
#include <random>

#include "harness/evaluate/diagnose/investigate.h"
#include "harness/frontends/program/prompt_sets.h"
#include "harness/frontends/program/text.h"
#include "kbench/error.h"
#include "kbench/text.h"

namespace kbench::program {

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

Ground prepare(const GenerateOptions& options, const Prompts& prompts,
               const std::vector<const Task*>& tasks, const std::optional<Settings>& stored) {
  Ground ground;
  ground.evaluation = evaluate_options(options.size, options.device, options.measure);
  if (options.no_judge) {
    if (options.size.preset != "auto") ground.preset = options.size.fixed_preset();
    if (stored && options.size.preset == "auto") {
      ground.preset = preset_from_name(stored->text("preset").value_or("v0"));
    }
    return ground;
  }
  ground.devices = open_devices(options.device, ground.evaluation, {}, false);
  const vulkan::DeviceSnapshot& device = ground.devices.first;
  if (const std::string why =
          why_not_taken(prompt_language_from_name(options.loop.language), device);
      !why.empty()) {
    throw Error(
        ErrorCode::kUnsupported,
        "no answer in --language " + options.loop.language + " could be judged: " + why +
            "; give another --device, or --no-judge to ask for kernels for another machine");
  }
  ground.preset = check_sizes(tasks, options.size, device, ground.evaluation.recorded);
  // Prompts contain the rates, so a continued run keeps its first ones.
  if (stored && stored->number("roof_gbytes_per_s")) {
    ground.roofline.copy_bytes_per_s = 1e9 * *stored->number("roof_gbytes_per_s");
    ground.roofline.flops_per_s = 1e12 * stored->number("roof_tflops").value_or(0);
  } else if (!device.software() && !options.dry_run && options.device.server.empty()) {
    ground.roofline =
        diagnose::roofline_of(options.device.device.substr(0, options.device.device.find(',')));
  }
  ground.devices =
      open_devices(options.device, ground.evaluation, ground.roofline, prompts.settings().evidence);
  return ground;
}

namespace {

/// Three digits, so that prompts do not change with every measurement.
double rounded(double value) { return std::stod(format_number(value)); }

}  // namespace

Settings settings_of_run(const GenerateOptions& options, const std::vector<ModelConfig>& models,
                         const Prompts& prompts, const std::vector<const Task*>& tasks,
                         const Ground& ground, const std::optional<Settings>& stored) {
  Settings settings = settings_of(options.loop, prompts, tasks, ground.preset,
                                  options.size.overrides(), ground.evaluation);
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
    settings.set("device", ground.devices.first.name);
    settings.set("driver", ground.devices.first.driver);
    settings.set("roof_gbytes_per_s", rounded(ground.roofline.copy_bytes_per_s / 1e9));
    settings.set("roof_tflops", rounded(ground.roofline.flops_per_s / 1e12));
  }
  for (const ModelConfig& model : models) settings.add_model(to_json(model));
  return settings;
}

}  // namespace kbench::program
