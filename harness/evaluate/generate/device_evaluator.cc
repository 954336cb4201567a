#include "harness/evaluate/generate/device_evaluator.h"

#include <algorithm>
#include <utility>

#include "harness/evaluate/diagnose/investigate.h"

namespace kbench::generate {
namespace {

/// Most seconds spent on finding smaller sizes, and again on mutants: other candidates are waiting.
constexpr double kSeconds = 8;

void take_out(std::string& text, const std::string& part) {
  for (size_t at; !part.empty() && (at = text.find(part)) != text.npos;)
    text.erase(at, part.size());
}

}  // namespace

DeviceEvaluator::DeviceEvaluator(EvaluateOptions options, const Roofline& roofline, bool evidence)
    : options_(std::move(options)),
      roofline_(roofline),
      evidence_(evidence),
      judge_(options_.program, options_.device, options_.validate),
      small_(options_.program, options_.device, options_.validate) {}

EvaluateOptions at_sizes_of(const JudgeRequest& request, EvaluateOptions options) {
  options.preset = request.at.preset;
  options.overrides = request.at.variables;
  options.dtype = request.at.dtype;
  if (request.quick) {
    options.recorded.reset();
    options.plan = {.precision = 1, .max_seconds = 0.02, .min_samples = 4, .max_samples = 4};
  }
  return options;
}

Result DeviceEvaluator::judge(const JudgeRequest& request, client::EvaluateRequest asked) {
  asked.options = at_sizes_of(request, options_);
  Result result = (request.quick ? small_ : judge_).run(asked, options_.on_stage);
  // Messages name files as the model did; and a run's folder may be moved.
  const std::string& path = asked.candidate.path;
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  take_out(result.message, folder);
  for (Diagnostic& each : result.diagnostics) {
    take_out(each.file, folder);
    take_out(each.message, folder);
  }
  return result;
}

Evidence DeviceEvaluator::investigate(const JudgeRequest& request, const std::string& file,
                                      const Result& result) {
  if (!evidence_) return {};
  diagnose::InvestigateOptions options;
  options.evaluate = at_sizes_of(request, options_);
  options.seconds = kSeconds;
  if (roofline_.copy_bytes_per_s > 0) options.roofline = roofline_;
  return diagnose::investigate(request.quick ? small_ : judge_, file, result, options);
}

}  // namespace kbench::generate
