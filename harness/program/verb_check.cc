#include <cstdio>
#include <memory>

#include "harness/client/judge_client.h"
#include "harness/program/help.h"
#include "harness/program/options.h"
#include "harness/program/report.h"
#include "harness/program/text.h"
#include "harness/program/verbs.h"
#include "kbench/error.h"
#include "kbench/text.h"

namespace kbench::program {
namespace {

struct CheckOptions {
  std::string candidate;
  SizeOptions size;
  DeviceOptions device;
  bool json = false;
};

int run_check(const CheckOptions& options) {
  EvaluateOptions evaluation;
  evaluation.preset = options.size.preset;
  evaluation.overrides = options.size.overrides();
  evaluation.device = options.device.device;
  evaluation.validate = options.device.validate;
  if (options.size.preset != "auto") options.size.fixed_preset();
  client::JudgeClient judge(evaluation.program, evaluation.device, evaluation.validate);
  Result result =
      judge.run({options.candidate, evaluation, /*check_only=*/true, /*more=*/false}, nullptr);
  result.candidate = options.candidate;
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
        shown(options.candidate).c_str(), to_string(result.task).c_str(), result.task_name.c_str(),
        result.preset.c_str(), result.device.c_str());
  } else {
    std::printf("%s: %s\n", std::string(name_of(result.verdict)).c_str(),
                shown_message(result.message).c_str());
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
