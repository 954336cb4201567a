// Runs of models: their settings, for `kbench generate` and `kbench run`, what follows from them,
// and what generate prepares: its flags, models, device and plan.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/evaluate/generate/run.h"
#include "harness/evaluate/generate/settings.h"
#include "harness/frontends/program/open_devices.h"
#include "harness/frontends/program/options.h"
#include "kbench/baseline.h"
#include "kbench/openai_model.h"

namespace kbench::program {

/// How candidates are asked for, by whichever model; names are as in the flags.
struct LoopOptions : PromptFlags {
  int samples = 1;
  int attempts = 1;
  std::string goal = "correct";
  std::string context = "last";
  std::string smoke = "first";

  void add_to(Command app);
};

/// Converts all but the models to settings and back, so that a continued run uses what its file
/// says.
generate::Settings settings_of(const LoopOptions& loop, const Prompts& prompts,
                               const std::vector<const Task*>& tasks, Preset preset,
                               const Question& asked);
EpisodeOptions episode_of(const generate::Settings& settings);

/// Those of a file that are named; all if none is. Throws kNotFound.
std::vector<ModelConfig> chosen_models(std::vector<ModelConfig> all,
                                       const std::vector<std::string>& names,
                                       const std::string& file);

/// A model of models.yaml as a member of a run. If `replay` names a run's folder, its transcripts
/// answer instead of a server.
generate::Member member_of(
    const ModelConfig& config, const std::vector<const Task*>& tasks, const std::string& replay,
    std::function<void(const std::string& json, const std::string& text)> event);

struct GenerateOptions {
  std::string run, models_file, replay;
  std::vector<std::string> models;
  LoopOptions loop;
  TaskOptions tasks;
  SizeOptions size;
  DeviceOptions device;
  MeasureOptions measure;
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
  Question asked;
  Preset preset = Preset::v0;
  OpenDevices devices;
  Roofline roofline;
};

Ground prepare(const GenerateOptions& options, const std::vector<const Task*>& tasks,
               const std::optional<generate::Settings>& stored);

generate::Settings settings_of_run(const GenerateOptions& options,
                                   const std::vector<ModelConfig>& models, const Prompts& prompts,
                                   const std::vector<const Task*>& tasks, const Ground& ground,
                                   const std::optional<generate::Settings>& stored);

/// The first prompt, and the most that all prompts can cost; as text or JSON.
std::string plan_text(const generate::Plan& plan, const std::vector<ModelConfig>& models,
                      const Prompts& prompts, const EpisodeOptions& episode, bool json);

}  // namespace kbench::program
