// Prepares a run of `kbench generate`: its flags, models, device and settings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/frontends/program/run_setup.h"
#include "kbench/baseline.h"

namespace kbench::program {

struct GenerateOptions {
  std::string run, models_file, replay;
  std::vector<std::string> models;
  LoopOptions loop;
  TaskOptions tasks;
  SizeOptions size;
  DeviceOptions device;
  MeasureOptions measure;
  std::string order = "task";
  int jobs = 0;
  std::optional<double> max_cost, max_seconds;
  std::optional<int64_t> max_tokens;
  std::optional<int64_t> seed;
  bool no_judge = false, dry_run = false, json = false;
};

/// The chosen models, from models.yaml or from the replayed run.
std::vector<ModelConfig> models_of(const GenerateOptions& options);

/// Throws if flags contradict each other or the models.
void check_flags(const GenerateOptions& options, const std::vector<ModelConfig>& models);

/// The device, its rates and the sizes; determined before the first request.
struct Ground {
  EvaluateOptions evaluation;
  Preset preset = Preset::v0;
  Devices devices;
  Roofline roofline;
};

Ground prepare(const GenerateOptions& options, const Prompts& prompts,
               const std::vector<const Task*>& tasks,
               const std::optional<generate::Settings>& stored);

generate::Settings settings_of_run(const GenerateOptions& options,
                                   const std::vector<ModelConfig>& models, const Prompts& prompts,
                                   const std::vector<const Task*>& tasks, const Ground& ground,
                                   const std::optional<generate::Settings>& stored);

/// The first prompt, and the most that all prompts can cost.
std::string plan_text(const generate::Plan& plan, const std::vector<ModelConfig>& models,
                      const Prompts& prompts, const EpisodeOptions& episode);
std::string plan_json(const generate::Plan& plan, const std::vector<ModelConfig>& models,
                      const Prompts& prompts, const EpisodeOptions& episode);

}  // namespace kbench::program
