#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/evaluate/client/judge_client.h"
#include "harness/evaluate/diagnose/investigate.h"
#include "harness/frontends/program/candidates.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/progress.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/candidate.h"
#include "kbench/error.h"
#include "kbench/feedback.h"
#include "libkbench/base/json_text.h"
#include "libkbench/core/variables_json.h"
#include "libkbench/scoring/json_fields.h"

namespace kbench {

KBENCH_FIELDS(StepProfile, name, ms, share, bytes, flops)
KBENCH_FIELDS(FailingCase::Array, name, shape, values)

}  // namespace kbench

namespace kbench::program {
namespace {

using nlohmann::json;

struct DiagnoseOptions {
  std::string candidate;
  CandidateTasks tasks;
  SizeOptions size;
  DeviceOptions device;
  MeasureOptions measure;
  bool json = false;
};

json evidence_json(const Evidence& evidence) {
  json value = {{"pattern", evidence.pattern},
                {"matches", evidence.matches},
                {"mutants_tried", evidence.mutants_tried},
                {"seen_at", variables_json<json>(evidence.seen_at)},
                {"right_alone", evidence.right_alone},
                {"right_when_small", evidence.right_when_small},
                {"elements", evidence.elements},
                {"wrong", evidence.wrong},
                {"racing", evidence.racing},
                {"not_tried", evidence.not_tried},
                {"steps", json_of<json>(evidence.steps)},
                {"baseline", json_of<json>(evidence.baseline)},
                {"roof_gbytes_per_s", evidence.roof_gbytes_per_s},
                {"roof_tflops", evidence.roof_tflops}};
  const auto add = [&](const char* name, const std::optional<FailingCase>& found) {
    if (!found) return;
    value[name] = {{"sizes", variables_json<json>(found->overrides)},
                   {"verdict", std::string(name_of(found->verdict))},
                   {"arrays", json_of<json>(found->arrays)}};
  };
  add("failed", evidence.failed);
  add("smallest", evidence.smallest);
  return value;
}

int run_diagnose(DiagnoseOptions& options) {
  diagnose::InvestigateOptions investigation;
  Question& question = investigation.question;
  question = question_of(options.size, options.device, options.measure);
  options.tasks.read();
  const NamedCandidate named = one_candidate(options.candidate, options.tasks.of_unnamed());
  question.candidate = named.source;
  const std::optional<Candidate> candidate = candidate_if_readable(named.source);
  if (candidate) options.tasks.expect(lookup_task(candidate->task), named.name);
  question.dtype = dtype_for(candidate, options.size);
  if (options.size.preset != "auto") options.size.fixed_preset();
  client::JudgeClient judge("", options.device.device, options.device.validate);
  Progress progress(stderr, 1);
  progress.begin(named.name);
  Result result =
      judge.run({.question = question, .more = true},
                {.on_stage = [&](const char* now) { progress.begin(named.name, now); }});
  result.candidate = named.name;
  progress.begin(named.name + (result.correct() ? "  looks where its time goes"
                                                : "  looks for what is wrong with it"));
  if (result.correct()) investigation.roofline = diagnose::roofline_of(options.device.device);
  const Evidence evidence = diagnose::investigate(judge, result, investigation);
  progress.close();
  const Feedback told = feedback(result, candidate ? &*candidate : nullptr, evidence);
  if (options.json) {
    const json document = {{"result", json::parse(to_json(result))},
                           {"evidence", evidence_json(evidence)},
                           {"feedback", {{"text", told.text}, {"hash", told.hash}}}};
    std::printf("%s\n", json_text(document, 2).c_str());
  } else {
    std::fputs(told.text.c_str(), stdout);
  }
  return result.correct() ? kDone : kFailed;
}

}  // namespace

Verb add_diagnose(Command program) {
  auto options = std::make_shared<DiagnoseOptions>();
  const Command app = program.add_verb(
      "diagnose", "What is wrong with a candidate, or where its time goes",
      "Evaluates a candidate and looks for the cause: the smallest sizes at which it fails with "
      "all arrays, the pattern of the errors, the operator that is missing; or, of one that "
      "passes, the time of each step and of each of the baseline's operators. Prints what a model "
      "would be told. Exit code 1 when it does not pass.",
      "  kbench diagnose my/relu.yaml\n"
      "  kbench diagnose my/relu.yaml --preset smoke --device cpu --json");
  app.add_option(
         "CANDIDATE,--candidates", options->candidate,
         "A YAML file, a Python file with a ModelNew, a folder with one of them, or - for one on "
         "standard input",
         readable_or_dash())
      .required();
  options->tasks.add_to(app);
  options->size.add_to(app, /*with_auto=*/true);
  options->device.add_to(app);
  options->measure.add_to(app);
  app.in_group("Output").add_flag("--json", options->json,
                                  "Result, evidence and feedback as JSON on standard output");
  return {app, [options] { return run_diagnose(*options); }};
}

}  // namespace kbench::program
