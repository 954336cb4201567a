#include "harness/frontends/program/judge_again.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/evaluate/client/device_list.h"
#include "harness/evaluate/generate/ledger.h"
#include "harness/frontends/program/json_documents.h"
#include "harness/frontends/program/judge_all.h"
#include "harness/frontends/program/progress.h"
#include "harness/frontends/program/prompt_sets.h"
#include "harness/frontends/program/run_progress.h"
#include "harness/frontends/program/run_setup.h"
#include "harness/frontends/program/signals.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/attempt.h"
#include "kbench/error.h"
#include "libkbench/base/files.h"
#include "libkbench/core/in_words.h"
#include "libkbench/scoring/run_names.h"

namespace kbench::program {
namespace {

namespace fs = std::filesystem;
using generate::RunFolder;
using generate::Settings;

/// The candidates of a run, by task. Those that are invalid are so on every device and at every
/// size.
std::vector<Attempt> candidates_of(const RunFolder& folder) {
  std::vector<Attempt> all;
  read_attempts(folder.attempts(), [&](const Attempt& attempt) {
    if (attempt.outcome != Outcome::candidate || attempt.candidate.empty() ||
        attempt.verdict == Verdict::invalid_candidate) {
      return;
    }
    all.push_back(attempt);
  });
  std::ranges::stable_sort(all, {}, &Attempt::task);
  return all;
}

/// What was judged into a file, for people and as the document of --json.
struct Judged {
  std::string file;
  size_t judged = 0, passed = 0, there_already = 0;
  std::vector<Result> results;
};
KBENCH_FIELDS(Judged, file, judged, passed, there_already, results)

/// Judges what the file lacks, and appends it. Equal candidates of a model are judged once, and
/// each has a result.
int judge_into(const std::string& path, const std::vector<Attempt>& candidates,
               const RunFolder& folder, OpenDevices devices, const Question& asked,
               const StopSignals& signals, bool json) {
  std::set<std::tuple<TaskId, std::string, std::string>> done;
  for (const Result& result : read_results(path)) {
    if (result.verdict == Verdict::harness_error) continue;
    done.emplace(result.task, result.set, result.candidate);
  }
  const auto in_set = [](const Attempt& each) {
    return each.candidate.substr(("candidates/" + run_folder_name(each.model) + "/").size());
  };
  size_t open = 0;
  std::map<std::pair<std::string, std::string>, std::vector<const Attempt*>> equal;
  std::vector<const Attempt*> missing;
  std::vector<NamedQuestion> questions;
  for (const Attempt& each : candidates) {
    if (done.contains({each.task, each.model, in_set(each)}) ||
        !is_defined(find_task(each.task), asked.dtype)) {
      continue;
    }
    ++open;
    std::vector<const Attempt*>& same = equal[{each.model, each.candidate_hash}];
    same.push_back(&each);
    if (same.size() > 1) continue;
    missing.push_back(&each);
    NamedQuestion& next = questions.emplace_back();
    next.name = to_string(each.task) + " " + shown(each.model);
    next.question = asked;
    next.question.candidate = folder.path() + "/" + each.candidate;
    next.question.candidate.author = each.model;
  }
  generate::make_folder(fs::path(path).parent_path().string());
  ResultWriter writer(path);
  Progress progress(stderr, missing.size());
  Judged judged{.file = path, .there_already = candidates.size() - open, .results = {}};
  const auto keep = [&](size_t i, Result result) {
    result.set = missing[i]->model;
    result.task = missing[i]->task;
    result.candidate_hash = missing[i]->candidate_hash;
    for (const Attempt* each : equal.at({result.set, result.candidate_hash})) {
      result.candidate = in_set(*each);
      writer.append(result);
      judged.passed += result.correct() ? 1 : 0;
      judged.results.push_back(result);
    }
    progress.finish(to_string(result.task) + " " + shown(result.set), result);
  };
  judge_all(std::move(devices.evaluators), std::move(questions), progress, keep, signals.gently(),
            OnStop::finish);
  progress.close();
  judged.judged = judged.results.size();
  say(json ? json_document(judged)
           : std::to_string(judged.judged) + " judged, " + std::to_string(judged.passed) +
                 " passed, " + std::to_string(judged.there_already) + " were there already; in " +
                 shown(path) + "\n");
  if (signals.signal() != 0) return 128 + signals.signal();
  const bool faults = std::ranges::any_of(judged.results, [](const Result& result) {
    return result.verdict == Verdict::harness_error;
  });
  return faults ? kFailed : kDone;
}

/// "v0_NVIDIA_H200.jsonl".
std::string file_of(const Question& at, const std::string& device) {
  std::string name = at.preset;
  if (at.dtype != DType::f32) name += "_" + std::string(name_of(at.dtype));
  for (const auto& [variable, value] : at.overrides)
    name += "_" + variable + "=" + to_string(value);
  return run_folder_name(name + "_" + device).substr(0, 200) + ".jsonl";
}

/// Judges in the run itself what was answered and not judged, or only with a harness_error.
int judge_open(const RunFolder& folder, const Settings& settings, OpenDevices devices,
               const Question& asked, const StopSignals& signals, RunProgress& progress,
               bool json) {
  std::vector<const Task*> tasks;
  for (const TaskId& id : settings.tasks()) tasks.push_back(&find_task(id));
  generate::RunOptions run{
      .plan = generate::Plan(tasks, settings.model_names(),
                             static_cast<int>(settings.number("samples").value_or(1))),
      .members = {},
      .prompts = find_prompts(settings.text("prompt").value_or("default"))};
  for (const std::string& model : settings.models()) {
    const ModelConfig config =
        parse_models("models:\n  - " + model + "\n", folder.settings()).at(0);
    const auto refuse = [](const Ask&, std::stop_token) -> Answer {
      throw ModelError(ModelError::Reach::model, "no model is asked");
    };
    run.members.push_back({.model = std::make_shared<FunctionModel>(config.name, refuse),
                           .price = config.price,
                           .thinking_tags = config.thinking_tags});
  }
  run.episode = episode_of(settings);
  run.episode.asked = asked;
  run.episode.feedback.evidence = false;  // no model reads it
  if (settings.flag("device_block").value_or(true))
    run.episode.prompt.device = client::summary_of(devices.first());
  run.asking = false;
  run.evaluators = std::move(devices.evaluators);
  run.interrupt = signals.gently();
  progress.show(run);
  const generate::RunOutcome outcome = generate::run(folder, std::move(run));
  progress.close();
  say(json ? outcome_json(folder.path(), outcome, /*judging=*/true, devices.first().software())
           : format_outcome(folder.path(), outcome, true));
  if (signals.signal() != 0) return 128 + signals.signal();
  return outcome.status.lost > 0 ? kFailed : kDone;
}

}  // namespace

bool is_run(const std::string& path) {
  std::error_code ignored;
  return fs::exists(RunFolder(path).settings(), ignored);
}

int judge_again(const std::string& run, const SizeOptions& size, const DeviceOptions& device,
                const MeasureOptions& measure, bool confirm, bool json) {
  const RunFolder folder(run);
  Settings settings = Settings::read(folder.settings());
  const generate::RunLock lock(folder);
  Question at = question_of(size, device, measure);
  OpenDevices devices = open_devices(device);
  const PromptContext begun = episode_of(settings).prompt;
  const bool own_sizes = size.preset == "auto" && size.assignments.empty();
  at.preset = name_of(size.preset == "auto" ? begun.preset : size.fixed_preset());
  if (own_sizes) at.overrides = begun.overrides;
  if (size.dtype_name.empty()) at.dtype = begun.dtype;
  const std::optional<std::string> begun_on = settings.text("device");
  const bool as_begun = at.preset == name_of(begun.preset) && at.overrides == begun.overrides &&
                        at.dtype == begun.dtype && (!begun_on || *begun_on == devices.first().name);
  RunProgress progress;
  const StopSignals signals([&](int) { progress.warn("ends after what is being judged"); });
  if (confirm) {
    if (!as_begun) {
      throw Error(ErrorCode::kInvalidArgument,
                  "--confirm measures again what was measured: on " +
                      begun_on.value_or("the same device") + " at preset " +
                      preset_in_words(name_of(begun.preset), begun.dtype));
    }
    return judge_into(folder.confirmed(), generate::winners_of(folder, /*unconfirmed=*/false),
                      folder, std::move(devices), at, signals, json);
  }
  if (!as_begun) {
    const std::string path = folder.path() + "/judged/" + file_of(at, devices.first().name);
    return judge_into(path, candidates_of(folder), folder, std::move(devices), at, signals, json);
  }
  if (!begun_on) {
    settings.set("device", devices.first().name);
    settings.set("driver", devices.first().driver);
    replace_file(folder.settings(), settings.to_yaml());
  }
  return judge_open(folder, settings, std::move(devices), at, signals, progress, json);
}

}  // namespace kbench::program
