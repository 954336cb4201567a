#include "harness/evaluate/diagnose/investigate.h"

#include <algorithm>
#include <random>

#include "harness/evaluate/diagnose/steps.h"
#include "harness/measure/process/host_lock.h"
#include "harness/measure/trial/baseline_timer.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/candidate_source.h"
#include "kbench/error.h"

namespace kbench::diagnose {
namespace {

uint64_t fresh_seed() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

/// The candidate's YAML, for quoting; nothing if it cannot be read.
std::map<std::string, std::string> manifest_of(const CandidateSource& source) {
  if (source.files) {
    const auto found = source.files->find(source.manifest);
    if (found == source.files->end()) return {};
    return {*found};
  }
  try {
    const CandidatePlace place = candidate_place(source.path);
    CandidateFolder folder(place.folder);
    if (auto text = folder.read(place.manifest)) return {{place.manifest, *std::move(text)}};
  } catch (const Error&) {  // The result says what is wrong.
  }
  return {};
}

/// The pattern of every wrong output.
std::string pattern_of(const Look& look, double relative) {
  std::string text;
  for (size_t i = 0; i < look.expected.size(); ++i) {
    const std::string pattern = error_pattern(look.compared(i, relative));
    if (pattern.empty()) continue;
    text += (text.empty() ? "" : "; ") +
            (look.expected.size() > 1 ? look.graph->output_name(i) + ": " : "") + pattern;
  }
  return text;
}

void look_at_values(client::JudgeClient& judge, const Result& result,
                    const InvestigateOptions& options, Evidence& evidence) {
  const Task& task = find_task(result.task);
  const double relative = bounds_of(task, options.question.dtype).relative;
  Looker looker(judge, task, options.question, options.seed ? *options.seed : fresh_seed());
  const TimeLimit for_sizes(options.seconds);
  const Failure failure = find_failure(looker, result, options.question.overrides, for_sizes);
  evidence.right_when_small = failure.right_when_small;
  evidence.right_alone = failure.right_alone;
  if (!failure.look) {
    constexpr size_t kMost = 5;
    evidence.not_tried = failure.not_tried;
    if (evidence.not_tried.size() > kMost) evidence.not_tried.resize(kMost);
    return;
  }
  const Look& look = *failure.look;
  evidence.seen_at = look.variables;
  evidence.racing = look.racing();
  evidence.wrong_on_other_inputs = look.other_inputs;
  evidence.repeats_first = look.repeats_first;
  for (size_t i = 0; i < look.expected.size(); ++i) {
    const std::vector<char> wrong = wrong_elements(look.compared(i, relative));
    evidence.elements += static_cast<int64_t>(wrong.size());
    evidence.wrong += std::ranges::count(wrong, 1);
  }
  evidence.pattern = pattern_of(look, relative);
  if (evidence.racing > 0) {
    evidence.pattern = std::to_string(evidence.racing) + " of " +
                       std::to_string(evidence.elements) +
                       " elements differ between two runs on the same inputs over the same memory: "
                       "a race" +
                       (evidence.pattern.empty() ? "" : "; ") + evidence.pattern;
  }
  const TimeLimit for_mutants(options.seconds);
  const Matches matches = matching_mutants(look, relative, options.matches, for_mutants);
  evidence.matches = matches.descriptions;
  evidence.mutants_tried = matches.tried;
  const auto smaller = shrink(looker, look, options.size_tries, for_sizes);
  if (failure.on_its_values) evidence.failed = failing_case(look, relative);
  evidence.smallest = failing_case(smaller ? *smaller : look, relative);
}

}  // namespace

Evidence investigate(client::JudgeClient& judge, const Result& result,
                     const InvestigateOptions& options) {
  Evidence evidence;
  evidence.files = manifest_of(options.question.candidate);
  const bool failed_at_others = !result.correct() && failed_on(result, options.question.overrides);
  if (is_about_values(result.verdict) || failed_at_others) {
    look_at_values(judge, result, options, evidence);
  } else if (result.verdict == Verdict::passed && options.profile_runs > 0) {
    profile(judge, options.question, result.preset, options.profile_runs, evidence);
    if (options.roofline) {
      evidence.roof_gbytes_per_s = options.roofline->copy_bytes_per_s * 1e-9;
      evidence.roof_tflops = options.roofline->flops_per_s * 1e-12;
    }
  }
  return evidence;
}

Roofline roofline_of(const std::string& device) {
  try {
    vulkan::OpenOptions open;
    open.selector = device;
    const auto opened = vulkan::Device::open(open);
    process::HostLock lock(
        process::device_lock_name(vulkan::to_string(opened->snapshot().device_uuid)));
    lock.take();
    return trial::measure_roofline(*opened);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace kbench::diagnose
