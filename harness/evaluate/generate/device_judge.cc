#include "kbench/device_judge.h"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "harness/evaluate/generate/device_bench.h"
#include "kbench/error.h"
#include "libkbench/base/files.h"

namespace kbench {
namespace {

namespace fs = std::filesystem;

/// An evaluator with a temporary folder for the candidate that it works on.
class Desk {
 public:
  explicit Desk(const EvaluateOptions& options) : bench_(options, {}, /*evidence=*/true) {
    std::string pattern = (fs::temp_directory_path() / "kbench-episode-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw_io("make the folder", pattern);
    folder_ = pattern;
  }
  ~Desk() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Desk(const Desk&) = delete;

  Result judge(const JudgeRequest& request) {
    Result result = bench_.judge(request, lay_out(request), "");
    result.candidate = "candidate.yaml";
    return result;
  }
  Evidence investigate(const JudgeRequest& request, const Result& result) {
    return bench_.investigate(request, lay_out(request), result);
  }

 private:
  std::string lay_out(const JudgeRequest& request) {
    const fs::path place = folder_ / "candidate";
    if (request.hash != lying_) {
      lying_.clear();
      fs::remove_all(place);
      for (const auto& [name, text] : request.files) {
        fs::create_directories((place / name).parent_path());
        replace_file((place / name).string(), text);
      }
      lying_ = request.hash;
    }
    return (place / "candidate.yaml").string();
  }

  generate::DeviceBench bench_;
  fs::path folder_;
  std::string lying_;  ///< hash of the candidate in the folder
};

}  // namespace

DeviceJudge device_judge(const EvaluateOptions& options) {
  const auto desk = std::make_shared<Desk>(options);
  return {[desk](const JudgeRequest& request) { return desk->judge(request); },
          [desk](const JudgeRequest& request, const Result& result) {
            return desk->investigate(request, result);
          }};
}

}  // namespace kbench
