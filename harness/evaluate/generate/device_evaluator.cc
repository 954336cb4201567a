#include "harness/evaluate/generate/device_evaluator.h"

#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "harness/evaluate/diagnose/investigate.h"
#include "kbench/episode.h"
#include "kbench/error.h"
#include "libkbench/base/files.h"

namespace kbench::generate {
namespace {

/// Most seconds spent on finding smaller sizes, and again on mutants: other candidates are waiting.
constexpr double kSeconds = 8;

void take_out(std::string& text, const std::string& part) {
  for (size_t at; !part.empty() && (at = text.find(part)) != text.npos;)
    text.erase(at, part.size());
}

}  // namespace

DeviceEvaluator::DeviceEvaluator(const JudgeOptions& judge, Question how, const Roofline& roofline,
                                 bool evidence)
    : how_(std::move(how)),
      roofline_(roofline),
      evidence_(evidence),
      judge_(judge.program, judge.device, how_.rule.validate),
      small_(judge.program, judge.device, how_.rule.validate) {}

Question at_sizes_of(const JudgeRequest& request, Question how, CandidateSource candidate) {
  how.candidate = std::move(candidate);
  how.preset = request.at.preset;
  how.overrides = request.at.variables;
  how.dtype = request.at.dtype;
  if (request.quick) {
    how.recorded.reset();
    how.plan = {.precision = 1,
                .max_seconds = 0.02,
                .min_samples = 4,
                .max_samples = 4,
                .seed = how.plan.seed};
  }
  return how;
}

Result DeviceEvaluator::judge(const JudgeRequest& request, judge::EvaluateRequest asked) {
  asked.question = at_sizes_of(request, how_, std::move(asked.question.candidate));
  Result result = (request.quick ? small_ : judge_).run(asked);
  // Messages name files as the model did; and a run's folder may be moved.
  const std::string& path = asked.question.candidate.path;
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
  options.question = at_sizes_of(request, how_);
  options.seconds = kSeconds;
  if (roofline_.copy_bytes_per_s > 0) options.roofline = roofline_;
  return diagnose::investigate(request.quick ? small_ : judge_, file, result, options);
}

}  // namespace kbench::generate

namespace kbench {
namespace {

namespace fs = std::filesystem;

/// An evaluator with a temporary folder for the candidate that it works on.
class EpisodeEvaluator {
 public:
  EpisodeEvaluator(const Question& how, const JudgeOptions& judge)
      : evaluator_(judge, how, {}, /*evidence=*/true) {
    std::string pattern = (fs::temp_directory_path() / "kbench-episode-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw_io("make the folder", pattern);
    folder_ = pattern;
  }
  ~EpisodeEvaluator() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  EpisodeEvaluator(const EpisodeEvaluator&) = delete;

  Result judge(const JudgeRequest& request) {
    judge::EvaluateRequest asked{.more = true};
    asked.question.candidate = write_files(request);
    Result result = evaluator_.judge(request, std::move(asked));
    result.candidate = "candidate.yaml";
    return result;
  }
  Evidence investigate(const JudgeRequest& request, const Result& result) {
    return evaluator_.investigate(request, write_files(request), result);
  }

 private:
  std::string write_files(const JudgeRequest& request) {
    const fs::path place = folder_ / "candidate";
    if (request.hash != hash_) {
      hash_.clear();
      fs::remove_all(place);
      for (const auto& [name, text] : request.files) {
        fs::create_directories((place / name).parent_path());
        replace_file((place / name).string(), text);
      }
      hash_ = request.hash;
    }
    return (place / "candidate.yaml").string();
  }

  generate::DeviceEvaluator evaluator_;
  fs::path folder_;
  std::string hash_;  ///< hash of the candidate in the folder
};

}  // namespace

DeviceJudge device_judge(const Question& how, const JudgeOptions& judge) {
  const auto evaluator = std::make_shared<EpisodeEvaluator>(how, judge);
  return {[evaluator](const JudgeRequest& request) { return evaluator->judge(request); },
          [evaluator](const JudgeRequest& request, const Result& result) {
            return evaluator->investigate(request, result);
          }};
}

}  // namespace kbench
