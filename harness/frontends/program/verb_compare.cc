#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/evaluate/client/judge_client.h"
#include "harness/evaluate/client/named_task.h"
#include "harness/frontends/program/candidate_arguments.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/progress.h"
#include "harness/frontends/program/report.h"
#include "harness/frontends/program/signals.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/text.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/error.h"
#include "kbench/evaluate.h"
#include "kbench/task.h"
#include "kbench/text.h"
#include "libkbench/base/json_text.h"
#include "libkbench/core/in_words.h"
#include "libkbench/scoring/interval_ratio.h"

namespace kbench::program {
namespace {

struct CompareOptions {
  std::string a, b;
  SizeOptions size;
  DeviceOptions device;
  MeasureOptions measure;
  bool json = false;
};

/// Throws if the two are for different tasks, or the sizes are invalid.
void expect_comparable(const NamedCandidate& a, const NamedCandidate& b,
                       const CompareOptions& options, const vulkan::DeviceSnapshot& device) {
  const Task* const first = client::named_task(a.source);
  const Task* const second = client::named_task(b.source);
  if (first != nullptr && second != nullptr && first != second) {
    throw Error(ErrorCode::kInvalidArgument, shown(a.name) + " is for " + to_string(first->id) +
                                                 " and " + shown(b.name) + " for " +
                                                 to_string(second->id) +
                                                 "; two candidates of one task can be compared");
  }
  const DType dtype = dtype_for(a.source, options.size);
  if (dtype_for(b.source, options.size) != dtype) {
    throw Error(ErrorCode::kInvalidArgument,
                shown(a.name) + " and " + shown(b.name) +
                    " are written for different types; two candidates in one can be compared");
  }
  SizeOptions size = options.size;
  size.dtype_name = name_of(dtype);
  for (const Task* task : {first, second}) {
    if (task != nullptr) check_shapes({task}, size, device);
  }
}

/// The interval in words.
std::string in_words(const Interval& speedup, const std::string& a, const std::string& b) {
  if (speedup.low > 1) return b + " is faster";
  if (speedup.high < 1) return a + " is faster";
  return "no difference is seen";
}

std::string line_of(const Result& result) {
  std::string text = "  " + shown(result.candidate) + "  " + coloured_name(result.verdict);
  if (result.correct()) {
    return text + "  " + format_ms(result.candidate_ms) + ", " + format_speedup(result.speedup) +
           " over " + result.baseline + "\n";
  }
  if (!result.message.empty()) text += ": " + shown_message(result.message);
  text += "\n";
  for (const Diagnostic& each : result.diagnostics) text += "    " + format_diagnostic(each) + "\n";
  return text;
}

std::string as_text(const Result& a, const Result& b, const std::optional<Interval>& speedup) {
  std::string text = to_string(a.task) + (a.task_name.empty() ? "" : "_" + a.task_name) + " on " +
                     shown(a.device) + ", preset " + preset_in_words(a.preset, a.dtype) + "\n" +
                     line_of(a) + line_of(b);
  if (!speedup) return text;
  return text + format_speedup(*speedup) + " of " + shown(b.candidate) + " over " +
         shown(a.candidate) + ": " + in_words(*speedup, shown(a.candidate), shown(b.candidate)) +
         "\n";
}

std::string as_json(const Result& a, const Result& b, const std::optional<Interval>& speedup) {
  using Json = nlohmann::ordered_json;
  Json document = {{"a", Json::parse(to_json(a))}, {"b", Json::parse(to_json(b))}};
  document["speedup"] = nullptr;
  if (speedup) {
    document["speedup"] = {
        {"point", speedup->point}, {"low", speedup->low}, {"high", speedup->high}};
  }
  return json_text(document, 2) + "\n";
}

int run_compare(const CompareOptions& options) {
  const EvaluateOptions evaluation =
      evaluate_options(options.size, options.device, options.measure);
  if (evaluation.recorded) {
    throw Error(ErrorCode::kInvalidArgument,
                "compare pairs both candidates with the eager baseline; leave --baseline out");
  }
  if (options.a == "-" && options.b == "-") {
    throw Error(ErrorCode::kInvalidArgument, "'-' is given twice; standard input is one candidate");
  }
  const NamedCandidate candidates[] = {one_candidate(options.a), one_candidate(options.b)};
  client::JudgeClient judge(evaluation.program, evaluation.device, evaluation.validate);
  const vulkan::DeviceSnapshot device = judge.snapshot();
  if (options.size.preset != "auto") options.size.fixed_preset();
  expect_comparable(candidates[0], candidates[1], options, device);

  Result results[2];
  {
    Progress progress(stderr, 2);
    for (size_t i = 0; i < 2; ++i) {
      progress.begin(candidates[i].name);
      client::EvaluateRequest request{candidates[i].source, evaluation};
      request.options.dtype = dtype_for(candidates[i].source, options.size);
      request.more = i == 0;
      if (i == 0) request.next_files = {candidates[1].source};
      results[i] = judge.run(request, nullptr);
      results[i].candidate = candidates[i].name;
      progress.advance();
    }
  }
  std::optional<Interval> speedup;
  if (results[0].correct() && results[1].correct()) {
    speedup = ratio_of(results[1].speedup, results[0].speedup);
  }
  say(options.json ? as_json(results[0], results[1], speedup)
                   : as_text(results[0], results[1], speedup));
  if (!options.json && device.software()) say(software_warning(device.name) + "\n");
  return speedup ? kDone : kFailed;
}

}  // namespace

Verb add_compare(Command program) {
  auto options = std::make_shared<CompareOptions>();
  const Command app = program.add_verb(
      "compare", "Two candidates of one task, against each other",
      "Judges two candidates of a task as run does, one after the other by one judge, each in "
      "samples paired with the eager baseline, and divides the speedups: what B gains over A, with "
      "its 95% interval. Both are checked as always; exit code 1 when one does not pass.",
      "  kbench compare old.yaml new.yaml\n"
      "  kbench compare simple/relu.yaml mine/ --preset v0.1 --measure-seconds 5");
  const auto add = [&](const char* name, std::string& value, const char* what) {
    app.add_option(name, value, what, readable_or_dash()).required();
  };
  add("A CANDIDATE", options->a, "A YAML file, a folder that holds one, or - for standard input");
  add("B CANDIDATE", options->b, "The same: what is measured against A");
  options->size.add_to(app, /*with_auto=*/true);
  options->device.add_to(app);
  options->measure.add_to(app);
  app.in_group("Output").add_flag("--json", options->json, "Both results and the speedup as JSON");
  return {app, [options] { return run_compare(*options); }};
}

}  // namespace kbench::program
