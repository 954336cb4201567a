// The settings of a run, for `kbench generate` and `kbench run`, and what follows from them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/evaluate/generate/run.h"
#include "harness/evaluate/generate/settings.h"
#include "harness/frontends/program/options.h"
#include "kbench/model_config.h"

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

/// The devices of --device, which may be a list by commas, or of --server, with their judges; all
/// must be of one kind. `evidence`: whether failures are investigated, which those of --server are
/// not.
struct Devices {
  std::vector<std::unique_ptr<generate::RunEvaluator>> evaluators;
  vulkan::DeviceSnapshot first;
};
Devices open_devices(const DeviceOptions& device, const EvaluateOptions& evaluation,
                     const Roofline& roofline, bool evidence);

/// Converts all but the models to settings and back, so that a continued run uses what its file
/// says.
generate::Settings settings_of(const LoopOptions& loop, const Prompts& prompts,
                               const std::vector<const Task*>& tasks, Preset preset,
                               const Variables& overrides, const EvaluateOptions& evaluation);
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

}  // namespace kbench::program
