#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/evaluate/client/device_list.h"
#include "harness/evaluate/generate/line_file.h"
#include "harness/frontends/program/prompt_sets.h"
#include "harness/frontends/program/run_progress.h"
#include "harness/frontends/program/run_setup.h"
#include "harness/frontends/program/signals.h"
#include "harness/frontends/program/text.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/error.h"
#include "kbench/openai_model.h"
#include "libkbench/base/files.h"
#include "libkbench/base/json_text.h"

namespace kbench::program {
namespace {

namespace fs = std::filesystem;
using generate::Plan;
using generate::RunFolder;
using generate::Settings;

std::string event(const std::string& kind, const std::string& text) {
  return json_text(nlohmann::ordered_json{{"event", kind}, {"text", text}});
}

/// Writes events with their time.
class EventLog {
 public:
  explicit EventLog(const std::string& path) : file_(path) {}
  /// Write errors are ignored: the file is only for people.
  void add(const std::string& json) {
    const std::time_t now = std::time(nullptr);
    std::tm utc = {};
    gmtime_r(&now, &utc);
    char stamp[40];
    std::strftime(stamp, sizeof stamp, "{\"at\":\"%Y-%m-%dT%H:%M:%SZ\",", &utc);
    try {
      file_.append(stamp + json.substr(1), false);
    } catch (const Error&) {
    }
  }

