#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <unordered_set>

#include "harness/evaluate/client/device_list.h"
#include "harness/evaluate/generate/winners.h"
#include "harness/frontends/program/judge_all.h"
#include "harness/frontends/program/progress.h"
#include "harness/frontends/program/prompt_sets.h"
#include "harness/frontends/program/report.h"
#include "harness/frontends/program/run_progress.h"
#include "harness/frontends/program/run_setup.h"
#include "harness/frontends/program/signals.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/text.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/attempt.h"
#include "kbench/error.h"
#include "kbench/text.h"
#include "libkbench/base/files.h"
#include "libkbench/base/json_text.h"
#include "libkbench/core/in_words.h"
#include "libkbench/scoring/run_names.h"

namespace kbench::program {
namespace {

namespace fs = std::filesystem;
using generate::RunFolder;
using generate::Settings;

struct JudgeOptions {
  std::string run;
  bool confirm = false, json = false;
  SizeOptions size;
  DeviceOptions device;
  MeasureOptions measure;
};

/// A stored candidate to be judged again.
struct Stored {
  std::string model, candidate, hash;  ///< candidate: path relative to the run
  TaskId task;
};

Stored stored(const Attempt& attempt) {
  return {attempt.model, attempt.candidate, attempt.candidate_hash, attempt.task};
}

/// Each distinct candidate of a model on a task, in order.
std::vector<Stored> distinct_candidates(const RunFolder& folder) {
  std::vector<Stored> all;
  std::unordered_set<std::string> seen;
  read_attempts(folder.attempts(), [&](const Attempt& attempt) {
    if (attempt.outcome != Outcome::candidate || attempt.candidate.empty()) return;
    if (attempt.verdict == Verdict::invalid_candidate) return;  // on every device, at every size
    if (!seen.insert(attempt.model + " " + attempt.candidate_hash).second) return;
    all.push_back(stored(attempt));
  });
  std::stable_sort(all.begin(), all.end(),
                   [](const Stored& a, const Stored& b) { return a.task < b.task; });
  return all;
}

/// Reports what was judged into a file.
void report_judged(const std::string& path, const std::vector<Result>& results, size_t there,
                   bool json) {
  const auto passed = std::ranges::count_if(results, [](const Result& r) { return r.correct(); });
  if (!json) {
    say(std::to_string(results.size()) + " judged, " + std::to_string(passed) + " passed, " +
        std::to_string(there) + " were there already; in " + shown(path) + "\n");
    return;
  }
  nlohmann::ordered_json document = {{"file", path},
                                     {"judged", results.size()},
                                     {"passed", passed},
                                     {"there_already", there},
                                     {"results", nlohmann::ordered_json::array()}};
  for (const Result& result : results) {
    document["results"].push_back(nlohmann::ordered_json::parse(to_json(result)));
  }
  say(json_text(document, 2) + "\n");
}

/// Judges what the file lacks, and appends it.
int judge_into(const std::string& path, const std::vector<Stored>& candidates,
               const RunFolder& folder, std::vector<std::unique_ptr<queue::QueueJudge>> judges,
               const EvaluateOptions& options, const StopSignals& signals, bool json) {
  std::set<std::tuple<TaskId, std::string, std::string>> done;
  for (const Result& result : read_results(path)) {
    if (result.verdict == Verdict::harness_error) continue;
    done.emplace(result.task, result.set, result.candidate_hash);
  }
  std::vector<const Stored*> missing;
  for (const Stored& each : candidates) {
    if (done.contains({each.task, each.model, each.hash})) continue;
    if (is_defined(find_task(each.task), options.dtype)) missing.push_back(&each);
  }
  generate::make_folder(fs::path(path).parent_path().string());
  ResultWriter writer(path);
  Progress progress(stderr, missing.size());
  std::vector<Result> judged;
  std::vector<NamedRequest> requests;
  for (const Stored* each : missing) {
    NamedRequest& next = requests.emplace_back();
    next.name = to_string(each->task) + " " + shown(each->model);
    next.request = {folder.path() + "/" + each->candidate, options};
    next.request.candidate.author = each->model;
  }
  const auto keep = [&](size_t i, Result result) {
    result.set = missing[i]->model;
    result.task = missing[i]->task;
    result.candidate_hash = missing[i]->hash;
    const std::string set = "candidates/" + run_folder_name(result.set) + "/";
    result.candidate = missing[i]->candidate.substr(set.size());
    writer.append(result);
    progress.finish(to_string(result.task) + " " + shown(result.set), result);
    judged.push_back(std::move(result));
  };
  judge_all(std::move(judges), std::move(requests), progress, keep, signals.gently(),
            OnStop::finish);
  progress.close();
  report_judged(path, judged, candidates.size() - missing.size(), json);
  if (signals.signal() != 0) return 128 + signals.signal();
  const auto faults = std::ranges::count(judged, Verdict::harness_error, &Result::verdict);
  return faults > 0 ? kFailed : kDone;
}

/// "v0_NVIDIA_H200.jsonl".
std::string file_of(const EvaluateOptions& at, const std::string& device) {
  std::string name = at.preset;
  if (at.dtype != DType::f32) name += "_" + std::string(name_of(at.dtype));
  for (const auto& [variable, value] : at.overrides)
    name += "_" + variable + "=" + to_string(value);
  return run_folder_name(name + "_" + device).substr(0, 200) + ".jsonl";
}

/// Judges in the run itself what was answered and not judged, or only with a harness_error.
int judge_open(const RunFolder& folder, const Settings& settings, Devices devices,
               StopSignals& signals, RunProgress& progress, bool json) {
  std::vector<const Task*> tasks;
  for (const TaskId& id : settings.tasks()) tasks.push_back(&find_task(id));
  const Prompts prompts = find_prompts(settings.text("prompt").value_or("default"));
  generate::RunOptions run{
      .plan = generate::Plan(
          tasks, settings.model_names(), static_cast<int>(settings.number("samples").value_or(1)),
          generate::strategy_from_name(settings.text("strategy").value_or("repair"))),
      .members = {},
      .prompts = prompts};
  for (size_t i = 0; i < settings.models().size(); ++i) {
    const ModelConfig config =
        parse_models("models:\n  - " + settings.models()[i] + "\n", folder.settings()).at(0);
    generate::Member& member = run.members.emplace_back();
    member.model =
        std::make_shared<FunctionModel>(config.name, [](const Ask&, std::stop_token) -> Answer {
          throw ModelError(ModelError::Reach::model, "no model is asked");
        });
    member.price = config.price;
    member.thinking_tags = config.thinking_tags;
  }
  run.episode = episode_of(settings);
  if (settings.flag("device_block").value_or(true))
    run.episode.prompt.device = client::summary_of(devices.first);
  run.asking = false;
  run.evaluators = std::move(devices.evaluators);
  run.interrupt = signals.gently();
  run.on_attempt = [&](const Attempt& attempt, const generate::Status& status) {
    progress.attempt(attempt, status);
  };
  run.on_confirmed = [&](const Result& result, size_t done, size_t all) {
    progress.confirmed(result, done, all);
  };
  run.on_warning = [&](const std::string& text) { progress.warn(text); };
  const generate::RunOutcome outcome = generate::run(folder, std::move(run));
  progress.close();
  say(json ? outcome_json(folder.path(), outcome, /*judging=*/true, devices.first.software())
           : format_outcome(folder.path(), outcome, true));
  if (signals.signal() != 0) return 128 + signals.signal();
  return outcome.status.lost > 0 ? kFailed : kDone;
}

int run_judge_verb(const JudgeOptions& options) {
  const RunFolder folder(options.run);
  if (!fs::exists(folder.settings())) {
    throw Error(
        ErrorCode::kNotFound,
        shown(options.run) + " is no run: it holds no run.yaml (kbench generate makes one)");
  }
  Settings settings = Settings::read(folder.settings());
  const generate::RunLock lock(folder);
  const EvaluateOptions evaluation =
      evaluate_options(options.size, options.device, options.measure);
  Devices devices = open_devices(options.device, evaluation, {}, false);
  const EpisodeOptions episode = episode_of(settings);
  const bool other_sizes = options.size.preset != "auto" || !options.size.assignments.empty();
  const Preset preset =
      options.size.preset == "auto" ? episode.prompt.preset : options.size.fixed_preset();
  const Variables overrides = other_sizes ? options.size.overrides() : episode.prompt.overrides;
  const std::optional<std::string> device = settings.text("device");
  RunProgress progress;
  StopSignals signals([&](int) { progress.warn("ends after what is being judged"); });

  EvaluateOptions at = evaluation;
  at.preset = name_of(preset);
  at.overrides = overrides;
  if (options.size.dtype_name.empty()) at.dtype = episode.prompt.dtype;
  const bool as_begun = preset == episode.prompt.preset && overrides == episode.prompt.overrides &&
                        at.dtype == episode.prompt.dtype &&
                        (!device || *device == devices.first.name);
  if (options.confirm || !as_begun) {
    std::vector<std::unique_ptr<queue::QueueJudge>> judges(
        std::make_move_iterator(devices.evaluators.begin()),
        std::make_move_iterator(devices.evaluators.end()));
    if (options.confirm) {
      if (!as_begun) {
        throw Error(ErrorCode::kInvalidArgument,
                    "--confirm measures again what was measured: on " +
                        device.value_or("the same device") + " at preset " +
                        preset_in_words(name_of(episode.prompt.preset), episode.prompt.dtype));
      }
      std::vector<Stored> winners;
      for (const Attempt& winner : generate::winners_of(folder, /*unconfirmed=*/false)) {
        winners.push_back(stored(winner));
      }
      return judge_into(folder.confirmed(), winners, folder, std::move(judges), at, signals,
                        options.json);
    }
    const std::string path = folder.path() + "/judged/" + file_of(at, devices.first.name);
    return judge_into(path, distinct_candidates(folder), folder, std::move(judges), at, signals,
                      options.json);
  }
  if (!device) {
    settings.set("device", devices.first.name);
    settings.set("driver", devices.first.driver);
    replace_file(folder.settings(), settings.to_yaml());
  }
  return judge_open(folder, settings, std::move(devices), signals, progress, options.json);
}

}  // namespace

Verb add_judge(Command program) {
  auto options = std::make_shared<JudgeOptions>();
  const Command app = program.add_verb(
      "judge", "Judge a run's candidates again, without asking a model",
      "Judges the candidates that a run keeps, and asks no model. As the run was begun, it judges "
      "what is not judged yet (of kbench generate --no-judge, or where a judge failed). On another "
      "device or at other sizes it judges every different candidate there, into a file of results "
      "under RUN/judged. The best candidate of each model on each task is measured once more, on "
      "fresh inputs, where it was chosen among several measurements, into RUN/confirmed.jsonl, "
      "which kbench report goes by: the best of many noisy measurements is too good. With "
      "--confirm that is all it does, also of those with no choice.",
      "  kbench judge run1\n"
      "  kbench judge run1 --confirm\n"
      "  kbench judge run1 --device 1 --preset v0.1");
  app.add_option("RUN", options->run, "The run's folder", readable()).required();
  const Command output = app.in_group("Output");
  output.add_flag("--confirm", options->confirm, "Measure all winners once more, and nothing else");
  options->size.add_to(app, /*with_auto=*/true);
  options->device.add_remote_to(app);
  options->measure.add_to(app);
  output.add_flag("--json", options->json, "What was judged as JSON on standard output");
  return {app, [options] { return run_judge_verb(*options); }};
}

}  // namespace kbench::program
