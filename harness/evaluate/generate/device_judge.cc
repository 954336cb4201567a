#include "kbench/device_judge.h"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "harness/evaluate/generate/device_evaluator.h"
#include "kbench/error.h"
#include "libkbench/base/files.h"

namespace kbench {
namespace {

namespace fs = std::filesystem;

/// An evaluator with a temporary folder for the candidate that it works on.
class EpisodeEvaluator {
 public:
  explicit EpisodeEvaluator(const EvaluateOptions& options)
      : evaluator_(options, {}, /*evidence=*/true) {
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
    Result result =
        evaluator_.judge(request, {write_files(request), {}, /*check_only=*/false, /*more=*/true});
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

DeviceJudge device_judge(const EvaluateOptions& options) {
  const auto evaluator = std::make_shared<EpisodeEvaluator>(options);
  return {[evaluator](const JudgeRequest& request) { return evaluator->judge(request); },
          [evaluator](const JudgeRequest& request, const Result& result) {
            return evaluator->investigate(request, result);
          }};
}

}  // namespace kbench
