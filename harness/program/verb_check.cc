#include <cstdio>
#include <memory>

#include "harness/program/help.h"
#include "harness/program/options.h"
#include "harness/program/report.h"
#include "harness/program/text.h"
#include "harness/program/verbs.h"
#include "harness/trial/trial.h"
#include "harness/vulkan/device.h"
#include "harness/worker/experiment.h"
#include "kbench/candidate.h"
#include "kbench/error.h"

namespace kbench::program {
namespace {

struct CheckOptions {
  std::string candidate;
  SizeOptions size;
  DeviceOptions device;
  bool json = false;
};

/// Parses, resolves and compiles; what is wrong with the candidate becomes the result's verdict.
Result check(const CheckOptions& options, const vulkan::DeviceSnapshot& snapshot) {
  Result result;
  result.candidate = options.candidate;
  try {
    const Candidate candidate = load_candidate(options.candidate);
    result.candidate_hash = candidate.hash;
    const Task* task = nullptr;
    try {
      task = &find_task(candidate.task);
    } catch (const Error& e) {
      throw Error(e.code(), candidate.task_at, e.message());
    }
    const Preset preset = check_sizes({task}, options.size, snapshot);
    const auto graph = build_graph(*task, preset, options.size.overrides());
    EvaluateOptions evaluation;
    evaluation.validate = options.device.validate;
    worker::identify(result, *task, *graph, preset, snapshot, evaluation);
    const ResolvedCandidate resolved = resolve(candidate, *graph);
    const auto device = vulkan::Device::open({options.device.device, options.device.validate});
    result.verdict = trial::check_candidate(*device, *graph, resolved, result);
  } catch (const Error& e) {
    // Errors with a place are about the candidate; those without are about the command line.
    if (e.location().file.empty()) throw;
    result.verdict = Verdict::invalid_candidate;
    result.message = e.what();
  }
  return result;
}

int run_check(const CheckOptions& options) {
  const Result result = check(options, options.device.choose());
  const bool passed = result.correct();
  if (options.json) {
    std::printf("%s\n", results_json({&result, 1}).c_str());
    return passed ? kDone : kFailed;
  }
  for (const Diagnostic& diagnostic : result.diagnostics) {
    std::printf("%s\n", format_diagnostic(diagnostic).c_str());
  }
  if (passed) {
    std::printf(
        "%s: fits %s_%s at preset %s and compiles for %s; kbench run tells whether it is "
        "right\n",
        options.candidate.c_str(), to_string(result.task).c_str(), result.task_name.c_str(),
        result.preset.c_str(), result.device.c_str());
  } else {
    std::printf("%s: %s\n", std::string(name_of(result.verdict)).c_str(), result.message.c_str());
  }
  return passed ? kDone : kFailed;
}

}  // namespace

Verb add_check(CLI::App& program) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* app = add_verb(
      program, "check", "Whether a candidate fits its task and compiles",
      "Reads a candidate, works out its names and expressions at the preset's sizes, and compiles "
      "its\n"
      "kernels for the device, without running them. Diagnostics name the candidate's own files "
      "and\n"
      "lines. Exit code 1 when it does not fit or does not compile.",
      "  kbench check my/relu.yaml\n"
      "  kbench check my/relu/ --preset v0.1 --device cpu");
  app->add_option("CANDIDATE", options->candidate, "A YAML file, or a folder with candidate.yaml")
      ->required()
      ->check(readable())
      ->option_text("CANDIDATE");
  options->size.add_to(*app, /*with_auto=*/true);
  options->device.add_to(*app);
  app->add_flag("--json", options->json, "The result as JSON on standard output")->group("Output");
  return {app, [options] { return run_check(*options); }};
}

}  // namespace kbench::program