 private:
  generate::LineFile file_;
};

int exit_code(const generate::RunOutcome& outcome, int signal) {
  if (signal != 0) return 128 + signal;
  using Stop = generate::Scheduler::Stop;
  if (outcome.stop == Stop::budget || outcome.stop == Stop::disk_full) return kStopped;
  return outcome.complete() ? kDone : kFailed;
}

int run_generate(GenerateOptions options) {
  // Cheap checks come before the first request.
  const std::vector<ModelConfig> configs = models_of(options);
  check_flags(options, configs);
  std::vector<const Task*> tasks = options.tasks.select();
  const Prompts prompts = find_prompts(options.loop.prompt);
  const RunFolder folder(options.run);
  std::optional<Settings> stored;
  std::error_code error;
  const fs::file_status there = fs::status(folder.path(), error);
  if (there.type() == fs::file_type::none) throw_io("use", folder.path(), error.value());
  if (fs::exists(folder.settings(), error)) stored = Settings::read(folder.settings());
  if (!stored && fs::exists(there) && !fs::is_empty(folder.path(), error)) {
    throw Error(ErrorCode::kInvalidArgument,
                shown(folder.path()) + " is not empty and no run: give a folder of its own");
  }
  if (stored && options.size.dtype_name.empty()) {
    options.size.dtype_name = stored->text("dtype").value_or("");
  }
  leave_out_undefined(tasks, options.size.dtype());
  Ground ground = prepare(options, tasks, stored);
  const Settings asked = settings_of_run(options, configs, prompts, tasks, ground, stored);
  const Settings settings = stored ? asked.resumed(*stored, folder.path()) : asked;

  std::vector<std::string> names;
  for (const ModelConfig& config : configs) names.push_back(config.name);
  Plan plan(tasks, names, options.loop.samples);
  EpisodeOptions episode = episode_of(settings);
  episode.attempts = options.loop.attempts;
  if (prompts.settings().device && !options.no_judge) {
    episode.prompt.device = client::summary_of(ground.devices.first());
  }
  for (const Task* task : tasks) build_graph(episode.prompt.at(task->id));
  if (options.dry_run) {
    std::fputs(plan_text(plan, configs, prompts, episode, options.json).c_str(), stdout);
    return kDone;
  }

  generate::make_folder(folder.path());
  const generate::RunLock lock(folder);
  if (!stored || stored->to_yaml() != settings.to_yaml()) {
    replace_file(folder.settings(), settings.to_yaml());
  }
  EventLog events(folder.events());
  RunProgress progress;
  generate::RunOptions run{.plan = std::move(plan), .members = {}, .prompts = prompts};
  const auto on_event = [&](const std::string& json, const std::string& text) {
    events.add(json);
    if (!text.empty()) progress.warn(text);
  };
  for (const ModelConfig& config : configs) {
    run.members.push_back(member_of(config, tasks, options.replay, on_event));
    if (!config.key_env.empty()) forbid_core_dumps();
  }
  episode.asked = ground.asked;
  run.episode = std::move(episode);
  run.seed = static_cast<uint64_t>(settings.number("seed").value_or(0));
  run.judging = !options.no_judge;
  run.limits = {options.max_cost, options.max_tokens, options.max_seconds};
  run.evaluators = std::move(ground.devices.evaluators);
  StopSignals signals([&](int) {
    progress.warn("no further request; what is under way is waited for; again to drop it");
  });
  run.interrupt = signals.gently();
  run.cancel = signals.at_once();
  progress.show(run);
  run.on_warning = [&](const std::string& text) {
    events.add(event("warning", text));
    progress.warn(text);
  };
  const generate::RunOutcome outcome = generate::run(folder, std::move(run));
  progress.close();
  if (outcome.stop != generate::Scheduler::Stop::none) {
    events.add(event("stop", outcome.reason));
  }
  const bool software = !options.no_judge && ground.devices.first().software();
  if (options.json) {
    std::fputs(outcome_json(folder.path(), outcome, !options.no_judge, software).c_str(), stdout);
  } else {
    std::fputs(format_outcome(folder.path(), outcome, !options.no_judge).c_str(), stdout);
    if (software) std::printf("  %s\n", software_warning(ground.devices.first().name).c_str());
  }
  return exit_code(outcome, signals.signal());
}

}  // namespace

Verb add_generate(Command program) {
  auto options = std::make_shared<GenerateOptions>();
  const Command app = program.add_verb(
      "generate", "Ask language models for candidates, judge and repair them",
      "Asks the models of a models file for candidates, judges each on the device, and tells what "
      "is wrong or slow until the goal or the number of attempts is reached. Everything is kept in "
      "the folder RUN; the same command goes on where an earlier one stopped, and with more "
      "samples, attempts, tasks or models does what is missing. Nothing that was answered is asked "
      "again. Exit code 1 when samples stay open, 3 when a budget or a full disk stopped it.",
      "  kbench generate run1 --models models.yaml --task level1/* --samples 10 --attempts 5\n"
      "  kbench generate run1 --models models.yaml --task level1/* --samples 20 --attempts 5\n"
      "  kbench generate run2 --models models.yaml --dry-run\n"
      "  kbench generate run3 --replay run1 --prompt my-templates/");
  app.add_option("RUN", options->run, "The run's folder").required();
  const Command models = app.in_group("Models");
  models.add_option("--models FILE", options->models_file,
                    "Models file, which says whom to ask and where: docs/models.md", readable());
  models.add_option("--model NAME,...", options->models, "Only these of the file")
      .comma_separated();
  models.add_option("--replay RUN", options->replay, "Answer from the transcripts of another run",
                    readable());
  options->loop.add_to(app);
  const Command budgets = app.in_group("Budgets");
  budgets.add_option("--max-cost X", options->max_cost,
                     "Of the whole run, in the currency of the prices", within(0, 1e12));
  budgets.add_option("--max-tokens N", options->max_tokens, "Of the whole run, in and out",
                     whole_number());
  budgets.add_option("--max-seconds S", options->max_seconds, "Of this call", within(0, 1e9));
  models.add_option("--seed N", options->seed, "Seed from which the requests' seeds are drawn",
                    whole_number());
  const Command output = app.in_group("Output");
  output.add_flag("--dry-run", options->dry_run,
                  "Print the first prompt, and the most that all would cost; send nothing");
  output.add_flag("--no-judge", options->no_judge,
                  "Keep the candidates; kbench run RUN judges them");
  output.add_flag("--json", options->json,
                  "The outcome of the run as JSON on standard output; with --dry-run the plan");
  options->tasks.add_to(app);
  options->size.add_to(app, /*with_auto=*/true);
  options->device.add_all_to(app);
  options->measure.add_to(app);
  return {app, [options] { return run_generate(*options); }};
}

}  // namespace kbench::program
