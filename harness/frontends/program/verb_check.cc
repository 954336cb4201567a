#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "harness/evaluate/client/judge_client.h"
#include "harness/frontends/program/candidate_arguments.h"
#include "harness/frontends/program/diagnostic_text.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/report.h"
#include "harness/frontends/program/text.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/candidate.h"
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

/// "my/relu.yaml: compiles: ...", below the diagnostics.
std::string text_of(const Result& result) {
  std::string text = format_diagnostics(result, result.candidate, "");
  text += shown(result.candidate) + ": " + std::string(name_of(result.verdict)) + ": ";
  if (result.verdict != Verdict::compiles) {
    return text +
           (repeats_diagnostic(result) ? std::string(explain(result.verdict))
                                       : shown_message(result.message)) +
           "\n";
  }
  return text + "fits " + to_string(result.task) + "_" + result.task_name + " at preset " +
         result.preset + " on " + shown(result.device) + "; kbench run tells whether it is right\n";
}

int run_check(const CheckOptions& options) {
  EvaluateOptions evaluation;
  evaluation.preset = options.size.preset;
  evaluation.overrides = options.size.overrides();
  evaluation.device = options.device.device;
  evaluation.validate = options.device.validate;
  if (options.size.preset != "auto") options.size.fixed_preset();
  const std::vector<std::string> files = candidate_files(options.candidate);
  if (files.empty()) {
    throw Error(ErrorCode::kNotFound, "'" + shown(options.candidate) +
                                          "' holds no candidate: no *.yaml file anywhere below it");
  }
  client::JudgeClient judge(evaluation.program, evaluation.device, evaluation.validate);
  std::vector<Result> results;
  for (size_t i = 0; i < files.size(); ++i) {
    client::EvaluateRequest request{files[i], evaluation, /*check_only=*/true};
    request.options.dtype = dtype_for(files[i], options.size);
    request.more = i + 1 < files.size();
    results.push_back(judge.run(request, nullptr));
    results.back().candidate = files[i];
    if (!options.json) std::fputs(text_of(results.back()).c_str(), stdout);
  }
  const auto good = std::ranges::count(results, Verdict::compiles, &Result::verdict);
  if (options.json) {
    std::printf("%s\n", results_json(results).c_str());
  } else if (results.size() > 1) {
    std::printf("%td of %zu fit and compile; kbench run tells whether they are right\n", good,
                results.size());
  }
  return good == static_cast<ptrdiff_t>(results.size()) ? kDone : kFailed;
}

}  // namespace

Verb add_check(Command program) {
  auto options = std::make_shared<CheckOptions>();
  const Command app = program.add_verb(
      "check", "Whether candidates fit their tasks and compile",
      "Reads a candidate, or every candidate below a folder, works out its names and expressions "
      "at the preset's sizes, and compiles its kernels for the device, without running them: the "
      "best verdict is `compiles`. Diagnostics name the candidate's own files and lines; that the "
      "device lacks the task's memory (`does_not_fit`) is said where all else is right. Exit code "
      "1 when one does not fit or does not compile.",
      "  kbench check my/relu.yaml\n"
      "  kbench check my/ --preset v0.1 --device cpu");
  app.add_option("CANDIDATE", options->candidate, "A YAML file, or a folder", readable())
      .required();
  options->size.add_to(app, /*with_auto=*/true);
  options->device.add_to(app);
  app.in_group("Output").add_flag("--json", options->json, "The result as JSON on standard output");
  return {app, [options] { return run_check(*options); }};
}

}  // namespace kbench::program
