// evaluate_in_process(): from a candidate's file to its result.

#include "kbench/evaluate.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/trial/trial.h"
#include "harness/vulkan/device.h"
#include "harness/worker/experiment.h"
#include "kbench/candidate.h"
#include "kbench/error.h"
#include "kbench/version.h"

namespace kbench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// The verdict of a failure that is the candidate file's.
Verdict refuse(Result& result, const Error& error) {
  result.verdict = Verdict::invalid_candidate;
  result.message = error.what();
  const Location& place = error.location();
  if (!place.file.empty()) {
    result.diagnostics.push_back({"error", place.file, place.line, place.column, error.message()});
  }
  return result.verdict;
}

/// Names set and candidate after folder and file; callers with a notion of sets overwrite both.
void name_files(Result& result, const std::string& file) {
  const fs::path path = fs::path(file).lexically_normal();
  result.candidate = path.filename().string();
  result.set = path.has_parent_path() ? path.parent_path().filename().string() : "";
}

/// Runs the trial; what it throws becomes a verdict of the result.
void run(vulkan::Device& device, const Task& task, const Graph& graph,
         const ResolvedCandidate& candidate, const EvaluateOptions& options, Result& result) {
  try {
    trial::run_trial(device, task, graph, candidate, options, result);
  } catch (const Error& e) {
    // A hung or lost device has its verdict when the candidate was at work.
    const bool judged = (e.code() == ErrorCode::kTimeout || e.code() == ErrorCode::kDeviceLost) &&
                        result.verdict != Verdict::harness_error;
    if (!judged) {
      result.verdict = Verdict::harness_error;
      result.message = e.what();
    }
  }
  const std::vector<std::string> messages = device.take_validation_messages();
  if (messages.empty()) return;
  result.verdict = Verdict::invalid_candidate;
  result.message = "the validation layer says: " + messages.front();
}

}  // namespace

Result evaluate_in_process(const std::string& candidate_file, const EvaluateOptions& options) {
  const auto start = Clock::now();
  const auto stage = [&](const char* name) {
    if (options.on_stage) options.on_stage(name);
  };
  stage("load");
  Result result;
  name_files(result, candidate_file);
  const auto finish = [&]() -> Result&& {
    result.wall_s = std::chrono::duration<double>(Clock::now() - start).count();
    return std::move(result);
  };

  vulkan::OpenOptions open;
  open.selector = options.device;
  open.validate = options.validate;
  const auto device = vulkan::Device::open(open);
  const vulkan::DeviceSnapshot& snapshot = device->snapshot();
  result.device = snapshot.name;
  result.driver = snapshot.driver;
  result.software_device = snapshot.software();
  result.settings = worker::settings_text(options);
  result.version = version();

  Candidate candidate;
  const Task* task = nullptr;
  try {
    candidate = load_candidate(candidate_file);
    result.candidate_hash = candidate.hash;
    result.task = candidate.task;
    task = &find_task(candidate.task);
    result.task_name = task->name;
  } catch (const Error& e) {
    refuse(result, e);
    return finish();
  }

  const Task* const tasks[] = {task};
  const Preset preset = worker::choose_preset(options.preset, tasks, options.overrides, snapshot);
  const auto graph = build_graph(*task, preset, options.overrides);
  worker::identify(result, *task, *graph, preset, snapshot, options);

  ResolvedCandidate resolved;
  try {
    resolved = resolve(candidate, *graph);
  } catch (const Error& e) {
    refuse(result, e);
    return finish();
  }
  run(*device, *task, *graph, resolved, options, result);
  return finish();
}

}  // namespace kbench
